---- MODULE LabelWithoutVariable ----
EXTENDS Naturals
All(S) == \A x \in S : positive:: x > 0
====
