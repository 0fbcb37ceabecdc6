---- MODULE TupleWithoutSet ----
EXTENDS Naturals
All(S) == \A <<x, y>> : x > y
====
