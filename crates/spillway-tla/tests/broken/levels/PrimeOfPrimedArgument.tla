---- MODULE PrimeOfPrimedArgument ----
EXTENDS Naturals
VARIABLE x
NextValue(e) == e'
A == NextValue(x') = 1
====
