---- MODULE BoundVariableIsAVariable ----
EXTENDS Naturals
VARIABLE x
All(S) == \A x \in S : x > 0
====
