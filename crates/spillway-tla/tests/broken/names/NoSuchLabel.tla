---- MODULE NoSuchLabel ----
EXTENDS Naturals
A == first:: 1 + 2
B == A!second
====
