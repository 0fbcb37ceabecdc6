---- MODULE BareBrackets ----
EXTENDS Naturals
F(f) == [f]
====
