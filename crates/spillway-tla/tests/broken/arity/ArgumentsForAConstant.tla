---- MODULE ArgumentsForAConstant ----
EXTENDS Naturals
CONSTANT N
A == N(1)
====
