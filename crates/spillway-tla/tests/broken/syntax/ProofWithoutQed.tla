---- MODULE ProofWithoutQed ----
EXTENDS Naturals
THEOREM 1 + 1 = 2
<1>1. 1 + 1 = 2
  OBVIOUS
A == 1
====
