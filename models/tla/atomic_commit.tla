---------------------------- MODULE atomic_commit ----------------------------
\* What a commit protocol guarantees: all participants that finish do the same, and they commit only if all were
\* prepared.
CONSTANT Participant

VARIABLE status     \* "working", "prepared", "commit" or "abort" for each participant

TypeOK == status \in [Participant -> {"working", "prepared", "commit", "abort"}]

Init == status = [p \in Participant |-> "working"]

MayCommit == \A p \in Participant : status[p] \in {"prepared", "commit"}
MayAbort == \A p \in Participant : status[p] # "commit"

Move(p, from, to) == /\ status[p] \in from
                     /\ status' = [status EXCEPT ![p] = to]

Next == \E p \in Participant :
          \/ Move(p, {"working"}, "prepared")
          \/ MayCommit /\ Move(p, {"prepared"}, "commit")
          \/ MayAbort /\ Move(p, {"working", "prepared"}, "abort")

Spec == Init /\ [][Next]_status

Consistent == ~ \E p, q \in Participant : status[p] = "commit" /\ status[q] = "abort"
==============================================================================
