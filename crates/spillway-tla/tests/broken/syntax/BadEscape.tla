---- MODULE BadEscape ----
EXTENDS Naturals
Greeting == "hel\qo"
====
