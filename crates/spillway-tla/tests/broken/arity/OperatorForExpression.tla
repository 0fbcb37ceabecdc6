---- MODULE OperatorForExpression ----
EXTENDS Naturals
Twice(a) == a + a
A == Twice( + )
====
