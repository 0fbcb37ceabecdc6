---------------------------- MODULE bounded_queue ----------------------------
\* A queue of bounded size between producers and consumers. A producer that finds it full and a consumer that finds it
\* empty go to sleep; every operation wakes one sleeper of the other kind.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Producer, Consumer,
          Size,     \* the most items in the queue
          Items     \* how many items each producer makes

ASSUME Size > 0 /\ Producer \cap Consumer = {}

VARIABLES queue,    \* the items in the queue, each a pair of its producer and its number
          made,     \* how many items each producer has made
          asleep,   \* the processes that sleep
          last      \* for each consumer and producer, the number of the last item that the consumer got

vars == <<queue, made, asleep, last>>

Item == Producer \X (1 .. Items)

TypeOK == /\ queue \in Seq(Item)
          /\ Len(queue) <= Size
          /\ made \in [Producer -> 0 .. Items]
          /\ asleep \subseteq Producer \cup Consumer
          /\ last \in [Consumer -> [Producer -> 0 .. Items]]

Init == /\ queue = <<>>
        /\ made = [p \in Producer |-> 0]
        /\ asleep = {}
        /\ last = [c \in Consumer |-> [p \in Producer |-> 0]]

\* Wakes one of the sleepers of a kind, if there is one.
WakeOne(kind) == LET sleepers == asleep \cap kind
                 IN  IF sleepers = {}
                     THEN UNCHANGED asleep
                     ELSE \E s \in sleepers : asleep' = asleep \ {s}

Sleep(p) == /\ asleep' = asleep \cup {p}
            /\ UNCHANGED <<queue, made, last>>

Put(p) == /\ p \notin asleep
          /\ made[p] < Items
          /\ IF Len(queue) = Size
             THEN Sleep(p)
             ELSE /\ queue' = Append(queue, <<p, made[p] + 1>>)
                  /\ made' = [made EXCEPT ![p] = @ + 1]
                  /\ WakeOne(Consumer)
                  /\ UNCHANGED last

Get(c) == /\ c \notin asleep
          /\ IF queue = <<>>
             THEN Sleep(c)
             ELSE LET item == Head(queue)
                  IN  /\ queue' = Tail(queue)
                      /\ last' = [last EXCEPT ![c][item[1]] = item[2]]
                      /\ WakeOne(Producer)
                      /\ UNCHANGED made

Next == (\E p \in Producer : Put(p)) \/ (\E c \in Consumer : Get(c))

Spec == Init /\ [][Next]_vars

\* Items of a producer are in the queue in the order of their numbers, behind all that were taken.
InOrder == \A p \in Producer :
             LET own == SelectSeq(queue, LAMBDA item : item[1] = p)
             IN  /\ \A i \in 1 .. Len(own) : own[i][2] = made[p] - Len(own) + i
                 /\ \A c \in Consumer : last[c][p] <= made[p] - Len(own)

\* A full queue does not stay full because all consumers sleep.
SomebodyIsAwake == Len(queue) = Size => \E c \in Consumer : c \notin asleep
==============================================================================
