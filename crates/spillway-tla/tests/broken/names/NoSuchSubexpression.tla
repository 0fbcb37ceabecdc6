---- MODULE NoSuchSubexpression ----
EXTENDS Naturals
A == 1 + 2
B == A!3
====
