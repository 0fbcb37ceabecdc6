---- MODULE PostconditionFalse ----
EXTENDS Naturals, TLC
VARIABLE v
Init == v = 0
Next == v < 4 /\ v' \in {v, v + 1}
Post == TLCGet("distinct") = 6
====
