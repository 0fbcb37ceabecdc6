------------------------------- MODULE mesi_bus ------------------------------
\* Caches with the states modified, exclusive, shared and invalid on one bus. A request waits in the cache until the bus
\* serves it, and another request may change the cache before that. A ghost variable holds the last value written.
EXTENDS Naturals, FiniteSets

CONSTANTS Cache, Data,
          NoData    \* what an invalid line holds

VARIABLES line,     \* the line of each cache: [state, data]
          request,  \* what each cache waits for
          memory,   \* the value in memory
          newest    \* the value that was written last

vars == <<line, request, memory, newest>>

State == {"M", "E", "S", "I"}
Invalid == [state |-> "I", data |-> NoData]

TypeOK == /\ line \in [Cache -> [state : State, data : Data \cup {NoData}]]
          /\ request \in [Cache -> {"none", "read", "write"}]
          /\ memory \in Data
          /\ newest \in Data

Init == /\ line = [c \in Cache |-> Invalid]
        /\ request = [c \in Cache |-> "none"]
        /\ memory \in Data
        /\ newest = memory

Holders == {c \in Cache : line[c].state # "I"}

\* The cache whose data is newer than memory, as a set.
Owners == {c \in Cache : line[c].state = "M"}

Ask(c, kind) == /\ request[c] = "none"
                /\ line[c].state \in (IF kind = "read" THEN {"I"} ELSE {"I", "S"})
                /\ request' = [request EXCEPT ![c] = kind]
                /\ UNCHANGED <<line, memory, newest>>

\* The value that the bus delivers.
Delivered == IF Owners = {} THEN memory ELSE line[CHOOSE c \in Cache : c \in Owners].data

ServeRead(c) == /\ request[c] = "read"
                /\ request' = [request EXCEPT ![c] = "none"]
                /\ memory' = Delivered
                /\ line' = [d \in Cache |->
                              CASE d = c -> [state |-> IF Holders = {} THEN "E" ELSE "S", data |-> Delivered]
                                [] d # c /\ d \in Holders -> [line[d] EXCEPT !.state = "S"]
                                [] OTHER -> line[d]]
                /\ UNCHANGED newest

ServeWrite(c, value) == /\ request[c] = "write"
                        /\ request' = [request EXCEPT ![c] = "none"]
                        /\ memory' = Delivered
                        /\ line' = [d \in Cache |->
                                      IF d = c THEN [state |-> "M", data |-> value] ELSE Invalid]
                        /\ newest' = value

\* A cache that owns its line alone writes without the bus.
WriteHit(c, value) == /\ line[c].state \in {"M", "E"}
                      /\ line' = [line EXCEPT ![c].state = "M", ![c].data = value]
                      /\ newest' = value
                      /\ UNCHANGED <<request, memory>>

Evict(c) == /\ c \in Holders
            /\ request[c] = "none"
            /\ line' = [line EXCEPT ![c] = Invalid]
            /\ memory' = IF c \in Owners THEN line[c].data ELSE memory
            /\ UNCHANGED <<request, newest>>

Next == \E c \in Cache :
          \/ \E kind \in {"read", "write"} : Ask(c, kind)
          \/ ServeRead(c)
          \/ \E value \in Data : ServeWrite(c, value) \/ WriteHit(c, value)
          \/ Evict(c)

Spec == Init /\ [][Next]_vars

Coherent == \A c \in Holders : line[c].data = newest

Exclusive == \A c, d \in Cache : c # d /\ line[c].state \in {"M", "E"} => line[d].state = "I"

MemoryIsCurrent == Owners = {} => memory = newest
==============================================================================
