---- MODULE RecursiveWithoutDefinition ----
EXTENDS Naturals
RECURSIVE Sum(_)
A == 1
====
