---- MODULE LazyApplication ----
\* The body of a function constructor is evaluated for the argument alone: elsewhere it may be an error.
EXTENDS Naturals
VARIABLE v
Quotients == [x \in {0, 1} |-> 12 \div x]
F == [x \in {0, 1, 2} |-> (12 + v) \div x]
G(k) == [x \in {0, 1, 2} |-> [y \in {0, 1} |-> k \div (x + y)]]
H(f, k) == f[k]
Init == /\ LET f == [x \in {0, 1} |-> 12 \div x] IN f[1] = 12
        /\ v = [x \in {0, 1} |-> 12 \div x][1] - 12
Next == /\ v < 5
        /\ Quotients[1] = 12
        /\ F[1] = 12 + v
        /\ G(v)[0][1] = v
        /\ H([x \in {0, 1} |-> 12 \div x], 1) = 12
        /\ H(F, 1) = 12 + v
        /\ LET f[x \in {0, 1, 2}] == 12 \div x IN f[2] = 6 /\ f[1] = 12
        /\ LET f[x \in {0, 1, 2}] == (v + 12) \div x IN f[2] >= 6 /\ f[1] >= 12
        /\ (IF v = 0 THEN [x \in {0, 1} |-> 12 \div x] ELSE [x \in {0, 1} |-> v \div x])[1] >= v
        /\ (LET k == 2 IN [x \in {0, 1} |-> k \div x])[1] = 2
        /\ (CASE v = 0 -> [x \in {0, 1} |-> 12 \div x] [] OTHER -> [x \in {0, 1} |-> v \div x])[1] >= v
        /\ [x \in {0, 1}, y \in {0, 1} |-> 12 \div (x - y)][1, 0] = 12
        /\ [<<x, y>> \in {<<1, 2>>, <<1, 1>>} |-> 12 \div (y - x)][<<1, 2>>] = 12
        /\ [x \in Nat |-> 12 \div x][1] = 12
        \* EXCEPT evaluates the old values at its paths.
        /\ [[x \in {0, 1} |-> 12 \div x] EXCEPT ![1] = @ + 1][1] = 13
        /\ [[x \in {0, 1, 2} |-> 12 \div x] EXCEPT ![1] = @ + 1, ![1] = @ + 1, ![7] = 1 \div 0][1] = 14
        /\ [[x \in {0, 1, 2} |-> 12 \div x] EXCEPT ![1] = @ + 1][2] = 6
        /\ [[x \in {0, 1} |-> [y \in {1} |-> 12 \div x]] EXCEPT ![1][1] = @ + 1][1][1] = 13
        /\ v' = v + 1
        /\ F'[2] = (13 + v) \div 2
        /\ [x \in {0, 1, 2} |-> (12 + v) \div x]'[2] = (13 + v) \div 2
        /\ ENABLED ([x \in {0, 1} |-> v' = 12 \div x][1])
Inv == [x \in {0, 1} |-> (v + 12) \div x][1] = v + 12 /\ F[1] = F[2] + F[2] + ((12 + v) % 2)
====
