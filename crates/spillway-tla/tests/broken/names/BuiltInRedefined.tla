---- MODULE BuiltInRedefined ----
EXTENDS Naturals
BOOLEAN == {0, 1}
====
