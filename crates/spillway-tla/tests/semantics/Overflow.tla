---- MODULE Overflow ----
EXTENDS Naturals
VARIABLE x
Init == x = 1
Next == x' = x * 2
====
