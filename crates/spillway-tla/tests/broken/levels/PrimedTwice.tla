---- MODULE PrimedTwice ----
EXTENDS Naturals
VARIABLE x
A == x' = 1
B == A'
====
