---- MODULE QuantifierWithoutColon ----
EXTENDS Naturals
All(S) == \A x \in S x > 0
====
