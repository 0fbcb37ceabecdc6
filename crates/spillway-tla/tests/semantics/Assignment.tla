---- MODULE Assignment ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y \in {0, 1}
Next == \/ x' = 1 /\ x' \in {1, 2} /\ y' = x'
        \/ x' \in {2, 3} /\ x' = 3 /\ y' \in {x', 4}
        \/ UNCHANGED <<x, y>> /\ x' = x
        \/ x' = 1 /\ x' = 2 /\ y' = 0
====
