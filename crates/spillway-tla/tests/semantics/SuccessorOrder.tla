---- MODULE SuccessorOrder ----
\* The order in which TLC generates successors.
EXTENDS Naturals, Sequences, FiniteSets
VARIABLES k, x
S == {1, 2, 3}
Init == k = 0 /\ x = 0
Next == k = 0 /\ 
  \/ k' = 1 /\ \E s \in SUBSET S : x' = s
  \/ k' = 2 /\ \E f \in [S -> {0, 1}] : x' = f
  \/ k' = 3 /\ \E a, b \in {1, 2} : x' = <<a, b>>
  \/ k' = 4 /\ \E a \in {1, 2}, b \in {"left", "right"} : x' = <<a, b>>
  \/ k' = 5 /\ \E r \in [p : {1, 2}, q : {3, 4}] : x' = r
  \/ k' = 6 /\ \E t \in {1, 2} \X {"left", "right"} : x' = t
  \/ k' = 7 /\ x' \in SUBSET S
  \/ k' = 8 /\ x' \in [{1, 2} -> {0, 1}]
  \/ k' = 9 /\ \E s \in {T \in SUBSET S : Cardinality(T) = 2} : x' = s
  \/ k' = 10 /\ \E s \in {{a, b} : a, b \in {1, 2}} : x' = s
  \/ k' = 11 /\ \E s \in UNION {{5, 1}, {3, 2}} : x' = s
  \/ k' = 12 /\ \E s \in {3, 1} \cup {2} : x' = s
  \/ k' = 13 /\ \E s \in {"z", "a", "m"} : x' = s
  \/ k' = 14 /\ \E <<a, b>> \in {<<2, 1>>, <<1, 2>>} : x' = <<a, b>>
  \/ k' = 15 /\ \E s \in {3, 2, 1} \ {1} : x' = s
  \/ k' = 16 /\ \E s \in DOMAIN [c |-> 1, b |-> 2] : x' = s
  \/ k' = 17 /\ \E a \in {1, 2} : \E b \in {1, 2} : x' = <<a, b>>
  \/ k' = 18 /\ \E b \in SUBSET {1, 2}, a \in {1, 2} : x' = <<a, b>>
  \/ k' = 19 /\ x' \in {5, 3, 4}
  \/ k' = 20 /\ \E g \in SUBSET {4, 3} \ {{}} : x' = g
  \/ k' = 21 /\ \E n \in {y + z : y \in {10, 1}, z \in {5, 2}} : x' = n
  \/ k' = 22 /\ \E r \in {[a |-> i, b |-> j] : i \in {2, 1}, j \in {1, 2}} : x' = r
  \/ k' = 23 /\ \E t \in {1, 2} \X {1} \X {3, 4} : x' = t
  \/ k' = 24 /\ \E f \in [{"q", "p"} -> {1, 2}] : x' = f
  \/ k' = 25 /\ \E s \in {<<2>>, <<1, 1>>, <<>>} : x' = s
  \/ k' = 26 /\ \E e \in {{2}, {1, 3}, {}} : x' = e
====
