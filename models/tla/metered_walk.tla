---------------------------- MODULE metered_walk ----------------------------
\* Walkers on a ring share a budget. A walker moves by a stride, which costs its square; several walkers may move by one
\* place together, at no cost for each but one for all. The view is the places alone. So the cost with which places are
\* first reached, in TLC's order, decides which other places are in reach.
EXTENDS Naturals, FiniteSets

CONSTANTS Walkers, Size, Strides, Budget

VARIABLES place,  \* the place of each walker
          cost,   \* what all moves have cost
          last    \* who moved last

vars == <<place, cost, last>>

Init == /\ place = [w \in Walkers |-> 0]
        /\ cost = 0
        /\ last = {}

Pay(price) == /\ cost + price <= Budget
              /\ cost' = cost + price

Stride(w) == \E d \in Strides :
                /\ last # {w}
                /\ Pay(d * d)
                /\ place' = [place EXCEPT ![w] = (@ + d) % Size]
                /\ last' = {w}

Together == \E group \in SUBSET Walkers :
                /\ Cardinality(group) > 1
                /\ group # last
                /\ Pay(1)
                /\ place' = [w \in Walkers |-> IF w \in group THEN (place[w] + 1) % Size
                                                              ELSE place[w]]
                /\ last' = group

Next == (\E w \in Walkers : Stride(w)) \/ Together

Spec == Init /\ [][Next]_vars

Places == place

TypeOK == /\ place \in [Walkers -> 0 .. Size - 1]
          /\ cost \in 0 .. Budget
          /\ last \subseteq Walkers
=============================================================================
