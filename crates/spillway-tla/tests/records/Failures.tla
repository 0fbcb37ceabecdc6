------------------------------ MODULE Failures ------------------------------
(* Evaluations that fail in some states only, and sets of values that cannot be compared. *)
EXTENDS Naturals

VARIABLES mixed, number, limit

Init == mixed = {} /\ number = 0 /\ limit \in 0..2

(* A union with a string fails if the set has a number. *)
AddNumber == number < 3 /\ mixed' = mixed \cup {number} /\ number' = number + 1 /\ UNCHANGED limit

AddName == number > 1 /\ mixed' = mixed \cup {"name"} /\ UNCHANGED <<number, limit>>

(* A membership test fails if the set has a string. *)
Test == limit = 1 /\ 1 \in mixed /\ mixed' = mixed \ {1} /\ UNCHANGED <<number, limit>>

Clear == mixed' = {} /\ UNCHANGED <<number, limit>>

(* Outside the domain for the greatest number. *)
Outside == limit = 2 /\ [n \in 0..2 |-> n][number] = 2 /\ limit' = 0 /\ UNCHANGED <<mixed, number>>

Next == AddNumber \/ AddName \/ Test \/ Clear \/ Outside

Spec == Init /\ [][Next]_<<mixed, number, limit>>

(* Its evaluation fails if the set has a string. *)
NoThree == 3 \notin mixed
=============================================================================
