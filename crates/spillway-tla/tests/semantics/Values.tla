---- MODULE Values ----
EXTENDS Integers, Sequences, TLC
VARIABLE x
RECURSIVE Sum(_)
Sum(S) == IF S = {} THEN 0 ELSE LET e == CHOOSE e \in S : TRUE IN e + Sum(S \ {e})
Init == x = 0
Next == /\ x = 0
        /\ x' = 1
        /\ [i \in 1..2 |-> i] = <<1, 2>>
        /\ [i \in {"a", "b"} |-> 1] = [b |-> 1, a |-> 1]
        /\ (1 :> 5 @@ 2 :> 6) = <<5, 6>>
        /\ [i \in {} |-> i] = <<>>
        /\ DOMAIN <<4, 4>> = 1..2
        /\ <<1, 2>> \in (1..2) \X Nat
        /\ <<1, 2>> \in Seq(Int)
        /\ [a |-> 1, b |-> {}] \in [a : Nat, b : SUBSET Nat]
        /\ [i \in 1..2, j \in 3..3 |-> i * j][2, 3] = 6
        /\ [<<i, j>> \in {<<1, 2>>} |-> i + j][<<1, 2>>] = 3
        /\ {<<i, j>> \in (1..2) \X (1..2) : i < j} = {<<1, 2>>}
        /\ {i + j : i \in 1..2, j \in 1..2} = 2..4
        /\ UNION {1..2, {5}} = {1, 2, 5}
        /\ SUBSET {1} = {{}, {1}}
        /\ Sum(1..10) = 55
        /\ (-7) \div 2 = -4 /\ (-7) % 2 = 1
        /\ \A i, j \in 1..2 : \E k \in 0..2 : k = i - j \/ k = j - i
        /\ 5 \notin Nat \cap (1..3)
        /\ -1 \in Int \ Nat
        /\ "a" \o "b" = "ab"
        /\ ToString(<<1, "a">>) = "<<1, \"a\">>"
====
