---------------------------- MODULE transfer_locks ---------------------------
\* Tellers transfer money between accounts. Each locks the account that it takes from and then the account that it
\* gives to, so tellers can wait for each other in a circle. The specification has this deadlock.
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS Account, Teller,
          Money     \* what each account has at the start

VARIABLES balance,  \* the money in each account
          holder,   \* the locked accounts and who has locked them: a function from a set of accounts
          plan      \* what each teller does: the accounts that it has still to lock, in order, with its purpose

vars == <<balance, holder, plan>>

NoPlan == [todo |-> <<>>, from |-> {}, to |-> {}]

\* The sum of a function over a set.
Sum(f, set) == LET RECURSIVE Add(_, _)
                   Add(total, left) == IF left = {}
                                       THEN total
                                       ELSE LET x == CHOOSE x \in left : TRUE
                                            IN  Add(total + f[x], left \ {x})
               IN  Add(0, set)

TypeOK == /\ balance \in [Account -> Nat]
          /\ DOMAIN holder \subseteq Account
          /\ \A a \in DOMAIN holder : holder[a] \in Teller
          /\ \A t \in Teller : plan[t].todo \in Seq(Account) /\ plan[t].from \subseteq Account

Init == /\ balance = [a \in Account |-> Money]
        /\ holder = [a \in {} |-> CHOOSE t \in Teller : TRUE]
        /\ plan = [t \in Teller |-> NoPlan]

Begin(t) == \E from \in Account : \E to \in Account \ {from} :
              /\ plan[t] = NoPlan
              /\ plan' = [plan EXCEPT ![t] = [todo |-> <<from, to>>, from |-> {from}, to |-> {to}]]
              /\ UNCHANGED <<balance, holder>>

Lock(t) == /\ plan[t].todo # <<>>
           /\ LET a == Head(plan[t].todo)
              IN  /\ a \notin DOMAIN holder
                  /\ holder' = [b \in DOMAIN holder \cup {a} |-> IF b = a THEN t ELSE holder[b]]
           /\ plan' = [plan EXCEPT ![t].todo = Tail(@)]
           /\ UNCHANGED balance

Move(t) == /\ plan[t] # NoPlan
           /\ plan[t].todo = <<>>
           /\ LET amount == IF \E a \in plan[t].from : balance[a] > 0 THEN 1 ELSE 0
              IN  balance' = [a \in Account |-> CASE a \in plan[t].from -> balance[a] - amount
                                                  [] a \in plan[t].to -> balance[a] + amount
                                                  [] OTHER -> balance[a]]
           /\ holder' = [a \in {b \in DOMAIN holder : holder[b] # t} |-> holder[a]]
           /\ plan' = [plan EXCEPT ![t] = NoPlan]

Next == \E t \in Teller : Begin(t) \/ Lock(t) \/ Move(t)

Spec == Init /\ [][Next]_vars

MoneyStays == Sum(balance, Account) = Money * Cardinality(Account)
==============================================================================
