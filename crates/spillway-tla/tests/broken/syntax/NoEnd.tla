---- MODULE NoEnd ----
A == 1
