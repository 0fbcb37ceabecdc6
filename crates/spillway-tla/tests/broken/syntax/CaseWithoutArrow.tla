---- MODULE CaseWithoutArrow ----
EXTENDS Naturals
Sign(n) == CASE n > 0 : 1 [] OTHER -> 0
====
