---- MODULE ExpressionForOperator ----
EXTENDS Naturals
Apply(F(_), a) == F(a)
A == Apply(1, 2)
====
