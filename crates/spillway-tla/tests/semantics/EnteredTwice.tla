---- MODULE EnteredTwice ----
\* A LET definition or an argument that is entered while the same is under way.
EXTENDS Naturals
VARIABLES v, w
Init == v = 0 /\ w = 0
Either(P) == P /\ P
Next == \/ v = 0 /\ LET P == \E x \in {1, 2} : (v' = 1 \/ v' = 2) /\ (w' = x \/ w' = 1) IN P /\ P
        \/ v = 1 /\ Either(\E x \in {3, 4} : (v' = 3 \/ v' = 4) /\ (w' = x \/ w' = 3))
        \/ v = 2 /\ LET f == [x \in {1, 2} |-> \E y \in {5, 6} : (v' = 5 \/ v' = 6) /\ (w' = x + y \/ w' = y)] IN f[1] /\ f[2] /\ (f[1] \/ f[2])
====
