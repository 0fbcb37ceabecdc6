---- MODULE UnknownOperator ----
A == 1 + 2
====
