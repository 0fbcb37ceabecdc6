---- MODULE NotAnInstance ----
EXTENDS Naturals
A == 1
B == A!C
====
