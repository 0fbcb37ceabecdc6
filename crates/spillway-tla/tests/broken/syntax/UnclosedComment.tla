---- MODULE UnclosedComment ----
EXTENDS Naturals
A == 1
(* this comment (* has one *) end
B == 2
====
