---- MODULE LetWithoutIn ----
EXTENDS Naturals
F(a) == LET b == a + 1
G(a) == a
====
