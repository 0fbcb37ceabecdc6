-- Cache coherence with five states (modified, owned, exclusive, shared, invalid), values checked.
--
-- Origin: P. Sweazey and A. Smith, "A class of compatible cache consistency protocols and their
-- support by the IEEE Futurebus", 1986.
--
-- Each transaction on the bus is one step. An owned line may be shared though memory is stale: its
-- owner answers. BUG=1 lets memory answer all the same.
--
-- expect: verdict=verified states=82 transitions=522 levels=5 deadlocks=0
-- expect: symmetry=exact verdict=verified states=13 transitions=81 levels=5 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=3 states=118 transitions=786 levels=7 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=3 states=18 transitions=118 levels=7 deadlocks=0
-- expect: N=5 verdict=verified states=414 transitions=4370 levels=7 deadlocks=0
-- expect: N=5 symmetry=exact verdict=verified states=19 transitions=191 levels=7 deadlocks=0

const
  N: 3;
  VALUES: 2;
  BUG: 0;

type
  Cache: scalarset(N);
  Value: scalarset(VALUES);
  Line: enum { Invalid, Shared, Exclusive, Owned, Modified };

var
  line: array [Cache] of Line;
  copy: array [Cache] of Value;
  memory: Value;
  newest: Value;

function is_dirty(c: Cache): boolean;
begin
  return line[c] = Modified | line[c] = Owned;
end;

-- What the bus answers a read with.
function answer(): Value;
begin
  for c: Cache do
    if is_dirty(c) & BUG = 0 then
      return copy[c];
    end;
  end;
  return memory;
end;

ruleset c: Cache do

  rule "read"
    line[c] = Invalid
  ==>
  var alone: boolean;
  begin
    alone := true;
    copy[c] := answer();
    for other: Cache do
      if other != c & line[other] != Invalid then
        alone := false;
        if line[other] = Modified then
          line[other] := Owned;
        elsif line[other] = Exclusive then
          line[other] := Shared;
        end;
      end;
    end;
    line[c] := alone ? Exclusive : Shared;
  end;

  ruleset v: Value do
    rule "write"
      line[c] != Invalid
    ==>
    begin
      for other: Cache do
        if other != c then
          line[other] := Invalid;
          undefine copy[other];
        end;
      end;
      line[c] := Modified;
      copy[c] := v;
      newest := v;
    end;
  end;

  rule "evict"
    line[c] != Invalid
  ==>
    if is_dirty(c) then
      memory := copy[c];
    end;
    line[c] := Invalid;
    undefine copy[c];
  end;

end;

ruleset v: Value do
  startstate
    for c: Cache do
      line[c] := Invalid;
    end;
    memory := v;
    newest := v;
  end;
end;

invariant "at most one is dirty"
  forall c: Cache do forall other: Cache do c != other & is_dirty(c) -> !is_dirty(other) end end;

invariant "what is read was written last"
  forall c: Cache do line[c] != Invalid -> copy[c] = newest end;
