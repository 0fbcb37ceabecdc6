----------------------------- MODULE filter_lock -----------------------------
\* The filter lock: Peterson's lock for any number of processes. A process passes through levels, and at each level the
\* process that arrived last waits. At most Cardinality(Process) - n processes are above level n, so the last level
\* admits one.
EXTENDS Naturals, FiniteSets

CONSTANT Process    \* the processes

VARIABLES pc,       \* where each process is
          level,    \* the level that each process tries to pass, 0 if it does not compete
          last      \* for each level, the process that arrived there last

vars == <<pc, level, last>>

Levels == 1 .. Cardinality(Process) - 1

TypeOK == /\ pc \in [Process -> {"idle", "enter", "mark", "wait", "critical"}]
          /\ level \in [Process -> Levels \cup {0}]
          /\ last \in [Levels -> Process]

\* Which process arrived last does not matter while nobody competes. One value is chosen, so there is one initial state.
Init == /\ pc = [p \in Process |-> "idle"]
        /\ level = [p \in Process |-> 0]
        /\ last = [n \in Levels |-> CHOOSE p \in Process : TRUE]

Goto(p, from, to) == /\ pc[p] = from
                     /\ pc' = [pc EXCEPT ![p] = to]

Request(p) == /\ Goto(p, "idle", "enter")
              /\ UNCHANGED <<level, last>>

\* Announces that the process competes at its next level.
Enter(p) == /\ Goto(p, "enter", "mark")
            /\ level' = [level EXCEPT ![p] = @ + 1]
            /\ UNCHANGED last

Mark(p) == /\ Goto(p, "mark", "wait")
           /\ last' = [last EXCEPT ![level[p]] = p]
           /\ UNCHANGED level

MayPass(p) == \/ last[level[p]] # p
              \/ \A q \in Process \ {p} : level[q] < level[p]

Pass(p) == /\ Goto(p, "wait", IF level[p] + 1 \in Levels THEN "enter" ELSE "critical")
           /\ MayPass(p)
           /\ UNCHANGED <<level, last>>

Release(p) == /\ Goto(p, "critical", "idle")
              /\ level' = [level EXCEPT ![p] = 0]
              /\ UNCHANGED last

Next == \E p \in Process : Request(p) \/ Enter(p) \/ Mark(p) \/ Pass(p) \/ Release(p)

Spec == Init /\ [][Next]_vars

Mutex == \A p, q \in Process : p # q => ~(pc[p] = "critical" /\ pc[q] = "critical")

\* The processes above a level.
Above(n) == {p \in Process : level[p] > n \/ (level[p] = n /\ pc[p] = "critical")}

Filtered == \A n \in Levels : Cardinality(Above(n)) <= Cardinality(Process) - n

\* A process gives up its level only by leaving the critical section.
LevelsGrow == [][\A p \in Process : level'[p] < level[p] => pc[p] = "critical"]_level
==============================================================================
