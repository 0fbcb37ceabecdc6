---- MODULE EnabledTemporal ----
EXTENDS Naturals
VARIABLE x
A == ENABLED <>(x > 0)
====
