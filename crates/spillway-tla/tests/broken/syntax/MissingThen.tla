---- MODULE MissingThen ----
EXTENDS Naturals
Max(a, b) == IF a > b a ELSE b
====
