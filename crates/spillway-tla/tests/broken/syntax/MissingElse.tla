---- MODULE MissingElse ----
EXTENDS Naturals
Max(a, b) == IF a > b THEN a
Min(a, b) == a
====
