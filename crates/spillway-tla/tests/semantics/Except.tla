---- MODULE Except ----
EXTENDS Naturals
VARIABLE f
Init == f = [a |-> <<1, 2>>, b |-> [i \in 0..1 |-> {}]]
Next == \/ f' = [f EXCEPT !.a[1] = @ + 1, !.a[2] = f.a[1]] /\ f.a[1] < 4
        \/ f' = [f EXCEPT !.b[0] = @ \cup {1}, !.b[1] = f.b[0]]
        \/ f' = [f EXCEPT !.c = 1, !.a[7] = 2]
        \/ f' = [f EXCEPT !.b = [@ EXCEPT ![1] = {2}]]
====
