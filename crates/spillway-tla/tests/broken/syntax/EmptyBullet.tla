---- MODULE EmptyBullet ----
EXTENDS Naturals
VARIABLES x, y
Init ==
  /\ x = 0
  /\
  /\ x = y
====
