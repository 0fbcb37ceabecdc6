---- MODULE SubstitutionLevel ----
EXTENDS Naturals
---- MODULE Inner ----
CONSTANT N
VARIABLE y
Init == y = N
====
VARIABLE x
I == INSTANCE Inner WITH y <- x, N <- x + 1
====
