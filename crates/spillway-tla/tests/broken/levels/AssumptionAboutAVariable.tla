---- MODULE AssumptionAboutAVariable ----
EXTENDS Naturals
VARIABLE x
ASSUME x > 0
====
