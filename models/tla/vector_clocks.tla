---------------------------- MODULE vector_clocks ----------------------------
\* Processes with vector clocks send messages to each other. Each event is recorded together with the events that it
\* depends on, and clocks must order events as these sets do. A constraint bounds the events.
EXTENDS Naturals, FiniteSets

CONSTANTS Process,
          Events    \* how many events are explored

VARIABLES clock,    \* the vector clock of each process
          causes,   \* the events of each process that its next event depends on: pairs of a process and a number
          network,  \* the messages that were sent and not received: [to, stamp, causes]
          history   \* the events so far: [stamp, causes]

vars == <<clock, causes, network, history>>

Vector == [Process -> Nat]

TypeOK == /\ clock \in [Process -> Vector]
          /\ \A p \in Process : causes[p] \subseteq Process \X (1 .. Events + 1)
          /\ \A m \in network : m.to \in Process /\ m.stamp \in Vector
          /\ \A e \in history : e.stamp \in Vector

Zero == [p \in Process |-> 0]

Max(a, b) == IF a > b THEN a ELSE b

Merge(u, v) == [p \in Process |-> Max(u[p], v[p])]

u \preceq v == \A p \in Process : u[p] <= v[p]
u \prec v == u \preceq v /\ u # v

Init == /\ clock = [p \in Process |-> Zero]
        /\ causes = [p \in Process |-> {}]
        /\ network = {}
        /\ history = {}

\* An event of a process after it has heard of a stamp and its causes.
Event(p, stamp, heard) == LET next == [Merge(clock[p], stamp) EXCEPT ![p] = @ + 1]
                              all == causes[p] \cup heard \cup {<<p, next[p]>>}
                          IN  /\ clock' = [clock EXCEPT ![p] = next]
                              /\ causes' = [causes EXCEPT ![p] = all]
                              /\ history' = history \cup {[stamp |-> next, causes |-> all]}

Local(p) == /\ Event(p, Zero, {})
            /\ UNCHANGED network

\* The event comes first, so its successor values are defined where the message is made.
Send(p, q) == /\ Event(p, Zero, {})
              /\ network' = network \cup {[to |-> q, stamp |-> clock'[p], causes |-> causes'[p]]}

Receive(m) == /\ Event(m.to, m.stamp, m.causes)
              /\ network' = network \ {m}

Next == \/ \E p \in Process : Local(p)
        \/ \E p \in Process : \E q \in Process \ {p} : Send(p, q)
        \/ \E m \in network : Receive(m)

Spec == Init /\ [][Next]_vars

FewEvents == Cardinality(history) <= Events

\* Clocks order events as causes do.
ClocksAreExact == \A d, e \in history : (d.stamp \preceq e.stamp) = (d.causes \subseteq e.causes)

\* Different events have different stamps, and a stamp counts the causes.
StampsCount == \A e \in history : \A p \in Process :
                 e.stamp[p] = Cardinality({c \in e.causes : c[1] = p})

\* An event that precedes a message by its stamp is among the causes of the message.
MessagesAreExact == \A m \in network : ~ \E e \in history : e.stamp \prec m.stamp /\ ~ (e.causes \subseteq m.causes)
==============================================================================
