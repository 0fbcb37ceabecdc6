---- MODULE Laziness ----
EXTENDS Naturals, Sequences
VARIABLE x
First(a, b) == a
Wrong == 1 \div 0
Nested(a) == LET b == Wrong c == a + 1 IN c
Init == x = First(1, Wrong)
Next == /\ x < 4
        /\ LET never == Head(<<>>) sum == x + 1
           IN x' = IF sum > 9 THEN never ELSE Nested(sum) - 1
        /\ [i \in 1..2 |-> i][1] = 1
        /\ (FALSE /\ Wrong = 1) = FALSE
        /\ \/ TRUE
           \/ Wrong = 1
====
