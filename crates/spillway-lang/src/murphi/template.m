-- Some processes that share something, and never use it at a time: whoever holds the token may.
--
--     spillway check NAME.m
--
-- visits every reachable state and says whether an invariant fails or nothing can be done any more.
-- Take `held := true` out of the first rule to see a counterexample.

const
  Workers: 3;

type
  -- Members of a scalarset are alike: of states that differ only in who is who, one is enough.
  Worker: scalarset(Workers);
  Place: enum { Idle, Waiting, Inside };

var
  at: array [Worker] of Place;
  held: boolean;

startstate "nobody wants in"
begin
  for w: Worker do at[w] := Idle; end;
  held := false;
end;

-- A rule can be applied in any state where what is before `==>` holds.
ruleset w: Worker do
  rule "go in" at[w] = Waiting & !held ==>
  begin
    held := true;
    at[w] := Inside;
  end;

  rule "want in" at[w] = Idle ==>
  begin
    at[w] := Waiting;
  end;

  rule "go out" at[w] = Inside ==>
  begin
    held := false;
    at[w] := Idle;
  end;
end;

invariant "only one is inside"
  forall v: Worker do
    forall w: Worker do
      at[v] = Inside & at[w] = Inside -> v = w
    end
  end;
