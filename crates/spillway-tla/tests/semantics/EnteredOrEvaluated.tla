---- MODULE EnteredOrEvaluated ----
\* What an action evaluates before it enters the same.
EXTENDS Naturals
VARIABLES v, w
\* A definition of a LET is entered wherever it occurs.
Defined == LET P == \E x \in {1, 2} : v < x + 4
               Q == \E x \in {1, 2} : 0 < x
           IN (IF P THEN TRUE ELSE FALSE) /\ P /\ (Q = TRUE) /\ Q
\* An argument is entered if it was not evaluated.
Tested(P) == (P = TRUE) /\ P
Twice(P) == P /\ (P = TRUE) /\ P
Applied(f) == (f[1] = TRUE) /\ f[1]
Compared(f) == (f = f) /\ f[1]
Next == \/ v < 2 /\ Defined /\ v' = v + 1 /\ w' = w
        \/ v = 2 /\ Tested(\E x \in {1, 2} : 0 < x) /\ Tested(\E x \in {1, 2} : v < x + 4) /\ v' = v + 1 /\ w' = w
        \/ v = 3 /\ Twice(\E x \in {1, 2} : 0 < x) /\ Twice(\E x \in {1, 2} : v < x + 4) /\ v' = v + 1 /\ w' = w
        \/ v = 4 /\ Applied([x \in {1, 2} |-> v < 9 \/ x < 3]) /\ Applied([x \in {1, 2} |-> 0 < 9 \/ x < 3]) /\ v' = v + 1 /\ w' = w
        \/ v = 5 /\ Compared([x \in {1, 2} |-> v < 9 \/ x < 3]) /\ Compared([x \in {1, 2} |-> 0 < 9 \/ x < 3]) /\ v' = v + 1 /\ w' = w
        \/ v < 4 /\ w < 2 /\ Tested(\E x \in {1, 2} : 0 < x) /\ Tested(\E x \in {1, 2} : v < x + 4) /\ v' = v /\ w' = w + 1
        \/ v = 4 /\ w < 2 /\ Applied([x \in {1, 2} |-> v < 9 \/ x < 3]) /\ Applied([x \in {1, 2} |-> 0 < 9 \/ x < 3]) /\ v' = v /\ w' = w + 1
Init == v = 0 /\ w = 0
====
