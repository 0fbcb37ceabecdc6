-- A memory is copied to replicas, entry by entry, and replicas lose what they have not made durable.
--
-- Origin: the state machine approach (L. Lamport, "Time, clocks, and the ordering of events in a
-- distributed system", 1978), written for Spillway as a model of wide states: SIZE bytes for the
-- memory and for each of N copies, of which WRITES are used.
--
-- The primary writes its memory in a fixed order. Replicas copy the entries in that order, each at its
-- own pace, and now and then make durable what they have; a crash clears the rest. When all have
-- everything, all begin anew. BUG=1 has a replica that crashes believe that it still has what it lost.
--
-- expect: verdict=verified states=1435 transitions=6461 levels=20 deadlocks=0
-- expect: symmetry=exact verdict=verified states=756 transitions=3403 levels=20 deadlocks=0
-- expect: BUG=1 WRITES=3 verdict=violated kind=invariant depth=3 states=5438 transitions=18412 levels=24 deadlocks=0
-- expect: BUG=1 WRITES=3 symmetry=exact verdict=violated kind=invariant depth=3 states=2772 transitions=9395 levels=24 deadlocks=0
-- scale: SIZE=1700 WRITES=12 verdict=verified states=36582 transitions=202307 levels=41 deadlocks=0

const
  SIZE: 350;
  N: 2;
  WRITES: 5;
  STRIDE: 7;                      -- from one entry to the next
  BUG: 0;

type
  Replica: scalarset(N);
  Place: 0..SIZE - 1;
  Count: 0..WRITES;
  Memory: array [Place] of 0..255;

var
  primary: Memory;
  written: Count;
  copy: array [Replica] of Memory;
  applied: array [Replica] of Count;
  durable: array [Replica] of Count;
  up: array [Replica] of boolean;

function place(entry: Count): Place;
begin
  return (entry * STRIDE) % SIZE;
end;

procedure begin_anew();
begin
  for i: Place do
    primary[i] := 0;
  end;
  written := 0;
  for r: Replica do
    for i: Place do
      copy[r][i] := 0;
    end;
    applied[r] := 0;
    durable[r] := 0;
    up[r] := true;
  end;
end;

rule "the primary writes"
  written < WRITES
==>
  primary[place(written)] := (written * 37 + 11) % 256;
  written := written + 1;
end;

ruleset r: Replica do

  rule "a replica copies an entry"
    up[r] & applied[r] < written
  ==>
    copy[r][place(applied[r])] := primary[place(applied[r])];
    applied[r] := applied[r] + 1;
  end;

  rule "a replica makes its entries durable"
    up[r] & durable[r] < applied[r]
  ==>
    durable[r] := applied[r];
  end;

  rule "a replica crashes"
    up[r]
  ==>
    up[r] := false;
    for entry: 0..WRITES - 1 do
      if entry >= durable[r] then
        copy[r][place(entry)] := 0;
      end;
    end;
    if BUG = 0 then
      applied[r] := durable[r];
    end;
  end;

  rule "a replica starts again"
    !up[r]
  ==>
    up[r] := true;
  end;

end;

rule "all begin anew"
  written = WRITES & forall r: Replica do up[r] & durable[r] = WRITES end
==>
  begin_anew();
end;

startstate
  begin_anew();
end;

invariant "what a replica has is what was written"
  forall r: Replica do
    forall entry: 0..WRITES - 1 do
      entry < applied[r] -> copy[r][place(entry)] = primary[place(entry)]
    end
  end;
