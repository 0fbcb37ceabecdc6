---- MODULE MissingModule ----
EXTENDS Naturals, NoSuchModule
A == 1
====
