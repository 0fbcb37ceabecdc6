-- Cache coherence by a directory that talks to each client over three channels of one message.
--
-- Origin: the protocol that Steven German proposed as a challenge for verifiers, 2000, written
-- anew after its description in the literature.
--
-- A client asks for the line shared or exclusive; home invalidates those who must give it up,
-- waits for their answers and grants. BUG=1 forgets that somebody has the line exclusively when
-- another asks to share it.
--
-- expect: N=2 verdict=verified states=3390 transitions=9912 levels=19 deadlocks=0
-- expect: N=2 symmetry=exact verdict=verified states=852 transitions=2491 levels=19 deadlocks=0
-- expect: N=2 BUG=1 verdict=violated kind=invariant depth=8 states=20100 transitions=68708 levels=34 deadlocks=0
-- expect: N=2 BUG=1 symmetry=exact verdict=violated kind=invariant depth=8 states=5037 transitions=17211 levels=34 deadlocks=0
-- expect: verdict=verified states=58104 transitions=235872 levels=27 deadlocks=0
-- expect: symmetry=exact verdict=verified states=5235 transitions=21289 levels=27 deadlocks=0

const
  N: 3;
  VALUES: 2;
  BUG: 0;

type
  Client: scalarset(N);
  Value: scalarset(VALUES);
  State: enum { Invalid, Shared, Exclusive };
  Request: enum { Nothing, AskShared, AskExclusive };
  Order: enum { Quiet, Invalidate, GrantShared, GrantExclusive };

var
  state: array [Client] of State;
  data: array [Client] of Value;
  request: array [Client] of Request;
  order: array [Client] of Order;
  order_data: array [Client] of Value;
  answer: array [Client] of boolean;        -- an acknowledgement is on its way
  answer_data: array [Client] of Value;
  current: Request;
  client: Client;
  shares: array [Client] of boolean;
  to_invalidate: array [Client] of boolean;
  exclusive: boolean;
  memory: Value;
  newest: Value;

ruleset c: Client do

  rule "ask to share"
    request[c] = Nothing & state[c] = Invalid
  ==>
    request[c] := AskShared;
  end;

  rule "ask for all"
    request[c] = Nothing & state[c] != Exclusive
  ==>
    request[c] := AskExclusive;
  end;

  rule "home takes a request"
    current = Nothing & request[c] != Nothing
  ==>
    current := request[c];
    client := c;
    request[c] := Nothing;
    for other: Client do
      to_invalidate[other] := shares[other];
    end;
  end;

  rule "home invalidates"
    to_invalidate[c] & order[c] = Quiet &
    (current = AskExclusive | (current = AskShared & exclusive & BUG = 0))
  ==>
    order[c] := Invalidate;
    to_invalidate[c] := false;
  end;

  rule "give up"
    order[c] = Invalidate & !answer[c]
  ==>
    order[c] := Quiet;
    answer[c] := true;
    if state[c] = Exclusive then
      answer_data[c] := data[c];
    end;
    state[c] := Invalid;
    undefine data[c];
  end;

  rule "home hears"
    answer[c] & current != Nothing
  ==>
    answer[c] := false;
    shares[c] := false;
    if exclusive then
      exclusive := false;
      memory := answer_data[c];
    end;
    undefine answer_data[c];
  end;

  rule "home lets share"
    current = AskShared & (!exclusive | BUG = 1) & client = c & order[c] = Quiet
  ==>
    order[c] := GrantShared;
    order_data[c] := memory;
    shares[c] := true;
    current := Nothing;
    undefine client;
  end;

  rule "home gives all"
    current = AskExclusive & client = c & order[c] = Quiet &
    forall other: Client do !shares[other] end
  ==>
    order[c] := GrantExclusive;
    order_data[c] := memory;
    shares[c] := true;
    exclusive := true;
    current := Nothing;
    undefine client;
  end;

  rule "have it shared"
    order[c] = GrantShared
  ==>
    state[c] := Shared;
    data[c] := order_data[c];
    order[c] := Quiet;
    undefine order_data[c];
  end;

  rule "have all"
    order[c] = GrantExclusive
  ==>
    state[c] := Exclusive;
    data[c] := order_data[c];
    order[c] := Quiet;
    undefine order_data[c];
  end;

  ruleset v: Value do
    rule "store"
      state[c] = Exclusive
    ==>
      data[c] := v;
      newest := v;
    end;
  end;

end;

ruleset v: Value do
  startstate
    for c: Client do
      state[c] := Invalid;
      request[c] := Nothing;
      order[c] := Quiet;
      answer[c] := false;
      shares[c] := false;
      to_invalidate[c] := false;
    end;
    current := Nothing;
    exclusive := false;
    memory := v;
    newest := v;
  end;
end;

invariant "who has all is alone"
  forall c: Client do forall other: Client do
    c != other & state[c] = Exclusive -> state[other] = Invalid
  end end;

invariant "data are the newest"
  forall c: Client do state[c] != Invalid -> data[c] = newest end;

invariant "memory is the newest unless somebody may write"
  !exclusive -> memory = newest;
