---- MODULE StandardNameRedefined ----
EXTENDS Naturals
Nat == 0..10
====
