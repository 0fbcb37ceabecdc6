---- MODULE DefinedTwice ----
EXTENDS Naturals
A == 1
A == 2
====
