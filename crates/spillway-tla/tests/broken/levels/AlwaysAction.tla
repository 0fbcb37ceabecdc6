---- MODULE AlwaysAction ----
EXTENDS Naturals
VARIABLE x
Next == x' = x + 1
Spec == x = 0 /\ []Next
====
