-- A list of sharers that is put together by messages: whoever joins stands in front of those who are there.
--
-- Origin: the sharing lists of the Scalable Coherent Interface, D. V. James, A. T. Laundrie, S. Gjessing and
-- G. S. Sohi, "Scalable Coherent Interface", 1990, as far as joining at the head and leaving from there goes. Sending a request to
-- join or to leave is what C. N. Ip and D. L. Dill call a reversible rule in "State reduction using reversible
-- rules", 1996, where lists of cells are the examples.
--
-- Home knows the head alone. Messages overtake one another. BUG=1 lets a cell leave before the one behind it knows that
-- there was somebody in front.
--
-- expect: verdict=verified states=6027 transitions=21147 levels=36 deadlocks=0
-- expect: symmetry=exact verdict=verified states=1034 transitions=3639 levels=36 deadlocks=0
-- expect: BUG=1 symmetry=exact verdict=violated kind=deadlock depth=24 states=103828 transitions=464882 levels=72 deadlocks=2

const
  N: 3;
  BUG: 0;

type
  Cell: scalarset(N);
  Place: enum { Out, Joining, Linking, In, Leaving };
  Ask: enum { Join, Leave };
  Request: record from: Cell; what: Ask; end;
  Answer: enum { None, Joined, Gone, Stay };

var
  place: array [Cell] of Place;
  next: array [Cell] of Cell;         -- who stands behind it
  front: array [Cell] of boolean;     -- whether it knows that somebody is in front
  net: multiset [N] of Request;       -- to home
  answer: array [Cell] of Answer;     -- from home
  behind: array [Cell] of Cell;       -- with it, who was the head
  link: array [Cell] of boolean;      -- somebody is in front of you now
  linked: array [Cell] of boolean;    -- the one behind you knows
  unlink: array [Cell] of boolean;    -- nobody is in front of you any more
  head: Cell;

procedure send(c: Cell; what: Ask);
var r: Request;
begin
  r.from := c;
  r.what := what;
  multisetadd(r, net);
end;

ruleset c: Cell do
  rule "ask to join"
    place[c] = Out
  ==>
    place[c] := Joining;
    send(c, Join);
  end;

  rule "ask to leave"
    place[c] = In & !front[c] & !link[c]
  ==>
    place[c] := Leaving;
    send(c, Leave);
  end;

  rule "stand in front"
    answer[c] = Joined
  ==>
    answer[c] := None;
    if isundefined(behind[c]) then
      place[c] := In;
    else
      next[c] := behind[c];
      link[behind[c]] := true;
      place[c] := BUG = 1 ? In : Linking;
      undefine behind[c];
    end;
  end;

  rule "know that all is linked"
    place[c] = Linking & linked[c]
  ==>
    linked[c] := false;
    place[c] := In;
  end;

  rule "leave"
    answer[c] = Gone
  ==>
    answer[c] := None;
    place[c] := Out;
    if !isundefined(next[c]) then
      unlink[next[c]] := true;
      undefine next[c];
    end;
  end;

  rule "stay"
    answer[c] = Stay
  ==>
    answer[c] := None;
    place[c] := In;
  end;

  rule "learn that nobody is in front"
    unlink[c]
  ==>
    unlink[c] := false;
    front[c] := false;
  end;
end;

ruleset c: Cell; d: Cell do
  rule "learn that somebody is in front"
    link[c] & !front[c] & !unlink[c] & !isundefined(next[d]) & next[d] = c
  ==>
    link[c] := false;
    front[c] := true;
    linked[d] := true;
  end;
end;

choose m: net do
  rule "home looks at a request"
    answer[net[m].from] = None
  ==>
    alias c: net[m].from do
      switch net[m].what
      case Join:
        if !isundefined(head) then behind[c] := head; end;
        head := c;
        answer[c] := Joined;
      case Leave:
        if !isundefined(head) & head = c then
          if isundefined(next[c]) then undefine head; else head := next[c]; end;
          answer[c] := Gone;
        else
          answer[c] := Stay;
        end;
      end;
    end;
    multisetremove(m, net);
  end;
end;

startstate
  for c: Cell do
    place[c] := Out;
    undefine next[c];
    front[c] := false;
    answer[c] := None;
    undefine behind[c];
    link[c] := false;
    linked[c] := false;
    unlink[c] := false;
  end;
  undefine net;
  undefine head;
end;

invariant "the head is in the list"
  isundefined(head) | place[head] != Out;

invariant "nobody stands behind two who stay"
  forall c: Cell do forall d: Cell do
    c = d | isundefined(next[c]) | isundefined(next[d]) | next[c] != next[d]
    | answer[c] = Gone | answer[d] = Gone end end;

invariant "whoever is in the list and alone in it knows"
  forall c: Cell do
    place[c] = In & isundefined(next[c]) & !isundefined(head) & head = c -> !front[c] | unlink[c]
    | exists d: Cell do answer[d] = Gone & !isundefined(next[d]) & next[d] = c end end;

invariant "whoever knows of one in front is not the head, or will hear of it"
  isundefined(head) | !front[head] | unlink[head]
  | exists c: Cell do place[c] = Leaving & answer[c] = Gone end;
