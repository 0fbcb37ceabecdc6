---- MODULE UsedBeforeDefinition ----
EXTENDS Naturals
A == B + 1
B == 2
====
