---- MODULE PrimedArguments ----
EXTENDS Naturals
VARIABLES x, y
OneOrTwo(v) == v = 1 \/ v = 2
Increase(v) == v' = v + 1
Both(v, w) == OneOrTwo(v') /\ Increase(w)
Same(v) == UNCHANGED v
Twice(A(_), v) == A(v) \/ A(v)
Init == x = 0 /\ y = 0
Next == y < 2 /\ x < 4 /\ (\/ Both(x, y)
                           \/ OneOrTwo(x') /\ Same(y)
                           \/ Twice(Increase, x) /\ Same(<<y>>)
                           \/ LET next == x' + y IN x' = 2 /\ y' = next /\ next = 2)
====
