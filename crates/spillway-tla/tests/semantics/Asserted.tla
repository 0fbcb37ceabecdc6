---- MODULE Asserted ----
EXTENDS TLC, Naturals
VARIABLE x
Init == x = 0
Next == x' = x + 1 /\ Assert(x < 2, "x is too large")
====
