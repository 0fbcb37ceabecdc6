---- MODULE RecursiveArity ----
EXTENDS Naturals
RECURSIVE Sum(_)
Sum(a, b) == a + b
====
