---- MODULE Predicates ----
EXTENDS Naturals
VARIABLE x
Init == x \in {0, 0} /\ (TRUE \/ TRUE)
Next == \/ x' = 1 /\ (TRUE \/ TRUE)
        \/ (TRUE \/ TRUE) /\ x' = 2
        \/ \E i \in {1, 2} : x' = 3
        \/ x' = 4 /\ \E i \in {1, 2} : i > 0
        \/ TRUE => x' = 5
====
