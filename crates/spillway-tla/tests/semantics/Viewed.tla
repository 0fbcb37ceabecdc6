---- MODULE Viewed ----
EXTENDS Naturals
VARIABLES x, count
Init == x = 0 /\ count = 0
Next == x' = (x + 1) % 3 /\ count' = count + 1
View == x
====
