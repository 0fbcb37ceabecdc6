-- Cache coherence with three states (modified, shared, invalid), kept by snooping on a bus.
--
-- Origin: the invalidation protocols surveyed in J. Archibald and J.-L. Baer, "Cache coherence
-- protocols: evaluation using a multiprocessor simulation model", 1986.
--
-- N caches hold one line of a memory of one cell, which takes VALUES values. A transaction on the
-- bus is one step: all caches react at once. BUG=1 lets a modified cache answer a read without
-- writing back.
--
-- expect: verdict=verified states=28 transitions=180 levels=4 deadlocks=0
-- expect: symmetry=exact verdict=verified states=6 transitions=38 levels=4 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=3 states=74 transitions=462 levels=7 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=3 states=14 transitions=87 levels=7 deadlocks=0
-- expect: N=4 verdict=verified states=48 transitions=400 levels=5 deadlocks=0
-- expect: N=4 symmetry=exact verdict=verified states=7 transitions=58 levels=5 deadlocks=0

const
  N: 3;
  VALUES: 2;
  BUG: 0;

type
  Cache: scalarset(N);
  Value: scalarset(VALUES);
  Line: enum { Invalid, Shared, Modified };

var
  line: array [Cache] of Line;
  copy: array [Cache] of Value;     -- undefined where the line is invalid
  memory: Value;
  newest: Value;                    -- what was written last, by anyone

procedure write_back(c: Cache);
begin
  if line[c] = Modified then
    memory := copy[c];
  end;
end;

ruleset c: Cache do

  rule "read"
    line[c] = Invalid
  ==>
  begin
    for other: Cache do
      if other != c & line[other] = Modified then
        if BUG = 0 then write_back(other); end;
        line[other] := Shared;
      end;
    end;
    line[c] := Shared;
    copy[c] := memory;
  end;

  ruleset v: Value do
    rule "write"
      line[c] = Modified
    ==>
      copy[c] := v;
      newest := v;
    end;
  end;

  rule "own"
    line[c] != Modified
  ==>
  begin
    for other: Cache do
      if other != c then
        write_back(other);
        line[other] := Invalid;
        undefine copy[other];
      end;
    end;
    line[c] := Modified;
    copy[c] := memory;
  end;

  rule "evict"
    line[c] != Invalid
  ==>
    write_back(c);
    line[c] := Invalid;
    undefine copy[c];
  end;

end;

ruleset v: Value do
  startstate "all invalid"
    for c: Cache do
      line[c] := Invalid;
    end;
    memory := v;
    newest := v;
  end;
end;

invariant "one writer"
  forall c: Cache do
    line[c] = Modified ->
      forall other: Cache do other != c -> line[other] = Invalid end
  end;

invariant "what is read was written last"
  forall c: Cache do line[c] != Invalid -> copy[c] = newest end;
