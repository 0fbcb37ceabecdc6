---- MODULE Unspecified ----
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x' = 1
====
