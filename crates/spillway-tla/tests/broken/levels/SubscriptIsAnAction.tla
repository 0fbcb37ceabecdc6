---- MODULE SubscriptIsAnAction ----
EXTENDS Naturals
VARIABLE x
Spec == [][x' = x + 1]_(x')
====
