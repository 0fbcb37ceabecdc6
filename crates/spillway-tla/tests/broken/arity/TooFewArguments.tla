---- MODULE TooFewArguments ----
EXTENDS Naturals
Sum(a, b) == a + b
A == Sum(1)
====
