---- MODULE Constraint ----
EXTENDS Naturals
VARIABLE x
Init == x \in {0, 5}
Next == x' = x + 1 \/ x' = x + 2
Small == x < 4
Seen == x < 6
====
