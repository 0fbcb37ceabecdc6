-- Atomic commitment in two phases, over a network that delivers in any order.
--
-- Origin: J. Gray, "Notes on data base operating systems", 1978.
--
-- A coordinator asks N participants; each votes; one that voted yes waits for the decision. The
-- coordinator may give up at any time before it decides. BUG=1 lets it decide to commit when the
-- first vote has come.
--
-- expect: verdict=verified states=289 transitions=711 levels=12 deadlocks=0
-- expect: symmetry=exact verdict=verified states=81 transitions=205 levels=12 deadlocks=0
-- expect: BUG=1 verdict=violated kind=assert depth=5 states=433 transitions=909 levels=12 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=assert depth=5 states=113 transitions=251 levels=12 deadlocks=0
-- expect: N=4 verdict=verified states=1569 transitions=4787 levels=15 deadlocks=0
-- expect: N=4 symmetry=exact verdict=verified states=167 transitions=529 levels=15 deadlocks=0

const
  N: 3;
  BUG: 0;

type
  Participant: scalarset(N);
  Kind: enum { Ask, Yes, No, Commit, Abort };
  Message: record
    kind: Kind;
    who: Participant;
  end;
  State: enum { Working, Ready, Committed, Aborted };

var
  state: array [Participant] of State;
  net: multiset [N] of Message;
  asked: boolean;
  voted: array [Participant] of boolean;
  decision: enum { Open, All, Nobody };

procedure send(kind: Kind; who: Participant);
var m: Message;
begin
  m.kind := kind;
  m.who := who;
  multisetadd(m, net);
end;

procedure decide(kind: Kind);
begin
  multisetremovepred(i: net, true);
  for p: Participant do
    send(kind, p);
  end;
  if kind = Commit then decision := All; else decision := Nobody; end;
end;

rule "begin"
  !asked
==>
  asked := true;
  for p: Participant do
    send(Ask, p);
  end;
end;

rule "commit"
  asked & decision = Open &
  (forall p: Participant do voted[p] end |
   BUG = 1 & exists p: Participant do voted[p] end)
==>
  decide(Commit);
end;

rule "give up"
  asked & decision = Open
==>
  decide(Abort);
end;

choose i: net do
  alias m: net[i] do

    rule "vote"
      m.kind = Ask
    ==>
    var who: Participant;
    begin
      who := m.who;
      multisetremove(i, net);
      state[who] := Ready;
      send(Yes, who);
    end;

    rule "refuse"
      m.kind = Ask
    ==>
    var who: Participant;
    begin
      who := m.who;
      multisetremove(i, net);
      state[who] := Aborted;
      send(No, who);
    end;

    rule "count a vote"
      m.kind = Yes
    ==>
      voted[m.who] := true;
      multisetremove(i, net);
    end;

    rule "hear a refusal"
      m.kind = No
    ==>
      decide(Abort);
    end;

    rule "commit as told"
      m.kind = Commit
    ==>
      assert state[m.who] = Ready "only who is ready commits";
      state[m.who] := Committed;
      multisetremove(i, net);
    end;

    rule "abort as told"
      m.kind = Abort
    ==>
      state[m.who] := Aborted;
      multisetremove(i, net);
    end;

  end;
end;

rule "rest"
  decision != Open & multisetcount(i: net, true) = 0
==>
  -- Begin again.
  for p: Participant do
    state[p] := Working;
    voted[p] := false;
  end;
  asked := false;
  decision := Open;
end;

startstate
  for p: Participant do
    state[p] := Working;
    voted[p] := false;
  end;
  asked := false;
  decision := Open;
end;

invariant "all or nobody"
  !exists p: Participant; q: Participant do state[p] = Committed & state[q] = Aborted end;
