---- MODULE LocalOfAnotherModule ----
EXTENDS Naturals
---- MODULE Inner ----
LOCAL A == 1
====
I == INSTANCE Inner
B == I!A
====
