-- Cache coherence by a directory, where each processor has five requests.
--
-- Origin: the full-map directory of L. Censier and P. Feautrier, "A new solution to coherence
-- problems in multicache systems", 1978; requests that only wait for an answer are what C. N. Ip and
-- D. L. Dill call reversible rules in "State reduction using reversible rules", 1996.
--
-- Each of N processors has one request on its way at most, and messages of different processors overtake one
-- another. BUG=1 forgets to take the line from its owner.
--
-- expect: verdict=verified states=4149 transitions=11895 levels=26 deadlocks=0
-- expect: symmetry=exact verdict=verified states=796 transitions=2325 levels=26 deadlocks=0
-- expect: BUG=1 verdict=violated kind=invariant depth=8 states=5589 transitions=16359 levels=26 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=invariant depth=8 states=1044 transitions=3097 levels=26 deadlocks=0

const
  N: 3;
  BUG: 0;

type
  Proc: scalarset(N);
  State: enum { Invalid, Shared, Owned, WaitShared, WaitOwned, WaitMore, GivingShared, GivingOwned };
  Request: enum { Nothing, GetShared, GetOwned, GetMore, GiveShared, GiveOwned };
  Answer: enum { None, HaveShared, HaveOwned, Gone };

var
  state: array [Proc] of State;
  request: array [Proc] of Request;
  recall: array [Proc] of boolean;      -- home wants the line back
  answer: array [Proc] of Answer;
  sharer: array [Proc] of boolean;
  owner: array [Proc] of boolean;
  serving: boolean;                     -- home waits until all have given back what it recalled
  asking: Proc;                         -- for whom
  wants: Answer;                        -- and what for

procedure serve(p: Proc; what: Answer);
begin
  serving := true;
  asking := p;
  wants := what;
end;

ruleset p: Proc do
  rule "ask to share"
    state[p] = Invalid & request[p] = Nothing
  ==>
    state[p] := WaitShared;
    request[p] := GetShared;
  end;

  rule "ask to own"
    state[p] = Invalid & request[p] = Nothing
  ==>
    state[p] := WaitOwned;
    request[p] := GetOwned;
  end;

  rule "ask for more"
    state[p] = Shared & request[p] = Nothing
  ==>
    state[p] := WaitMore;
    request[p] := GetMore;
  end;

  rule "give up the share"
    state[p] = Shared & request[p] = Nothing
  ==>
    state[p] := GivingShared;
    request[p] := GiveShared;
  end;

  rule "write back"
    state[p] = Owned & request[p] = Nothing
  ==>
    state[p] := GivingOwned;
    request[p] := GiveOwned;
  end;

  rule "home lets share"
    !serving & request[p] = GetShared
  ==>
    request[p] := Nothing;
    serve(p, HaveShared);
    for q: Proc do
      if owner[q] & BUG = 0 then recall[q] := true; owner[q] := false; end;
    end;
  end;

  rule "home lets own"
    !serving & (request[p] = GetOwned | request[p] = GetMore)
  ==>
    request[p] := Nothing;
    serve(p, HaveOwned);
    for q: Proc do
      if q != p & (owner[q] | sharer[q]) then recall[q] := true; end;
      owner[q] := false;
      sharer[q] := false;
    end;
  end;

  rule "home takes back"
    !serving & (request[p] = GiveShared | request[p] = GiveOwned) & answer[p] = None
  ==>
    request[p] := Nothing;
    sharer[p] := false;
    owner[p] := false;
    answer[p] := Gone;
  end;

  -- What was answered before arrives before.
  rule "give back"
    recall[p] & answer[p] = None
  ==>
    recall[p] := false;
    switch state[p]
      case Shared, Owned: state[p] := Invalid;
      case WaitMore: state[p] := WaitOwned;
      else
    end;
  end;

  rule "be answered"
    answer[p] != None
  ==>
    switch answer[p]
      case HaveShared: state[p] := Shared;
      case HaveOwned: state[p] := Owned;
      else state[p] := Invalid;
    end;
    answer[p] := None;
  end;
end;

rule "home answers"
  serving & forall q: Proc do !recall[q] end
==>
  alias p: asking do
    answer[p] := wants;
    if wants = HaveOwned then owner[p] := true; else sharer[p] := true; end;
  end;
  serving := false;
  undefine asking;
  undefine wants;
end;

startstate
  for p: Proc do
    state[p] := Invalid;
    request[p] := Nothing;
    recall[p] := false;
    answer[p] := None;
    sharer[p] := false;
    owner[p] := false;
  end;
  serving := false;
end;

invariant "an owner is alone"
  forall p: Proc do state[p] = Owned ->
    forall q: Proc do p = q | (state[q] != Owned & state[q] != Shared) end
  end;
