---- MODULE Symmetric ----
EXTENDS TLC, FiniteSets
CONSTANT P
VARIABLES held, last
Perms == Permutations(P)
Init == held = {} /\ last = [p \in P |-> FALSE]
Next == \E p \in P \ held : held' = held \cup {p} /\ last' = [last EXCEPT ![p] = held = {}]
====
