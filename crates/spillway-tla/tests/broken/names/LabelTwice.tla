---- MODULE LabelTwice ----
A == (one:: TRUE) /\ (one:: FALSE)
====
