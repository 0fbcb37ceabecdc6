---- MODULE LazyOutsideDomain ----
EXTENDS Naturals
VARIABLE v
Init == v = 0
Next == v = 0 /\ v' = [x \in {0, 1} |-> 12 \div x][2]
====
