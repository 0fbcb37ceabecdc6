----------------------------- MODULE philosophers ----------------------------
\* Dining philosophers who share forks with their neighbours and keep them clean or dirty. A hungry philosopher asks for
\* a fork by its token; a dirty fork is washed and given away, a clean one is kept until its owner has eaten. Forks and
\* tokens lie on the edges of the ring. An edge is the set of its two philosophers.
EXTENDS Naturals, FiniteSets

CONSTANT N          \* the number of philosophers

VARIABLES mood,     \* what each philosopher does
          fork,     \* who has the fork of each edge, and whether it is clean
          token     \* who has the token of each edge

vars == <<mood, fork, token>>

Phil == 0 .. N - 1
Edge == {{p, (p + 1) % N} : p \in Phil}

EdgesOf(p) == {e \in Edge : p \in e}

TypeOK == /\ mood \in [Phil -> {"thinking", "hungry", "eating"}]
          /\ \A e \in Edge : fork[e] \in [owner : e, clean : BOOLEAN]
          /\ \A e \in Edge : token[e] \in e

Least(set) == CHOOSE x \in set : \A y \in set : x <= y

\* The forks are dirty and lie so that precedence has no cycle.
Init == /\ mood = [p \in Phil |-> "thinking"]
        /\ fork = [e \in Edge |-> [owner |-> Least(e), clean |-> FALSE]]
        /\ token = [e \in Edge |-> CHOOSE p \in e : p # Least(e)]

GetHungry(p) == /\ mood[p] = "thinking"
                /\ mood' = [mood EXCEPT ![p] = "hungry"]
                /\ UNCHANGED <<fork, token>>

\* The token goes to the owner of the fork.
Ask(p, e) == /\ mood[p] = "hungry"
             /\ token[e] = p
             /\ fork[e].owner # p
             /\ token' = [token EXCEPT ![e] = fork[e].owner]
             /\ UNCHANGED <<mood, fork>>

\* A philosopher who has both the token and a dirty fork gives the fork away, clean.
Give(p, e) == /\ mood[p] # "eating"
              /\ token[e] = p
              /\ fork[e] = [owner |-> p, clean |-> FALSE]
              /\ fork' = [fork EXCEPT ![e] = [owner |-> CHOOSE q \in e : q # p, clean |-> TRUE]]
              /\ UNCHANGED <<mood, token>>

Eat(p) == /\ mood[p] = "hungry"
          /\ \A e \in EdgesOf(p) : fork[e].owner = p /\ (fork[e].clean \/ token[e] # p)
          /\ mood' = [mood EXCEPT ![p] = "eating"]
          /\ fork' = [e \in Edge |-> IF p \in e THEN [fork[e] EXCEPT !.clean = FALSE] ELSE fork[e]]
          /\ UNCHANGED token

Think(p) == /\ mood[p] = "eating"
            /\ mood' = [mood EXCEPT ![p] = "thinking"]
            /\ UNCHANGED <<fork, token>>

Next == \E p \in Phil :
          \/ GetHungry(p)
          \/ Eat(p)
          \/ Think(p)
          \/ \E e \in EdgesOf(p) : Ask(p, e) \/ Give(p, e)

Spec == Init /\ [][Next]_vars

Exclusive == \A e \in Edge : Cardinality({p \in e : mood[p] = "eating"}) <= 1

\* A clean fork belongs to a hungry philosopher.
CleanIsHungry == \A e \in Edge : fork[e].clean => mood[fork[e].owner] = "hungry"
==============================================================================
