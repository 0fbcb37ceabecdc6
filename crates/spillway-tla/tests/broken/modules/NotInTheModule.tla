---- MODULE NotInTheModule ----
EXTENDS Naturals
---- MODULE Inner ----
A == 1
====
I == INSTANCE Inner
B == I!C
====
