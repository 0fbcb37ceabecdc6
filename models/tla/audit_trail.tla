----------------------------- MODULE audit_trail -----------------------------
\* Clients lock an account, change its balance and unlock it. An auditor reads the trail of all changes, which grows
\* without bound. The view leaves the trail out but for its last entry.
EXTENDS Integers, Sequences

CONSTANTS Client, Nobody, Most

VARIABLES owner,    \* the client that has locked the account, or Nobody
          balance,
          trail,    \* every change
          wish      \* for each client, the change that it has in mind, or 0

vars == <<owner, balance, trail, wish>>

Init == /\ owner = Nobody
        /\ balance = 0
        /\ trail = <<>>
        /\ wish = [c \in Client |-> 0]

Want(c) == /\ wish[c] = 0
           /\ \E change \in {-2, -1, 1, 3} : wish' = [wish EXCEPT ![c] = change]
           /\ UNCHANGED <<owner, balance, trail>>

Lock(c) == /\ owner = Nobody
           /\ wish[c] # 0
           /\ owner' = c
           /\ UNCHANGED <<balance, trail, wish>>

Change(c) == /\ owner = c
             /\ wish[c] # 0
             /\ balance + wish[c] \in 0 .. Most
             /\ balance' = balance + wish[c]
             /\ trail' = Append(trail, [by |-> c, change |-> wish[c]])
             /\ wish' = [wish EXCEPT ![c] = 0]
             /\ UNCHANGED owner

GiveUp(c) == /\ owner = c
             /\ wish' = [wish EXCEPT ![c] = 0]
             /\ owner' = Nobody
             /\ UNCHANGED <<balance, trail>>

Next == \E c \in Client : Want(c) \/ Lock(c) \/ Change(c) \/ GiveUp(c)

Spec == Init /\ [][Next]_vars

Present == <<owner, balance, wish,
             IF trail = <<>> THEN <<>> ELSE <<trail[Len(trail)]>>>>

RECURSIVE Sum(_)
Sum(changes) == IF changes = <<>> THEN 0 ELSE Head(changes).change + Sum(Tail(changes))

InOrder == Sum(trail) = balance
NeverFull == balance < Most
==============================================================================
