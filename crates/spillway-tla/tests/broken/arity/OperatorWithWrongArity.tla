---- MODULE OperatorWithWrongArity ----
EXTENDS Naturals
Apply(F(_, _), a) == F(a, a)
Neg(a) == 0 - a
A == Apply(Neg, 2)
====
