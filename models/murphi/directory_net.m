-- Cache coherence by a directory, over a network that delivers in any order.
--
-- Origin: the full-map directory of L. Censier and P. Feautrier, "A new solution to coherence
-- problems in multicache systems", 1978, with home blocking while a request is served.
--
-- Nodes are the home and N processors: a union. The network is a multiset of at most NET messages.
-- BUG=1 grants before all others have acknowledged that they gave up the line.
--
-- expect: verdict=verified states=61 transitions=112 levels=8 deadlocks=0
-- expect: symmetry=exact verdict=verified states=32 transitions=60 levels=8 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=6 states=520 transitions=1100 levels=32 deadlocks=12
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=6 states=264 transitions=557 levels=32 deadlocks=7
-- expect: N=3 verdict=verified states=259 transitions=558 levels=8 deadlocks=0
-- expect: N=3 symmetry=exact verdict=verified states=50 transitions=118 levels=8 deadlocks=0

const
  N: 2;
  NET: N + 2;
  BUG: 0;

type
  Proc: scalarset(N);
  Home: enum { TheHome };
  Node: union { Home, Proc };
  Kind: enum { GetShared, GetOwned, Data, DataOwned, Give, Gave };
  Message: record
    kind: Kind;
    src: Node;
    dst: Node;
  end;
  State: enum { Invalid, Shared, Owned, WaitShared, WaitOwned };

var
  state: array [Proc] of State;
  sharers: multiset [N] of Proc;
  asking: Proc;                   -- whose request home serves
  wants: Kind;                    -- and what it asks for
  waiting: 0..N;                  -- acknowledgements that home waits for
  net: multiset [NET] of Message;

procedure send(kind: Kind; src: Node; dst: Node);
var m: Message;
begin
  m.kind := kind;
  m.src := src;
  m.dst := dst;
  multisetadd(m, net);
end;

function has_line(p: Proc): boolean;
begin
  return multisetcount(i: sharers, sharers[i] = p) > 0;
end;

-- Home gives the line to whom it asked for, and is free again.
procedure grant();
begin
  if wants = GetShared then
    send(Data, TheHome, asking);
  else
    send(DataOwned, TheHome, asking);
  end;
  if !has_line(asking) then
    multisetadd(asking, sharers);
  end;
  undefine asking;
  undefine wants;
end;

ruleset p: Proc do

  rule "ask to share"
    state[p] = Invalid & multisetcount(i: net, true) < NET - N
  ==>
    state[p] := WaitShared;
    send(GetShared, p, TheHome);
  end;

  rule "ask to own"
    state[p] = Invalid & multisetcount(i: net, true) < NET - N
  ==>
    state[p] := WaitOwned;
    send(GetOwned, p, TheHome);
  end;

end;

choose i: net do
  alias m: net[i]; kind: net[i].kind do

    rule "home serves a request"
      m.dst = TheHome & (kind = GetShared | kind = GetOwned) & isundefined(asking)
    ==>
    begin
      asking := m.src;
      wants := kind;
      multisetremove(i, net);
      -- Whoever has the line gives it up first.
      waiting := 0;
      for p: Proc do
        if has_line(p) then
          waiting := waiting + 1;
          send(Give, TheHome, p);
        end;
      end;
      if waiting = 0 | BUG = 1 then
        grant();
      end;
    end;

    rule "home hears that one gave up"
      m.dst = TheHome & kind = Gave
    ==>
    begin
      multisetremovepred(s: sharers, sharers[s] = m.src);
      multisetremove(i, net);
      if waiting > 0 then
        waiting := waiting - 1;
        if waiting = 0 & !isundefined(asking) then
          grant();
        end;
      end;
    end;

    rule "a processor hears"
      ismember(m.dst, Proc)
    ==>
    var p: Proc;
    begin
      p := m.dst;
      switch kind
      case Data:
        assert state[p] = WaitShared "shared data were asked for";
        state[p] := Shared;
      case DataOwned:
        assert state[p] = WaitOwned "the line was asked for";
        state[p] := Owned;
      case Give:
        -- It may come before the data that it is about: then it waits.
        if state[p] = WaitShared | state[p] = WaitOwned then
          return;
        end;
        state[p] := Invalid;
        send(Gave, p, TheHome);
      else
        error "this is for home";
      end;
      multisetremove(i, net);
    end;

  end;
end;

startstate
  for p: Proc do
    state[p] := Invalid;
  end;
  waiting := 0;
end;

invariant "who owns is alone"
  forall p: Proc do forall q: Proc do
    p != q & state[p] = Owned -> state[q] != Owned & state[q] != Shared
  end end;
