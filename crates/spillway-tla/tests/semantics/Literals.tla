---- MODULE Literals ----
EXTENDS Naturals, Sequences
CONSTANT m
VARIABLES tuples, records, mixed
Init == /\ tuples = {<<1, 2>>, <<1, 3>>, <<2, 1>>, <<7>>, <<>>}
        /\ records = {[a |-> 1, b |-> 2], [a |-> 2, b |-> 1], [b |-> 1, c |-> 1], [c |-> 5]}
        /\ mixed = {m, <<1, 2>>, [i \in {2, 3} |-> i]}
Member(i, j) == <<i, j>> \in tuples
Next == \/ \E i, j \in 1..3 : /\ ~Member(i, j) /\ i < j
                              /\ tuples' = tuples \cup {<<i, j>>}
                              /\ UNCHANGED <<records, mixed>>
        \/ /\ [b |-> 1, c |-> 1] \in records
           /\ [c |-> 4] \notin records
           /\ [b |-> 1, a |-> 2] \in records
           /\ [a |-> 1] \notin records
           /\ records' = records \ {[c |-> 1, b |-> 1]}
           /\ [b |-> 1, c |-> 1] \notin records'
           /\ UNCHANGED <<tuples, mixed>>
        \/ /\ <<1, 2>> \in mixed /\ <<2, 3>> \notin mixed /\ <<>> \in tuples
           /\ <<Len(<<>>) + 7>> \in tuples
           /\ <<m, 1>> \notin tuples
           /\ mixed' = mixed \cup {<<2, 3>>}
           /\ UNCHANGED <<tuples, records>>
        \/ /\ [c |-> 4] \notin records /\ records # {} /\ Member(2, 3) /\ mixed # {m}
           /\ [b |-> 1, c |-> 1] \notin records
           /\ <<"a", 1>> \in tuples
           /\ UNCHANGED <<tuples, records, mixed>>
====
