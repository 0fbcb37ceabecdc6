-- Dining philosophers.
--
-- Origin: E. W. Dijkstra, "Hierarchical ordering of sequential processes", 1971.
--
-- N philosophers sit in a ring, which has no scalarset's symmetry. All take the left fork first,
-- and may starve; with POLITE=1 the last one takes the right fork first.
--
-- expect: verdict=violated kind=deadlock depth=5 states=82 transitions=265 levels=6 deadlocks=1
-- expect: POLITE=1 verdict=verified states=70 transitions=219 levels=6 deadlocks=0
-- expect: N=7 POLITE=1 verdict=verified states=408 transitions=1804 levels=8 deadlocks=0

const
  N: 5;
  POLITE: 0;

type
  Seat: 0..N - 1;
  State: enum { Thinking, OneFork, Eating };

var
  state: array [Seat] of State;
  taken: array [Seat] of boolean;     -- fork i is to the left of seat i

function first(s: Seat): Seat;
begin
  if POLITE = 1 & s = N - 1 then
    return (s + 1) % N;
  end;
  return s;
end;

function second(s: Seat): Seat;
begin
  return first(s) = s ? (s + 1) % N : s;
end;

ruleset s: Seat do

  rule "take one"
    state[s] = Thinking & !taken[first(s)]
  ==>
    taken[first(s)] := true;
    state[s] := OneFork;
  end;

  rule "take the other"
    state[s] = OneFork & !taken[second(s)]
  ==>
    taken[second(s)] := true;
    state[s] := Eating;
  end;

  rule "put both back"
    state[s] = Eating
  ==>
    taken[s] := false;
    taken[(s + 1) % N] := false;
    state[s] := Thinking;
  end;

end;

startstate
  for s: Seat do
    state[s] := Thinking;
    taken[s] := false;
  end;
end;

invariant "neighbours do not eat together"
  forall s: Seat do !(state[s] = Eating & state[(s + 1) % N] = Eating) end;
