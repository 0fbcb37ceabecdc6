---- MODULE clock ----
EXTENDS Naturals
CONSTANT Last
VARIABLES hour, pair

Half(n) == n \div 2

Init == hour = 1 /\ pair = [a |-> 1, b |-> <<1, 2>>]

Next == /\ hour' = IF hour = Last THEN 1 ELSE hour + 1
        /\ pair' = [pair EXCEPT !.a = Half(hour)]

Early == hour < 4
====
