-- Cache coherence of clusters by a directory, over a network that keeps no order.
--
-- Origin: a small relative of the DASH protocol of D. Lenoski, J. Laudon, K. Gharachorloo, A. Gupta and
-- J. Hennessy, "The directory-based cache coherence protocol for the DASH multiprocessor", 1990: requests go to
-- home as messages in any order, home passes them on to a cluster that has the line dirty, and tells clusters
-- that share it to give it up. Sending a request is what C. N. Ip and D. L. Dill call a reversible rule in
-- "State reduction using reversible rules", 1996.
--
-- Each of N clusters has one request on its way at most. BUG=1 lets a cluster write before all others have given up
-- their copies.
--
-- expect: verdict=verified states=2344 transitions=6288 levels=25 deadlocks=0
-- expect: symmetry=exact verdict=verified states=451 transitions=1238 levels=25 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=8 states=72803 transitions=299289 levels=33 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=8 states=12619 transitions=51808 levels=33 deadlocks=0

const
  N: 3;
  BUG: 0;

type
  Cluster: scalarset(N);
  Line: enum { Invalid, Shared, Dirty };
  Want: enum { ReadIt, WriteIt, GiveBack };
  Request: record from: Cluster; want: Want; end;
  Answer: enum { None, Copy, Own, Done };

var
  line: array [Cluster] of Line;
  waits: array [Cluster] of boolean;      -- for an answer from home
  net: multiset [N] of Request;
  answer: array [Cluster] of Answer;
  give_up: array [Cluster] of boolean;    -- home or an owner wants the copy gone
  share: array [Cluster] of boolean;      -- home wants the dirty line back, and lets it stay shared
  shares: array [Cluster] of boolean;     -- what the directory knows
  dirty: array [Cluster] of boolean;
  busy: boolean;                          -- home collects copies
  served: Cluster;                        -- for whom
  writes: boolean;                        -- who wants to write

procedure send(c: Cluster; want: Want);
var r: Request;
begin
  r.from := c;
  r.want := want;
  multisetadd(r, net);
  waits[c] := true;
end;

function collected(): boolean;
begin
  return forall c: Cluster do !give_up[c] & !share[c] end;
end;

ruleset c: Cluster do
  rule "ask to read"
    line[c] = Invalid & !waits[c]
  ==>
    send(c, ReadIt);
  end;

  rule "ask to write"
    line[c] != Dirty & !waits[c]
  ==>
    send(c, WriteIt);
  end;

  rule "ask to write back"
    line[c] = Dirty & !waits[c]
  ==>
    send(c, GiveBack);
  end;

  rule "take the answer"
    waits[c] & answer[c] != None & !give_up[c] & !share[c]
  ==>
    switch answer[c]
    case Copy: line[c] := Shared;
    case Own: line[c] := Dirty;
    end;
    answer[c] := None;
    waits[c] := false;
  end;

  rule "give up the copy"
    give_up[c]
  ==>
    -- An answer that is overtaken counts for nothing but to be asked for again.
    if answer[c] = Copy | answer[c] = Own then
      answer[c] := None;
      waits[c] := false;
    end;
    line[c] := Invalid;
    shares[c] := false;
    dirty[c] := false;
    give_up[c] := false;
  end;

  rule "share what is dirty"
    share[c]
  ==>
    if answer[c] = Own then
      answer[c] := Copy;
    else
      line[c] := Shared;
    end;
    dirty[c] := false;
    shares[c] := true;
    share[c] := false;
  end;
end;

choose m: net do
  rule "home looks at a request"
    !busy
  ==>
    alias r: net[m]; c: net[m].from do
      switch r.want
      case GiveBack:
        if dirty[c] then
          line[c] := Invalid;
          dirty[c] := false;
        end;
        answer[c] := Done;
      case ReadIt:
        busy := true;
        served := c;
        writes := false;
        for d: Cluster do
          if d != c & dirty[d] then share[d] := true; end;
        end;
      case WriteIt:
        busy := true;
        served := c;
        writes := true;
        for d: Cluster do
          if d != c & (dirty[d] | shares[d]) then give_up[d] := true; end;
        end;
      end;
    end;
    multisetremove(m, net);
  end;
end;

rule "home answers"
  busy & (collected() | BUG = 1)
==>
  if writes then
    answer[served] := Own;
    shares[served] := false;
    dirty[served] := true;
  else
    answer[served] := Copy;
    shares[served] := true;
  end;
  busy := false;
  undefine served;
  writes := false;
end;

startstate
  for c: Cluster do
    line[c] := Invalid;
    waits[c] := false;
    answer[c] := None;
    give_up[c] := false;
    share[c] := false;
    shares[c] := false;
    dirty[c] := false;
  end;
  undefine net;
  busy := false;
  undefine served;
  writes := false;
end;

invariant "one writer, or readers"
  forall c: Cluster do
    line[c] = Dirty -> forall d: Cluster do d = c | line[d] = Invalid end
  end;

invariant "the directory knows"
  forall c: Cluster do
    (line[c] = Shared -> shares[c] | dirty[c]) & (line[c] = Dirty -> dirty[c])
  end;
