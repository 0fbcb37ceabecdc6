---- MODULE KeptValues ----
EXTENDS Naturals, FiniteSets
VARIABLES x, y
Small == {n \in 0..3 : n < x}
Pairs == {p \in Small \X {y} : p[1] # p[2]}
Odd == \E n \in 0..3 : x = 2 * n + 1
Choice == x = 0 \/ y < 2
Sum[n \in 0..4] == IF n = 0 THEN y ELSE Sum[n - 1] + x
Init == x \in 0..1 /\ y = 0
Next == \/ Choice /\ x' = (x + 1) % 4 /\ UNCHANGED y
        \/ Small # {} /\ y' = Cardinality(Small) /\ x' \in Small
        \/ x' = x /\ y' = Sum[2] % 4 /\ Small' = Small
        \/ Odd /\ x' = x + 1 /\ ~Odd' /\ y' = Cardinality(Small')
Inv == /\ Cardinality(Small) = IF x > 4 THEN 4 ELSE x
       /\ (<<0, y>> \in Pairs) = (0 \in Small /\ y # 0)
       /\ Odd = (x % 2 = 1)
Spec == Init /\ [][Next]_<<x, y>>
Steps == [][Small \subseteq Small' \/ x' < x]_<<x, y>>
Bounded == Cardinality(Small) + y < 7
====
