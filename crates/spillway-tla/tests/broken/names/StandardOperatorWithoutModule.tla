---- MODULE StandardOperatorWithoutModule ----
EXTENDS Naturals
VARIABLE q
Init == Len(q) = 0
====
