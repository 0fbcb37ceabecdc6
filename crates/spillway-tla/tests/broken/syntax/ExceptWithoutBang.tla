---- MODULE ExceptWithoutBang ----
EXTENDS Naturals
F(f) == [f EXCEPT [1] = 2]
====
