-------------------------------- MODULE banker -------------------------------
\* The banker's algorithm for several kinds of resources. A request is granted only if all clients could still finish,
\* one after the other, should each demand the most that it has announced.
EXTENDS Naturals, FiniteSets

CONSTANTS Client, Kind

VARIABLES held,     \* what each client has of each kind
          needs     \* the most that each client may demand of each kind

vars == <<held, needs>>

Total == [k \in Kind |-> 3]

None == [k \in Kind |-> 0]

Amount == [Kind -> 1 .. 2]

Fits(a, b) == \A k \in Kind : a[k] <= b[k]

Plus(a, b) == [k \in Kind |-> a[k] + b[k]]

\* The sum of what a set of clients holds.
RECURSIVE Sum(_, _)
Sum(amounts, clients) == IF clients = {}
                         THEN None
                         ELSE LET c == CHOOSE c \in clients : TRUE
                              IN  Plus(amounts[c], Sum(amounts, clients \ {c}))

Free(amounts) == LET used == Sum(amounts, Client) IN [k \in Kind |-> Total[k] - used[k]]

\* Whether all clients of a set can finish when `available` is free. If one can finish, letting it finish first loses
\* nothing, so the choice does not matter.
RECURSIVE CanFinish(_, _, _)
CanFinish(amounts, available, clients) ==
  LET able == {c \in clients : Fits(needs[c], Plus(available, amounts[c]))}
  IN  \/ clients = {}
      \/ /\ able # {}
         /\ LET c == CHOOSE c \in able : TRUE
            IN  CanFinish(amounts, Plus(available, amounts[c]), clients \ {c})

Safe(amounts) == CanFinish(amounts, Free(amounts), Client)

TypeOK == /\ held \in [Client -> [Kind -> Nat]]
          /\ needs \in [Client -> Amount]
          /\ \A k \in Kind : Sum(held, Client)[k] <= Total[k]

Init == /\ held = [c \in Client |-> None]
        /\ needs \in [Client -> Amount]

\* A client asks for one more of a kind.
Grant(c, k) == LET more == [held EXCEPT ![c][k] = @ + 1]
               IN  /\ held[c][k] < needs[c][k]
                   /\ Free(held)[k] > 0
                   /\ Safe(more)
                   /\ held' = more
                   /\ UNCHANGED needs

\* A client that has all that it may demand finishes.
Finish(c) == /\ held[c] = needs[c]
             /\ held' = [held EXCEPT ![c] = None]
             /\ UNCHANGED needs

Next == \E c \in Client : Finish(c) \/ \E k \in Kind : Grant(c, k)

Spec == Init /\ [][Next]_vars

AlwaysSafe == Safe(held)
==============================================================================
