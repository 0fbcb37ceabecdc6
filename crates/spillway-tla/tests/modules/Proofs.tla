---- MODULE Proofs ----
EXTENDS Integers
CONSTANT S
VARIABLE x
Init == x \in S
Next == x' = x + 1
Spec == Init /\ [][Next]_x
Inv == x \in Int

USE DEF Inv

LEMMA Base == ASSUME S \subseteq Int PROVE Init => Inv
  BY DEF Init, Inv

THEOREM Safe == ASSUME NEW T, S \subseteq T, NEW CONSTANT c \in T, NEW VARIABLE y, NEW Op(_),
                       ASSUME c > 0 PROVE c # 0
                PROVE  Spec => []Inv
PROOF
  <1>1. Init => Inv
    BY Base
  <1>2. Inv /\ [Next]_x => Inv'
    <2> SUFFICES ASSUME Inv, [Next]_x
                 PROVE  Inv'
      OBVIOUS
    <2>1. CASE Next
      <3> DEFINE z == x + 1
                 twice(n) == n + n
      <3>a. z \in Int
        BY <2>1 DEF Next, Inv
      <3>b HAVE z > x
      <3> QED BY <3>a, <2>1
    <2>2. CASE UNCHANGED x
      BY <2>2
    <2>3. PICK n \in Int : n > x
      <3> WITNESS x + 1 \in Int
      <3>* TAKE m \in Int
      <3>. QED OMITTED
    <2> USE <2>1, <2>2
    <2> HIDE DEF Next
    <2>. QED BY <2>1, <2>2, MODULE Integers DEF Next, Inv
  <1> d == 3
  <1>3. d = 3 OBVIOUS
  <1>q. QED
    BY ONLY <1>1, <1>2, <1>3 DEF Spec

COROLLARY 1 + 1 = 2
  OBVIOUS
PROPOSITION \A n \in Int : n = n
  <*> TAKE n \in Int
  <*> QED OMITTED
THEOREM Last == Spec => [](x \in Int)
====
