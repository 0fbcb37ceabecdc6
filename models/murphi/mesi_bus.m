-- Cache coherence with four states (modified, exclusive, shared, invalid) on a split bus.
--
-- Origin: M. Papamarcos and J. Patel, "A low-overhead coherence solution for multiprocessors with
-- private cache memories", 1984.
--
-- N caches share one line. A cache asks for the bus, gets it, and the others answer one by one
-- before the transaction ends: what they say decides whether the line comes exclusive. BUG=1 lets
-- a cache forget to give up an exclusive line that somebody else reads.
--
-- expect: verdict=verified states=1241 transitions=3417 levels=21 deadlocks=0
-- expect: symmetry=exact verdict=verified states=240 transitions=685 levels=21 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=10 states=1697 transitions=4701 levels=21 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=10 states=318 transitions=908 levels=21 deadlocks=0
-- expect: N=4 verdict=verified states=13761 transitions=51364 levels=31 deadlocks=0
-- expect: N=4 symmetry=exact verdict=verified states=804 transitions=3089 levels=31 deadlocks=0

const
  N: 3;
  BUG: 0;

type
  Cache: scalarset(N);
  Line: enum { Invalid, Shared, Exclusive, Modified };
  Wish: enum { None, Read, Write };

var
  line: array [Cache] of Line;
  wish: array [Cache] of Wish;
  owner: Cache;                       -- of the bus, or nobody
  answered: array [Cache] of boolean;
  sharers: boolean;                   -- whether anybody had the line

ruleset c: Cache do

  rule "wish to read"
    wish[c] = None & line[c] = Invalid
  ==>
    wish[c] := Read;
  end;

  rule "wish to write"
    wish[c] = None & (line[c] = Invalid | line[c] = Shared)
  ==>
    wish[c] := Write;
  end;

  rule "write silently"
    wish[c] = None & line[c] = Exclusive
  ==>
    line[c] := Modified;
  end;

  rule "drop"
    wish[c] = None & line[c] != Invalid & isundefined(owner)
  ==>
    line[c] := Invalid;
  end;

  rule "take the bus"
    isundefined(owner) & wish[c] != None
  ==>
    owner := c;
    sharers := false;
    for other: Cache do
      answered[other] := other = c;
    end;
  end;

  rule "answer"
    !isundefined(owner) & !answered[c]
  ==>
    if line[c] != Invalid then
      sharers := true;
      if wish[owner] = Write then
        line[c] := Invalid;
      elsif !(BUG = 1 & line[c] = Exclusive) then
        line[c] := Shared;
      end;
    end;
    answered[c] := true;
  end;

  rule "end the transaction"
    !isundefined(owner) & owner = c & forall other: Cache do answered[other] end
  ==>
    if wish[c] = Write then
      line[c] := Modified;
    elsif sharers then
      line[c] := Shared;
    else
      line[c] := Exclusive;
    end;
    wish[c] := None;
    undefine owner;
    sharers := false;
    for other: Cache do
      answered[other] := false;
    end;
  end;

end;

startstate
  for c: Cache do
    line[c] := Invalid;
    wish[c] := None;
    answered[c] := false;
  end;
  sharers := false;
end;

invariant "one owner"
  forall c: Cache do forall other: Cache do
    (line[c] = Modified | line[c] = Exclusive) & c != other -> line[other] = Invalid
  end end;
