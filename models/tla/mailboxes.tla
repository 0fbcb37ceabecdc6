------------------------------ MODULE mailboxes ------------------------------
\* Peers send each other letters. Each peer has a mailbox in the order of arrival and remembers whom it has read.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Peers,    \* the peers
          Letters,  \* how many letters each peer sends
          Room      \* the most letters in a mailbox

VARIABLES box,      \* the letters in each mailbox: [from, number]
          sent,     \* how many letters each peer has sent
          read      \* the letters that each peer has read

vars == <<box, sent, read>>

Letter == [from : Peers, number : 1 .. Letters]

TypeOK == /\ box \in [Peers -> Seq(Letter)]
          /\ sent \in [Peers -> 0 .. Letters]
          /\ read \in [Peers -> SUBSET Letter]

Init == /\ box = [p \in Peers |-> <<>>]
        /\ sent = [p \in Peers |-> 0]
        /\ read = [p \in Peers |-> {}]

Send(p, q) == /\ p # q
              /\ sent[p] < Letters
              /\ Len(box[q]) < Room
              /\ sent' = [sent EXCEPT ![p] = @ + 1]
              /\ box' = [box EXCEPT ![q] = Append(@, [from |-> p, number |-> sent[p] + 1])]
              /\ UNCHANGED read

Read(p) == /\ box[p] # <<>>
           /\ read' = [read EXCEPT ![p] = @ \cup {Head(box[p])}]
           /\ box' = [box EXCEPT ![p] = Tail(@)]
           /\ UNCHANGED sent

Next == \/ \E p, q \in Peers : Send(p, q)
        \/ \E p \in Peers : Read(p)

Spec == Init /\ [][Next]_vars

\* A letter is in one place at most.
Once == \A p, q \in Peers : p # q => read[p] \cap read[q] = {}

\* Letters of one sender in one mailbox arrive in the order of their numbers.
InOrder == \A p \in Peers : \A i, j \in 1 .. Len(box[p]) :
             i < j /\ box[p][i].from = box[p][j].from => box[p][i].number < box[p][j].number

\* Not an invariant: all letters can be read by one peer.
NeverAll == \A p \in Peers : Cardinality(read[p]) < Letters * (Cardinality(Peers) - 1)
==============================================================================
