---- MODULE Closures ----
EXTENDS Naturals, FiniteSets, Sequences
VARIABLES x, s
Image(F(_), S) == {F(e) : e \in S}
Compose(F(_), G(_), e) == F(G(e))
Fold(Op(_, _), base, S) ==
  LET Iter[T \in SUBSET S] ==
        IF T = {} THEN base
        ELSE LET e == CHOOSE e \in T : TRUE IN Op(e, Iter[T \ {e}])
  IN Iter[S]
Adder(k) == [n \in Nat |-> n + k]
Big(k) == {T \in SUBSET (1..3) : Cardinality(T) >= k}
Init == x = 0 /\ s = {}
Next == /\ x < 3
        /\ LET k == x + 1
               Add(a, b) == a + b + 0 * k
           IN /\ x' = Adder(k)[0]
              /\ s' = UNION {Image(LAMBDA e : e + k, {1, 2}),
                             {Fold(Add, 0, 1..k)},
                             {Compose(LAMBDA e : e * k, LAMBDA e : e + x, 7)},
                             {Cardinality(Big(k))},
                             {Len(SelectSeq(<<1, 2, 3>>, LAMBDA e : e > x))}}
====
