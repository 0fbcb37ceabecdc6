---- MODULE FalseAssumption ----
EXTENDS Naturals
ASSUME 1 + 1 = 2
ASSUME 1 + 1 = 3
VARIABLE x
Init == x = 0
Next == x' = 1
====
