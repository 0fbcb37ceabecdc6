---- MODULE InitialFunction ----
EXTENDS Naturals
VARIABLE v
Init == LET f == [x \in {1, 2} |-> v = 0 \/ v = x] IN f[1]
Next == v < 0 /\ v' = v
====
