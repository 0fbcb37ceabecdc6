---- MODULE EqualsForDefinition ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Step = x' = x + 1
====
