--------------------------- MODULE readers_writers ---------------------------
\* A lock for readers and writers with a queue. Requests wait in the order of their arrival. Readers at the front of the
\* queue enter together; a writer enters alone. A reader that has the lock may ask to become a writer, and waits at the
\* front, if no other reader does so already.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Process,
          Write     \* the processes that may write

ASSUME Write \subseteq Process

VARIABLES queue,    \* the requests: a sequence of [who, kind]
          reading,  \* the processes that read
          writing   \* the processes that write

vars == <<queue, reading, writing>>

Kind == {"read", "write", "upgrade"}
Request == [who : Process, kind : Kind]

TypeOK == /\ queue \in Seq(Request)
          /\ reading \subseteq Process
          /\ writing \in SUBSET Write

Init == queue = <<>> /\ reading = {} /\ writing = {}

Waiting == {queue[i].who : i \in DOMAIN queue}

Upgrading == {queue[i].who : i \in {j \in DOMAIN queue : queue[j].kind = "upgrade"}}

KindsOf(p) == {"read"} \cup (IF p \in Write THEN {"write"} ELSE {})

Ask(p, kind) == /\ p \notin Waiting \cup reading \cup writing
                /\ kind \in KindsOf(p)
                /\ queue' = Append(queue, [who |-> p, kind |-> kind])
                /\ UNCHANGED <<reading, writing>>

Upgrade(p) == /\ p \in (reading \cap Write) \ Waiting
              /\ Upgrading = {}
              /\ queue' = <<[who |-> p, kind |-> "upgrade"]>> \o queue
              /\ UNCHANGED <<reading, writing>>

\* Whether the lock can be given to the first request.
MayEnter(request) == /\ writing = {}
                     /\ CASE request.kind = "read" -> TRUE
                          [] request.kind = "write" -> reading = {}
                          [] request.kind = "upgrade" -> reading = {request.who}

Enter == /\ queue # <<>>
         /\ LET request == Head(queue)
            IN  /\ MayEnter(request)
                /\ IF request.kind = "read"
                   THEN /\ reading' = reading \cup {request.who}
                        /\ UNCHANGED writing
                   ELSE /\ reading' = reading \ {request.who}
                        /\ writing' = {request.who}
         /\ queue' = Tail(queue)

Leave(p) == \/ /\ p \in reading \ Waiting
               /\ reading' = reading \ {p}
               /\ UNCHANGED <<queue, writing>>
            \/ /\ p \in writing
               /\ writing' = {}
               /\ UNCHANGED <<queue, reading>>

\* A process that waits may lose patience, unless it holds the lock.
GiveUp(p) == /\ p \in Waiting \ reading
             /\ queue' = SelectSeq(queue, LAMBDA request : request.who # p)
             /\ UNCHANGED <<reading, writing>>

Next == \/ Enter
        \/ \E p \in Process :
             \/ \E kind \in Kind : Ask(p, kind)
             \/ Upgrade(p)
             \/ Leave(p)
             \/ GiveUp(p)

Spec == Init /\ [][Next]_vars

Exclusive == Cardinality(writing) <= 1 /\ (writing # {} => reading = {})

OneRequestEach == \A i, j \in DOMAIN queue : queue[i].who = queue[j].who => i = j

UpgradeIsFirst == \A i \in DOMAIN queue : queue[i].kind = "upgrade" => i = 1 /\ queue[i].who \in reading

\* A process is served before all that asked after it.
NobodyOvertakes == [][ \A i, j \in DOMAIN queue :
                         i < j /\ queue[j].who \in reading' \cup writing'
                         => queue[i].who \notin {queue'[k].who : k \in DOMAIN queue'} ]_vars
==============================================================================
