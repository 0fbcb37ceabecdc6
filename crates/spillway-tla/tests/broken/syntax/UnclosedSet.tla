---- MODULE UnclosedSet ----
EXTENDS Naturals
Digits == {1, 2, 3
More == 4
====
