---- MODULE MissingSubstitution ----
EXTENDS Naturals
---- MODULE Inner ----
VARIABLE y
Init == y = 0
====
VARIABLE x
I == INSTANCE Inner
====
