---- MODULE MissingValue ----
EXTENDS Naturals
CONSTANT N
VARIABLE x
Init == x = N
Next == x' = x + 1
Spec == Init /\ [][Next]_x
Inv == x < N
Live == <>(x > 3)
With(p) == x = p
====
