------------------------------- MODULE Reads -------------------------------
(* Every way in which an action reads and changes variables. *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Peers

VARIABLES sent, place, queue, seen, count, config, links

vars == <<sent, place, queue, seen, count, config, links>>

Kinds == {"ask", "tell"}

Init ==
    /\ sent = {}
    /\ place = [p \in Peers |-> "idle"]
    /\ queue = [p \in Peers |-> <<>>]
    /\ seen = [p \in Peers |-> {}]
    /\ count = 0
    /\ config = [limit |-> 2, open |-> TRUE]
    /\ links = [pair \in Peers \X (1..2) |-> FALSE]

(* The union with a variable, and EXCEPT at a place that is read. *)
Ask(p) ==
    /\ place[p] = "idle"
    /\ config.open
    /\ sent' = sent \cup {[kind |-> "ask", from |-> p, round |-> count]}
    /\ place' = [place EXCEPT ![p] = "asked"]
    /\ links' = [links EXCEPT ![p, 1] = links[p, 2], ![p, 2] = ~@]
    /\ UNCHANGED <<queue, seen, count, config>>

(* A quantifier over a variable, with a screen. *)
Tell(p) ==
    \E m \in sent :
        /\ m.kind = "ask"
        /\ m.from # p
        /\ Cardinality(seen[p]) < 2
        /\ sent' = {[kind |-> "tell", from |-> p, round |-> m.round]} \cup sent
        /\ seen' = [seen EXCEPT ![p] = @ \cup {m.from}]
        /\ UNCHANGED <<place, queue, count, config, links>>

(* A membership test, a sequence, and IF around the assignment. *)
Receive(p) ==
    /\ [kind |-> "ask", from |-> p, round |-> count] \in sent
    /\ place[p] = "asked"
    /\ queue' = IF Len(queue[p]) < config.limit THEN [queue EXCEPT ![p] = Append(@, count)] ELSE queue
    /\ place' = [place EXCEPT ![p] = IF queue'[p] = <<>> THEN "idle" ELSE "done"]
    /\ UNCHANGED <<sent, seen, count, config, links>>

(* A difference, a second path at the same place, and a path that does not exist. *)
Forget(p) ==
    /\ place[p] = "done"
    /\ sent' = sent \ {[kind |-> "ask", from |-> p, round |-> count]}
    /\ queue' = [queue EXCEPT ![p] = Tail(@), ![p] = @ \o <<>>, !["none"] = <<1>>]
    /\ place' = [place EXCEPT ![p] = IF queue'[p] = <<>> THEN "idle" ELSE "done"]
    /\ UNCHANGED <<seen, count, config, links>>

(* A filter, a domain, a choice among values, and a variable that a later conjunct compares. *)
Count ==
    /\ \A p \in DOMAIN place : place[p] # "asked"
    /\ count < 2
    /\ count' \in {count, count + 1}
    /\ count' # count
    /\ LET asked == {m \in sent : m.kind = "ask"}
       IN  config' = [config EXCEPT !.open = asked = {}, !.limit = Cardinality(asked) + 1]
    /\ UNCHANGED sent /\ UNCHANGED <<place, queue, seen, links>>
    /\ sent' \subseteq sent

Next ==
    \/ \E p \in Peers : Ask(p) \/ Tell(p) \/ Receive(p)
    \/ \E p \in Peers : LET q == p IN Forget(q)
    \/ Count

Spec == Init /\ [][Next]_vars

TypeOK ==
    /\ sent \subseteq [kind : Kinds, from : Peers, round : 0..2]
    /\ place \in [Peers -> {"idle", "asked", "done"}]
    /\ queue \in [Peers -> Seq(0..2)]
    /\ seen \in [Peers -> SUBSET Peers]
    /\ links \in [Peers \X (1..2) -> BOOLEAN]
    /\ config \in [limit : 1..9, open : BOOLEAN]

Few == \A p \in Peers : Len(queue[p]) <= 2

(* It does not hold in every state. *)
Idle == \A p \in Peers : place[p] # "done"

Small == Cardinality(sent) <= 4

CountGrows == [][count' >= count]_vars
=============================================================================
