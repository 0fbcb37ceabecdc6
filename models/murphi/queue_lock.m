-- Mutual exclusion by a queue that each waiter links itself into.
--
-- Origin: T. Anderson, "The performance of spin lock alternatives for shared-memory
-- multiprocessors", 1990, and J. Mellor-Crummey and M. Scott, "Algorithms for scalable
-- synchronization on shared-memory multiprocessors", 1991; the latter without compare-and-swap.
--
-- BUG=1 lets a process that leaves hand the lock on before it looks for a successor.
--
-- expect: verdict=verified states=118 transitions=246 levels=8 deadlocks=0
-- expect: symmetry=exact verdict=verified states=22 transitions=48 levels=8 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=5 states=1285 transitions=3372 levels=22 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=5 states=224 transitions=590 levels=22 deadlocks=0
-- expect: N=4 verdict=verified states=949 transitions=2452 levels=10 deadlocks=0
-- expect: N=4 symmetry=exact verdict=verified states=46 transitions=126 levels=10 deadlocks=0
-- runs: verdict=verified states=233 transitions=555 | --ltl []<> exists p: Process do place[p] = Inside end

const
  N: 3;
  BUG: 0;

type
  Process: scalarset(N);
  Place: enum { Away, Swapped, Waiting, Inside, Leaving };

var
  place: array [Process] of Place;
  before: array [Process] of Process;   -- whom it found at the end of the queue
  after: array [Process] of Process;    -- who has linked itself behind it
  last: Process;                        -- the end of the queue

ruleset p: Process do

  rule "swap in"
    place[p] = Away
  ==>
    before[p] := last;
    last := p;
    undefine after[p];
    place[p] := Swapped;
  end;

  rule "link"
    place[p] = Swapped
  ==>
    if isundefined(before[p]) then
      place[p] := Inside;
    else
      after[before[p]] := p;
      undefine before[p];
      place[p] := Waiting;
    end;
  end;

  rule "leave"
    place[p] = Inside
  ==>
    place[p] := Leaving;
  end;

  rule "nobody waits"
    place[p] = Leaving & isundefined(after[p]) & last = p
  ==>
    undefine last;
    place[p] := Away;
  end;

  rule "hand on"
    place[p] = Leaving & !isundefined(after[p])
  ==>
    assert place[after[p]] = Waiting;
    place[after[p]] := Inside;
    undefine after[p];
    place[p] := Away;
  end;

  rule "hand on too soon"
    BUG = 1 & place[p] = Inside & !isundefined(after[p])
  ==>
    place[after[p]] := Inside;
  end;

end;

startstate
  for p: Process do
    place[p] := Away;
  end;
end;

invariant "one inside"
  forall p: Process do forall q: Process do
    p != q -> !(place[p] = Inside & place[q] = Inside)
  end end;
