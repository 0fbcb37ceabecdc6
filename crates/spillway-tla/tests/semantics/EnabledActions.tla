---- MODULE EnabledActions ----
EXTENDS Naturals
VARIABLES x, y
Step == x < 3 /\ x' = x + 1 /\ y' \in 0..1
Stay == UNCHANGED <<x, y>>
Init == x = 0 /\ y = 0
Next == \/ Step
        \/ ~ ENABLED Step /\ x' = 7 /\ y' = 7
Inv == /\ (ENABLED Step) = (x < 3)
       /\ ENABLED Stay
       /\ ~ ENABLED <<Stay>>_x
       /\ ENABLED (x' = x /\ y' = 9)
====
