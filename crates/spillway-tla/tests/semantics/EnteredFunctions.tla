---- MODULE EnteredFunctions ----
\* Functions that an action or an initial predicate applies: constructors are entered, but not those of initial predicates.
EXTENDS Naturals
VARIABLE v
Constant == [x \in {1, 2} |-> x = 1 \/ x < 3]
State == [x \in {1, 2} |-> v = 1 \/ v < 3 \/ x = 1]
Recursive[x \in 0..2] == IF x = 0 THEN TRUE \/ x < 3 ELSE Recursive[x - 1]
Init == LET f == [x \in {1, 2} |-> x = 1 \/ x < 3]
            g[x \in 0..2] == IF x = 0 THEN TRUE \/ x < 1 ELSE g[x - 1] \/ x > 2
        IN f[1] /\ g[2] /\ [x \in Nat |-> x = 1 \/ x < 3][1] /\ v = 0
Next == \/ v = 0 /\ Constant[1] /\ v' = 1
        \/ v = 1 /\ State[1] /\ State[1] /\ v' = 2
        \/ v = 2 /\ Recursive[2] /\ v' = 3
        \/ v = 3 /\ (LET f == [x \in {1, 2} |-> x = 1 \/ x < 3] IN f = f /\ f[1] /\ v' = 4)
        \/ v = 4 /\ (LET f == [x \in {1, 2} |-> x = 1 \/ x < 3] IN (IF f[1] THEN TRUE ELSE FALSE) /\ f[1] /\ v' = 5)
        \/ v = 5 /\ LET f[x \in 0..2] == IF x = 0 THEN TRUE \/ x < 3 ELSE f[x-1] \/ f[x-1] IN f[2] /\ v' = 6
        \/ v = 6 /\ [x \in {1, 2} |-> x = 1 \/ x < 3][1] /\ v' = 7
        \/ v = 7 /\ (IF v = 7 THEN Constant ELSE State)[1] /\ v' = 8
        \/ v = 8 /\ (IF v = 7 THEN Constant ELSE State)[1] /\ v' = 9
        \/ v = 9 /\ (LET k == 2 IN [x \in {1, 2} |-> x = 1 \/ x < k])[1] /\ v' = 10
        \/ v = 10 /\ [x \in {1, 2} |-> [y \in {1, 2} |-> x = 1 \/ y < 3]][1][2] /\ v' = 11
====
