---- MODULE OutsideJunctionList ----
EXTENDS Naturals
VARIABLES x, y
Next ==
  /\ x' = x + 1
  /\ y' =
 y
====
