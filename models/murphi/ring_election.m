-- Election of a leader in a ring of processes that know their own number only.
--
-- Origin: E. Chang and R. Roberts, "An improved algorithm for decentralized extrema-finding in
-- circular configurations of processes", 1979.
--
-- N processes begin when they like. The start states number them from any seat on, either way
-- round. BUG=1 lets a process pass on numbers less than its own too.
--
-- expect: verdict=verified states=1168 transitions=3356 levels=12 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=5 states=10368 transitions=28536 levels=21 deadlocks=0
-- expect: N=5 verdict=verified states=7000 transitions=25545 levels=17 deadlocks=0
-- runs: N=3 verdict=verified states=216 transitions=426 | --ltl <> exists s: Seat do leader[s] end

const
  N: 4;
  BUG: 0;

type
  Seat: 0..N - 1;
  Number: 1..N;

var
  number: array [Seat] of Number;
  begun: array [Seat] of boolean;
  leader: array [Seat] of boolean;
  link: array [Seat] of multiset [N] of Number;   -- on its way to the seat

function next(s: Seat): Seat;
begin
  return (s + 1) % N;
end;

ruleset s: Seat do

  rule "begin"
    !begun[s]
  ==>
    begun[s] := true;
    multisetadd(number[s], link[next(s)]);
  end;

  choose i: link[s] do
    rule "receive"
      true
    ==>
    var n: Number;
    begin
      n := link[s][i];
      multisetremove(i, link[s]);
      if n = number[s] then
        leader[s] := true;
      elsif n > number[s] | BUG = 1 then
        begun[s] := true;
        multisetadd(n, link[next(s)]);
      end;
    end;
  end;

end;

rule "begin again"
  forall s: Seat do begun[s] & multisetcount(i: link[s], true) = 0 end
==>
  for s: Seat do
    begun[s] := false;
    leader[s] := false;
  end;
end;

ruleset first: Number; step: 1..2 do
  startstate "numbers in some order"
    for s: Seat do
      number[s] := (first - 1 + s * (step = 1 ? 1 : N - 1)) % N + 1;
      begun[s] := false;
      leader[s] := false;
    end;
  end;
end;

invariant "one leader, the greatest"
  forall s: Seat do leader[s] -> number[s] = N end;
