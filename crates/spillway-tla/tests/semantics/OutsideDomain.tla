---- MODULE OutsideDomain ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = [i \in 0..2 |-> i + 1][x]
====
