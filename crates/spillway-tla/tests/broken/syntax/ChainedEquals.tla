---- MODULE ChainedEquals ----
EXTENDS Naturals
Same(a, b, c) == a = b = c
====
