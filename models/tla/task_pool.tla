------------------------------ MODULE task_pool ------------------------------
\* A pool of tasks of different sizes. A worker takes a task and finishes it or splits it into two. Tasks of one size
\* are not distinguished, so the pool is a bag. A worker may crash, and its task returns to the pool.
EXTENDS Integers, Sequences, FiniteSets, Bags, TLC

CONSTANTS Worker,
          Crashes,  \* how often workers may crash
          Sizes     \* the sizes of the tasks at the start

VARIABLES pool,     \* the bag of the sizes of the tasks that nobody has
          work,     \* the size of the task of each worker that has one: a function from a set of workers
          done,     \* how much is done
          crashes   \* how often workers have crashed

vars == <<pool, work, done, crashes>>

One(size) == SetToBag({size})

Half(size) == size \div 2

\* The sum of the sizes in a bag.
Weight(bag) == LET RECURSIVE Of(_)
                   Of(sizes) == IF sizes = {}
                                THEN 0
                                ELSE LET s == CHOOSE s \in sizes : TRUE
                                     IN  s * CopiesIn(s, bag) + Of(sizes \ {s})
               IN  Of(BagToSet(bag))

Total == Weight(SetToBag(Sizes))

InWork == LET RECURSIVE Of(_)
              Of(workers) == IF workers = {}
                             THEN 0
                             ELSE LET w == CHOOSE w \in workers : TRUE
                                  IN  work[w] + Of(workers \ {w})
          IN  Of(DOMAIN work)

TypeOK == /\ IsABag(pool)
          /\ DOMAIN work \subseteq Worker
          /\ done \in 0 .. Total
          /\ crashes \in 0 .. Crashes

Init == /\ pool = SetToBag(Sizes)
        /\ work = <<>>
        /\ done = 0
        /\ crashes = 0

Take(w, size) == /\ w \notin DOMAIN work
                 /\ BagIn(size, pool)
                 /\ pool' = pool (-) One(size)
                 /\ work' = work @@ (w :> size)
                 /\ UNCHANGED <<done, crashes>>

\* The function without a worker.
Without(w) == [v \in DOMAIN work \ {w} |-> work[v]]

Finish(w) == /\ w \in DOMAIN work
             /\ work' = Without(w)
             /\ done' = done + work[w]
             /\ UNCHANGED <<pool, crashes>>

Split(w) == /\ w \in DOMAIN work
            /\ work[w] > 1
            /\ LET half == Half(work[w])
               IN  pool' = pool (+) One(half) (+) One(work[w] - half)
            /\ work' = Without(w)
            /\ UNCHANGED <<done, crashes>>

Crash(w) == /\ w \in DOMAIN work
            /\ crashes < Crashes
            /\ pool' = pool (+) One(work[w])
            /\ work' = Without(w)
            /\ crashes' = crashes + 1
            /\ UNCHANGED done

Done == /\ done = Total
        /\ UNCHANGED vars

Next == \/ Done
        \/ \E w \in Worker :
             \/ \E size \in BagToSet(pool) : Take(w, size)
             \/ Finish(w)
             \/ Split(w)
             \/ Crash(w)

Spec == Init /\ [][Next]_vars

NothingIsLost == Weight(pool) + InWork + done = Total

\* Work that is done stays done.
Progress == [][done' >= done]_done
==============================================================================
