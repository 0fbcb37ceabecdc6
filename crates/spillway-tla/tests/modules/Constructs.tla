Text before the module is prose, even with "quotes or (* comments.
---------------------------- MODULE Constructs ----------------------------
(* Every construct of the language in one place. (* Comments nest. *) *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Servers, Limit, Combine(_, _), _ ++ _, _ ^+
VARIABLES log, votes, leader   \* three variables
VARIABLE clock

vars == <<log, votes, leader, clock>>

---------------------------------------------------------------------------
\* Literals and operators.
Numbers == {0, 42, \b1010, \o17, \hFF, 12 % 5, 7 \div 2, 2 ^ 3, -1, 3 - -1}
Strings == {"", "plain", "quote \" backslash \\ tab \t"}
Truth == (TRUE /\ ~FALSE) \/ (TRUE => FALSE) \/ (TRUE <=> FALSE) \/ (TRUE \equiv TRUE)
Sets == (({1, 2} \cup {3}) \cap (1 .. 4)) \ {2}
Comparisons(a, b) == a < b /\ a <= b /\ a =< b /\ a \leq b /\ a # b /\ a /= b /\ ~(a > b)
Membership == 1 \in Nat /\ -1 \notin Nat /\ {1} \subseteq {1, 2}
Collections == <<SUBSET {1, 2}, UNION {{1}, {2}}, DOMAIN <<1, 2>>, Nat \X BOOLEAN \X STRING>>
Added == 1 ++ 2 ++ 3
Postfixed == Limit^+
a (+) b == a + b * 2
a \prec b == a < b
Summed == 1 (+) 2

\* Functions, records, tuples.
Squares == [n \in 0 .. 9 |-> n * n]
Sums == [m, n \in 0 .. 3, <<p, q>> \in {0} \X {1} |-> m + n + p + q]
Applied == Squares[3] + Sums[1, 2, <<0, 1>>]
Point == [x |-> 1, y |-> 2]
Points == [x : 0 .. 1, y : {2}]
Updated == [Point EXCEPT !.x = @ + 1, !.y = 0]
Nested == [[k \in {1} |-> Point] EXCEPT ![1].x = @ * 2, ![1].y = 5]
Space == [Servers -> [{1, 2} -> BOOLEAN]]
factorial[n \in Nat] == IF n = 0 THEN 1 ELSE n * factorial[n - 1]
Choice == CHOOSE n \in 0 .. 9 : n * n = 49
Other == CHOOSE n : n \notin 0 .. 9
Filtered == {n \in 0 .. 9 : n % 2 = 0}
FilteredPairs == {<<m, n>> \in (0 .. 2) \X (0 .. 2) : m < n}
Mapped == {<<m, n>> : m \in 0 .. 2, n \in {3, 4}}

\* Control.
Sign(n) == CASE n > 0 -> 1
             [] n < 0 -> -1
             [] OTHER -> 0
Local == LET double(x) == 2 * x
             four == double(2)
             table[i \in 1 .. 3] == IF i = 1 THEN four ELSE table[i - 1]
             RECURSIVE down(_)
             down(i) == IF i = 0 THEN <<>> ELSE <<i>> \o down(i - 1)
         IN  table[2] + Len(down(3))
Quantified == /\ \A s, t \in Servers : s = t \/ s # t
              /\ \E <<m, n>> \in {<<1, 2>>}, k \in {m1 \in 0 .. 3 : m1 > 1} :
                    \/ m < k
                    \/ /\ n < k
                       /\ m = n
                    \/ FALSE
              /\ ~ \E x \in {} : TRUE

\* Operators as arguments.
Apply(Op(_, _), a, b) == Op(a, b)
Fold(f(_, _), base, S) ==
  LET RECURSIVE fold(_, _)
      fold(T, acc) == IF T = {} THEN acc
                      ELSE LET x == CHOOSE x \in T : TRUE IN fold(T \ {x}, f(acc, x))
  IN  fold(S, base)
Uses == Apply(+, 1, 2) + Apply(LAMBDA m, n : m - n, 5, 3) + Fold(Combine, 0, {1})
Chosen == SelectSeq(<<1, 2, 3>>, LAMBDA n : n > Limit)
RECURSIVE Even(_), Odd(_)
Even(n) == n = 0 \/ Odd(n - 1)
Odd(n) == n # 0 /\ Even(n - 1)

\* States, actions, formulas about behaviours.
TypeOK == /\ log \in [Servers -> Seq(Nat)]
          /\ votes \subseteq Servers
          /\ leader \in Servers \cup {"none"}
          /\ clock \in Nat
Init == /\ log = [s \in Servers |-> <<>>]
        /\ votes = {}
        /\ leader = "none"
        /\ clock = 0
Vote(s) == /\ s \notin votes
           /\ votes' = votes \cup {s}
           /\ UNCHANGED <<log, leader, clock>>
Lead(s) == first:: /\ Cardinality(votes) > 1
                   /\ leader' = s
                   /\ log' = [log EXCEPT ![s] = Append(@, clock)]
                   /\ clock' \in {clock, clock + 1}
                   /\ votes' = votes
Next == \E s \in Servers : Vote(s) \/ Lead(s)
Fairness == /\ WF_vars(Next)
            /\ \A s \in Servers : SF_<<votes, leader>>(Vote(s)) /\ WF_(vars)(Lead(s))
Spec == Init /\ [][Next]_vars /\ Fairness
Progress == (votes = {}) ~> (votes = Servers)
Eventually == <>[](leader \in Servers) /\ []<><<Next>>_vars
Possible == ENABLED Next /\ ENABLED <<Next>>_clock
Composed == Next \cdot Next
Hidden == \EE inner : [](inner = 1) /\ \AA outer : <>(outer = 2)
Selected == Init!1 /\ Init!4
OfLabel == Lead(CHOOSE s \in Servers : TRUE)!first

ASSUME Limit \in Nat
ASSUME Finite == IsFiniteSet(Servers)
AXIOM \A m, n \in Nat : Combine(m, n) \in Nat
===========================================================================
Text after the module is prose too. "
