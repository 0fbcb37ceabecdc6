---- MODULE InitialEntered ----
EXTENDS Naturals
VARIABLES v
Op(f) == f[1]
Init == LET f == [x \in {1, 2} |-> x = 1 \/ x < 3]
            g[x \in 0..2] == IF x = 0 THEN TRUE \/ x < 1 ELSE g[x - 1] \/ x > 2
            h == [x \in Nat |-> x = 1 \/ x < 3]
            P == \E x \in {1, 2} : x < 3
        IN f[1] /\ [x \in {1, 2} |-> x = 1 \/ x < 3][1] /\ g[2] /\ h[1] /\ Op(f) /\ (IF P THEN P ELSE FALSE) /\ v = 0
Next == v < 0 /\ v' = v
====
