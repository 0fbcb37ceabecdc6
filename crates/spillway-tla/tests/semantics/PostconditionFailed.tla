---- MODULE PostconditionFailed ----
EXTENDS Naturals, TLC
VARIABLE v
Init == v = 0
Next == v < 4 /\ v' \in {v, v + 1}
Post == 1 \div 0 = 1
====
