---- MODULE UnclosedString ----
EXTENDS Naturals
Greeting == "hello
More == 4
====
