---- MODULE FairnessWithoutAction ----
EXTENDS Naturals
VARIABLE x
F == WF_x /\ x = 0
====
