---- MODULE UnclosedTuple ----
EXTENDS Naturals
Pair == <<1, 2
More == 4
====
