---- MODULE Incomparable ----
VARIABLE x
Init == x = 0
Next == x' = "a" /\ x' = 1
====
