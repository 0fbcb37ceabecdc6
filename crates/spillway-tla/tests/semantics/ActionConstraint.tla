---- MODULE ActionConstraint ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x < 9 /\ (x' = x + 1 \/ x' = x + 2)
Even == x' % 2 = 0
====
