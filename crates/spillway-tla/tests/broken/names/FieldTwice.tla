---- MODULE FieldTwice ----
EXTENDS Naturals
A == [a |-> 1, b |-> 2, a |-> 3]
====
