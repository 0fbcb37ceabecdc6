----------------------------- MODULE stale_cache -----------------------------
\* A cache beside a database. A writer changes the database and then drops the entry of the cache. A reader that finds
\* no entry reads the database and then fills the cache. The protocol has an error: the reader may fill the cache with
\* the value from before the write after the writer has dropped the entry.
EXTENDS Naturals

CONSTANTS Reader, Writer, Writes

VARIABLES database,  \* the version in the database
          cache,     \* a function from the keys that are cached: the key "item" or nothing
          reader,    \* for each reader, a record that says what it does
          writer     \* whether each writer has still to drop the entry

vars == <<database, cache, reader, writer>>

Version == 0 .. Writes
Idle == [at |-> "idle"]

TypeOK == /\ database \in Version
          /\ cache \in UNION {[keys -> Version] : keys \in SUBSET {"item"}}
          /\ reader \in [Reader -> [at : {"idle"}] \cup [at : {"filling"}, version : Version]]
          /\ writer \in [Writer -> BOOLEAN]

Empty == [key \in {} |-> 0]

Init == /\ database = 0
        /\ cache = Empty
        /\ reader = [r \in Reader |-> Idle]
        /\ writer = [w \in Writer |-> FALSE]

Miss(r) == /\ reader[r] = Idle
           /\ "item" \notin DOMAIN cache
           /\ reader' = [reader EXCEPT ![r] = [at |-> "filling", version |-> database]]
           /\ UNCHANGED <<database, cache, writer>>

Fill(r) == /\ reader[r].at = "filling"
           /\ cache' = [key \in {"item"} |-> reader[r].version]
           /\ reader' = [reader EXCEPT ![r] = Idle]
           /\ UNCHANGED <<database, writer>>

Write(w) == /\ ~writer[w]
            /\ database < Writes
            /\ database' = database + 1
            /\ writer' = [writer EXCEPT ![w] = TRUE]
            /\ UNCHANGED <<cache, reader>>

Drop(w) == /\ writer[w]
           /\ cache' = Empty
           /\ writer' = [writer EXCEPT ![w] = FALSE]
           /\ UNCHANGED <<database, reader>>

Next == \/ \E r \in Reader : Miss(r) \/ Fill(r)
        \/ \E w \in Writer : Write(w) \/ Drop(w)

Spec == Init /\ [][Next]_vars

\* An old entry is about to be dropped.
NotStale == \A key \in DOMAIN cache : cache[key] = database \/ \E w \in Writer : writer[w]
==============================================================================
