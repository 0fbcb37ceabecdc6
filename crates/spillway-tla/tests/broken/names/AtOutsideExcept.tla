---- MODULE AtOutsideExcept ----
EXTENDS Naturals
A == @ + 1
====
