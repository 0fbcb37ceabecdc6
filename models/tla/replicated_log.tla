---------------------------- MODULE replicated_log ---------------------------
\* A log that servers replicate under leaders with increasing terms. A majority elects a leader whose log is at least as
\* good as each of theirs. The leader appends values; a follower copies the leader's log from the first entry that
\* differs, entry by entry; the leader commits what a majority has.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Server, Value,
          Terms,    \* the last term
          Length    \* the most entries in a log

VARIABLES term,     \* the highest term that each server knows
          leader,   \* for each term, the set of its leader, empty if there is none yet
          log,      \* the log of each server: a sequence of [term, value]
          commit    \* how many entries each server knows to be committed

vars == <<term, leader, log, commit>>

Entry == [term : 1 .. Terms, value : Value]

TypeOK == /\ term \in [Server -> 0 .. Terms]
          /\ leader \in [1 .. Terms -> SUBSET Server]
          /\ log \in [Server -> Seq(Entry)]
          /\ commit \in [Server -> 0 .. Length]

Majority == {set \in SUBSET Server : 2 * Cardinality(set) > Cardinality(Server)}

Max(set) == CHOOSE x \in set : \A y \in set : y <= x

LastTerm(entries) == IF entries = <<>> THEN 0 ELSE entries[Len(entries)].term

\* Whether a log is at least as good as another.
Covers(one, other) == \/ LastTerm(one) > LastTerm(other)
                      \/ LastTerm(one) = LastTerm(other) /\ Len(one) >= Len(other)

\* The length of the longest common prefix.
RECURSIVE Common(_, _)
Common(one, other) == IF one = <<>> \/ other = <<>> \/ one[1] # other[1]
                      THEN 0
                      ELSE 1 + Common(Tail(one), Tail(other))

Init == /\ term = [s \in Server |-> 0]
        /\ leader = [t \in 1 .. Terms |-> {}]
        /\ log = [s \in Server |-> <<>>]
        /\ commit = [s \in Server |-> 0]

IsLeader(s) == term[s] > 0 /\ leader[term[s]] = {s}

\* A majority moves to the next term of the new leader.
Elect(s, voters) == LET next == term[s] + 1
                    IN  /\ next <= Terms
                        /\ leader[next] = {}
                        /\ s \in voters
                        /\ \A v \in voters : term[v] < next /\ Covers(log[s], log[v])
                        /\ term' = [v \in Server |-> IF v \in voters THEN next ELSE term[v]]
                        /\ leader' = [leader EXCEPT ![next] = {s}]
                        /\ UNCHANGED <<log, commit>>

Propose(s, value) == /\ IsLeader(s)
                     /\ Len(log[s]) < Length
                     /\ log' = [log EXCEPT ![s] = Append(@, [term |-> term[s], value |-> value])]
                     /\ UNCHANGED <<term, leader, commit>>

\* A follower drops what differs and takes the next entry.
Replicate(s, f) == /\ IsLeader(s)
                   /\ f # s
                   /\ term[f] <= term[s]
                   /\ log[f] # log[s]
                   /\ LET same == Common(log[s], log[f])
                      IN  /\ same < Len(log[s])
                          /\ log' = [log EXCEPT ![f] = SubSeq(log[s], 1, same + 1)]
                   /\ term' = [term EXCEPT ![f] = term[s]]
                   /\ UNCHANGED <<leader, commit>>

\* The greatest number of entries that a majority has, if the last of them is of the leader's term.
Commit(s) == LET stored(n) == {f \in Server : Common(log[s], log[f]) >= n /\ term[f] = term[s]}
                 numbers == {n \in commit[s] + 1 .. Len(log[s]) :
                               stored(n) \in Majority /\ log[s][n].term = term[s]}
             IN  /\ IsLeader(s)
                 /\ numbers # {}
                 /\ commit' = [commit EXCEPT ![s] = Max(numbers)]
                 /\ UNCHANGED <<term, leader, log>>

\* A follower hears of commits for the entries that it has from the leader.
Hear(s, f) == /\ IsLeader(s)
              /\ f # s
              /\ term[f] = term[s]
              /\ LET known == Max({0} \cup {n \in 1 .. commit[s] : n <= Common(log[s], log[f])})
                 IN  /\ known > commit[f]
                     /\ commit' = [commit EXCEPT ![f] = known]
              /\ UNCHANGED <<term, leader, log>>

Next == \E s \in Server :
          \/ \E voters \in Majority : Elect(s, voters)
          \/ \E value \in Value : Propose(s, value)
          \/ Commit(s)
          \/ \E f \in Server : Replicate(s, f) \/ Hear(s, f)

Spec == Init /\ [][Next]_vars

Committed(s) == SubSeq(log[s], 1, commit[s])

\* Servers agree on committed entries.
Agreement == \A s, f \in Server :
               Common(Committed(s), Committed(f)) = (IF commit[s] < commit[f] THEN commit[s] ELSE commit[f])

OneLeader == \A t \in 1 .. Terms : Cardinality(leader[t]) <= 1

\* An entry determines the entries before it, apart from those that a leader could not commit.
SameTermSameValue == \A s, f \in Server : \A n \in 1 .. Length :
                       /\ n <= Len(log[s])
                       /\ n <= Len(log[f])
                       /\ log[s][n].term = log[f][n].term
                       => log[s][n] = log[f][n]

\* What is committed stays.
Durable == [][\A s \in Server : Committed(s) = SubSeq(log'[s], 1, commit[s]) /\ commit'[s] >= commit[s]]_vars
==============================================================================
