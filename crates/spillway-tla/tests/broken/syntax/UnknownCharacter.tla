---- MODULE UnknownCharacter ----
EXTENDS Naturals
A == 1 ; 2
====
