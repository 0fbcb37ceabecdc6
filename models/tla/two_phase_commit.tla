--------------------------- MODULE two_phase_commit --------------------------
\* Two-phase commit over a network that keeps, delays and reorders messages but loses none. The coordinator may give up
\* waiting for votes, and a participant may vote no. The protocol implements atomic_commit.
EXTENDS Naturals, FiniteSets

CONSTANT Participant

VARIABLES vote,         \* what each participant has voted
          outcome,      \* what each participant does in the end
          coordinator,  \* [phase, votes]: what the coordinator does, and the participants from which it has a yes
          network       \* the messages that were sent

vars == <<vote, outcome, coordinator, network>>

Votes == {"none", "yes", "no"}
Outcomes == {"none", "commit", "abort"}

Message == [type : {"prepare", "commit", "abort"}] \cup [type : {"yes", "no"}, from : Participant]

TypeOK == /\ vote \in [Participant -> Votes]
          /\ outcome \in [Participant -> Outcomes]
          /\ coordinator \in [phase : {"start", "voting", "commit", "abort"}, votes : SUBSET Participant]
          /\ network \subseteq Message

Init == /\ vote = [p \in Participant |-> "none"]
        /\ outcome = [p \in Participant |-> "none"]
        /\ coordinator = [phase |-> "start", votes |-> {}]
        /\ network = {}

Send(message) == network' = network \cup {message}

Prepare == /\ coordinator.phase = "start"
           /\ coordinator' = [coordinator EXCEPT !.phase = "voting"]
           /\ Send([type |-> "prepare"])
           /\ UNCHANGED <<vote, outcome>>

\* A participant answers the request. One that votes no aborts at once.
Vote(p, answer) == /\ [type |-> "prepare"] \in network
                   /\ vote[p] = "none"
                   /\ vote' = [vote EXCEPT ![p] = answer]
                   /\ outcome' = [outcome EXCEPT ![p] = IF answer = "no" THEN "abort" ELSE @]
                   /\ Send([type |-> answer, from |-> p])
                   /\ UNCHANGED coordinator

CountVote(p) == /\ coordinator.phase = "voting"
                /\ [type |-> "yes", from |-> p] \in network
                /\ p \notin coordinator.votes
                /\ coordinator' = [coordinator EXCEPT !.votes = @ \cup {p}]
                /\ UNCHANGED <<vote, outcome, network>>

Decide(decision) == /\ coordinator.phase = "voting"
                    /\ coordinator' = [coordinator EXCEPT !.phase = decision]
                    /\ Send([type |-> decision])
                    /\ UNCHANGED <<vote, outcome>>

Commit == coordinator.votes = Participant /\ Decide("commit")

\* The coordinator has a no, or it does not want to wait for the other votes.
Abort == coordinator.votes # Participant /\ Decide("abort")

Learn(p, decision) == /\ [type |-> decision] \in network
                      /\ outcome[p] = "none"
                      /\ outcome' = [outcome EXCEPT ![p] = decision]
                      /\ UNCHANGED <<vote, coordinator, network>>

Next == \/ Prepare
        \/ Commit
        \/ Abort
        \/ \E p \in Participant :
             \/ \E answer \in {"yes", "no"} : Vote(p, answer)
             \/ CountVote(p)
             \/ \E decision \in {"commit", "abort"} : Learn(p, decision)

Spec == Init /\ [][Next]_vars

\* In the abstract protocol a participant is prepared or not, and then commits or aborts.
Abstract == INSTANCE atomic_commit WITH
              status <- [p \in Participant |->
                           CASE outcome[p] # "none" -> outcome[p]
                             [] vote[p] = "yes" -> "prepared"
                             [] OTHER -> "working"]

Implements == Abstract!Spec
==============================================================================
