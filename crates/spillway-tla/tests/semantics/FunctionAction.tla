---- MODULE FunctionAction ----
EXTENDS Naturals
VARIABLE x
Reach(n) == LET R[i \in Nat] == i = 0 \/ (\E j \in 0..(i - 1) : R[j])
            IN R[n]
Init == x = 0
Next == x < 3 /\ Reach(3) /\ x' = x + 1
====
