---- MODULE ConstraintViolated ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = x + 1 \/ x' = x + 2
Small == x < 4
Seen == x < 5
====
