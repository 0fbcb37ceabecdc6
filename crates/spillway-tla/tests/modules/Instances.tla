---- MODULE Instances ----
EXTENDS Naturals
VARIABLES h, total

  ---- MODULE Counter ----
  CONSTANTS Max, Step(_)
  VARIABLE count
  LOCAL Hidden == 0
  Init == count = Hidden
  Inc(n) == count < Max /\ count' = Step(count) + n
  Next == \E n \in {0} : Inc(n)
  Spec == Init /\ [][Next]_count
  f[n \in Nat] == n + Max
  ========================

  ---- MODULE Pair ----
  CONSTANT Bound
  VARIABLES left, right
  L == INSTANCE Counter WITH Max <- Bound, Step <- LAMBDA n : n + 1, count <- left
  R(by) == INSTANCE Counter WITH Max <- Bound + by, Step <- LAMBDA n : n + by, count <- right
  Next == (L!Next /\ UNCHANGED right) \/ (R(2)!Next /\ UNCHANGED left)
  Apart(n) == R(n)!f[n]
  =====================

Succ(n) == n + 1
C == INSTANCE Counter WITH Max <- 10, Step <- Succ, count <- h
Sum == INSTANCE Counter WITH Max <- 99, Step <- Succ, count <- h + total
P(b) == INSTANCE Pair WITH Bound <- b, left <- h, right <- total
LOCAL INSTANCE Counter WITH Max <- 3, Step <- Succ, count <- total

Both == C!Next /\ UNCHANGED total
Primed == Sum!Inc(1)
Deep == P(5)!R(1)!Inc(2) /\ P(5)!L!Next
Inner == LET I(m) == INSTANCE Counter WITH Max <- m, Step <- Succ, count <- h
         IN  I(3)!Next /\ I(4)!f[1] > 0
All == \A k \in 1 .. 3 : LET J == INSTANCE Counter WITH Max <- k, Step <- LAMBDA n : n + k, count <- h
                         IN  J!Next
Refines == C!Spec
Imported == Next
====
