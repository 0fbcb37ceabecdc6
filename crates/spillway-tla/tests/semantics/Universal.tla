---- MODULE Universal ----
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == \/ \A i \in {1, 2} : \/ i = 1 /\ x' \in {0, 1}
                             \/ i = 2 /\ y' \in {0, 2}
        \/ /\ \A i \in {1, 2}, j \in {1} : \/ TRUE
                                            \/ TRUE
           /\ x' = 3
           /\ y' = 3
        \/ /\ \A i \in {} : FALSE
           /\ x' = 4
           /\ y' = 4
        \/ \A i \in {1, 2} :
             LET k == i IN IF k = 1 THEN x' \in {5, 6} ELSE y' = k
====
