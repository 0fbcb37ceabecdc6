---- MODULE Postcondition ----
EXTENDS Naturals, TLC
VARIABLE v
Init == v \in {0, 1} \/ v = 1
Next == v < 4 /\ v' \in {v, v + 1}
Stats == TLCGet("stats")
Post == /\ TLCGet("distinct") = 5
        /\ TLCGet("generated") = 11
        /\ TLCGet("diameter") = 4
        /\ TLCGet("queue") = 0
        /\ Stats.distinct = 5 /\ Stats.generated = 11 /\ Stats.diameter = 4 /\ Stats.queue = 0 /\ Stats.initial = 3
====
