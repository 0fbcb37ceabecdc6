--------------------------------- MODULE NAME ---------------------------------
\* Two processes that share something, and never use it at the same time (Peterson 1981).
\*
\*     spillway check NAME.tla
\*
\* visits every reachable state and says whether an invariant is violated or no step is possible. Remove the conjunct
\* `turn' = Other(p)` (and write UNCHANGED turn) to see a counterexample. The file with the extension `.cfg` says what
\* is checked.
EXTENDS Naturals

CONSTANT Processes  \* {0, 1}

VARIABLES wants,  \* which processes want to enter
          turn,   \* which process goes first if both want to
          at      \* where each process is

vars == <<wants, turn, at>>

Other(p) == 1 - p

TypeOK == /\ wants \in [Processes -> BOOLEAN]
          /\ turn \in Processes
          /\ at \in [Processes -> {"idle", "waiting", "critical"}]

Exclusion == \A p \in Processes : at[p] = "critical" => at[Other(p)] # "critical"

Init == /\ wants = [p \in Processes |-> FALSE]
        /\ turn = 0
        /\ at = [p \in Processes |-> "idle"]

Request(p) == /\ at[p] = "idle"
              /\ wants' = [wants EXCEPT ![p] = TRUE]
              /\ turn' = Other(p)
              /\ at' = [at EXCEPT ![p] = "waiting"]

Enter(p) == /\ at[p] = "waiting"
            /\ ~wants[Other(p)] \/ turn = p
            /\ at' = [at EXCEPT ![p] = "critical"]
            /\ UNCHANGED <<wants, turn>>

Leave(p) == /\ at[p] = "critical"
            /\ wants' = [wants EXCEPT ![p] = FALSE]
            /\ at' = [at EXCEPT ![p] = "idle"]
            /\ UNCHANGED turn

Next == \E p \in Processes : Request(p) \/ Enter(p) \/ Leave(p)

Spec == Init /\ [][Next]_vars
================================================================================
