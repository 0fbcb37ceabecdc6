---- MODULE TemporalInASet ----
EXTENDS Naturals
VARIABLE x
A == {[](x > 0)}
====
