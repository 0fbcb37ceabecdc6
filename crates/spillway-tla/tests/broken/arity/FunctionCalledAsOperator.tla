---- MODULE FunctionCalledAsOperator ----
EXTENDS Naturals
f[n \in 0..3] == n
A == f(1)
====
