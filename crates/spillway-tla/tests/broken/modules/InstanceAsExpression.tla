---- MODULE InstanceAsExpression ----
EXTENDS Naturals
---- MODULE Inner ----
A == 1
====
I == INSTANCE Inner
B == I + 1
====
