---- MODULE ConflictingRanges ----
EXTENDS Naturals
F(a, b, c) == a \cup b \cap c
====
