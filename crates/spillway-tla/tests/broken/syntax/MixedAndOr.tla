---- MODULE MixedAndOr ----
EXTENDS Naturals
A(p, q, r) == p /\ q \/ r
====
