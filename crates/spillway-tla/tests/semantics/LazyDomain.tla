---- MODULE LazyDomain ----
EXTENDS Naturals
VARIABLE v
Init == v = 0
Next == v = 0 /\ LET f == [x \in {0, 1} |-> 12 \div x] IN f[1] = 12 /\ DOMAIN f = {0, 1} /\ v' = 1
====
