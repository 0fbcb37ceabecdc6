---- MODULE UnclosedParenthesis ----
EXTENDS Naturals
Twice(a) == (a + a
Thrice(a) == a + a + a
====
