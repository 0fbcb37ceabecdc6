---------------------------- MODULE ring_election ----------------------------
\* Election in a ring whose messages travel in one direction. A node in the race sends its value, learns the values of
\* its two predecessors in the race, and stays in it with the nearer value if that is the greatest of the three. A value
\* that returns to its holder has won. All orders of the values are explored.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANT N          \* the number of nodes

VARIABLES value,    \* the value that each node holds
          phase,    \* "first" or "second": the message that a node in the race waits for; "relay"; "elected"
          nearer,   \* the value of the predecessor, 0 if not known
          link      \* the messages on the way to each node

vars == <<value, phase, nearer, link>>

Node == 0 .. N - 1
Value == 1 .. N
Successor(n) == (n + 1) % N

Permutation == {f \in [Node -> Value] : \A m, n \in Node : m # n => f[m] # f[n]}

TypeOK == /\ value \in [Node -> Value]
          /\ phase \in [Node -> {"first", "second", "relay", "elected"}]
          /\ nearer \in [Node -> 0 .. N]
          /\ link \in [Node -> Seq([kind : {"one", "two"}, value : Value])]

Message(kind, v) == [kind |-> kind, value |-> v]

Init == /\ value \in Permutation
        /\ phase = [n \in Node |-> "first"]
        /\ nearer = [n \in Node |-> 0]
        /\ link = [n \in Node |-> <<Message("one", value[IF n = 0 THEN N - 1 ELSE n - 1])>>]

\* Node n takes a message, and sends messages to its successor.
TakeAndSend(n, messages) == LET taken == [link EXCEPT ![n] = Tail(@)]
                            IN  link' = [taken EXCEPT ![Successor(n)] = @ \o messages]

First(n) == LET v == Head(link[n]).value
            IN  /\ phase[n] = "first"
                /\ Head(link[n]).kind = "one"
                /\ IF v = value[n]
                   THEN /\ phase' = [phase EXCEPT ![n] = "elected"]
                        /\ TakeAndSend(n, <<>>)
                        /\ UNCHANGED nearer
                   ELSE /\ phase' = [phase EXCEPT ![n] = "second"]
                        /\ nearer' = [nearer EXCEPT ![n] = v]
                        /\ TakeAndSend(n, <<Message("two", v)>>)
                /\ UNCHANGED value

Second(n) == LET v == Head(link[n]).value
                 stays == nearer[n] > v /\ nearer[n] > value[n]
             IN  /\ phase[n] = "second"
                 /\ Head(link[n]).kind = "two"
                 /\ phase' = [phase EXCEPT ![n] = IF stays THEN "first" ELSE "relay"]
                 /\ value' = [value EXCEPT ![n] = IF stays THEN nearer[n] ELSE @]
                 /\ nearer' = [nearer EXCEPT ![n] = 0]
                 /\ TakeAndSend(n, IF stays THEN <<Message("one", nearer[n])>> ELSE <<>>)

Relay(n) == /\ phase[n] = "relay"
            /\ TakeAndSend(n, <<Head(link[n])>>)
            /\ UNCHANGED <<value, phase, nearer>>

Step(n) == link[n] # <<>> /\ (First(n) \/ Second(n) \/ Relay(n))

Done == /\ \E n \in Node : phase[n] = "elected"
        /\ UNCHANGED vars

Next == (\E n \in Node : Step(n)) \/ Done

Spec == Init /\ [][Next]_vars

Elected == {n \in Node : phase[n] = "elected"}

OneIsElected == Cardinality(Elected) <= 1

GreatestWins == \A n \in Elected : value[n] = N

\* The greatest value is never lost: a node in the race has it, or it is on the way to one.
GreatestSurvives == \/ \E n \in Node : phase[n] # "relay" /\ N \in {value[n], nearer[n]}
                    \/ \E n \in Node : \E i \in DOMAIN link[n] : link[n][i].value = N
==============================================================================
