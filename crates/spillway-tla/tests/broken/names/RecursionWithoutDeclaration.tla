---- MODULE RecursionWithoutDeclaration ----
EXTENDS Naturals
Factorial(n) == IF n = 0 THEN 1 ELSE n * Factorial(n - 1)
====
