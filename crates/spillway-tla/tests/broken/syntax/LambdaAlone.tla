---- MODULE LambdaAlone ----
EXTENDS Naturals
Id == LAMBDA x : x
====
