---- MODULE PostconditionSkipped ----
EXTENDS Naturals, TLC
VARIABLE v
Init == v = 0
Next == v < 4 /\ v' \in {v, v + 1}
Inv == v < 2
Post == FALSE
====
