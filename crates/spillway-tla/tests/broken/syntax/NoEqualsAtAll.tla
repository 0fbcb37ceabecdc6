---- MODULE NoEqualsAtAll ----
EXTENDS Naturals
VARIABLE x
Init x = 0
====
