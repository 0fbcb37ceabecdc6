---- MODULE UnknownName ----
EXTENDS Naturals
VARIABLE counter
Init == conter = 0
====
