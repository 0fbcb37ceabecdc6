---- MODULE ActionJoinedWithTemporal ----
EXTENDS Naturals
VARIABLE x
Spec == x = 0 /\ x' = 1 /\ [](x > 0)
====
