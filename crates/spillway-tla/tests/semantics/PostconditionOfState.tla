---- MODULE PostconditionOfState ----
EXTENDS Naturals, TLC
VARIABLE v
Init == v = 0
Next == v < 4 /\ v' \in {v, v + 1}
Post == v = 6
====
