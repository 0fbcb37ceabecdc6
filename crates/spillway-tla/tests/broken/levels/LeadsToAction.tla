---- MODULE LeadsToAction ----
EXTENDS Naturals
VARIABLE x
Live == (x' > x) ~> (x = 0)
====
