-- Mutual exclusion by tickets.
--
-- Origin: D. Reed and R. Kanodia, "Synchronization with eventcounts and sequencers", 1979.
--
-- N processes draw tickets from a counter that goes round after SIZE. With SIZE < N two processes
-- can hold the same ticket: define SIZE=2 to see it.
--
-- expect: verdict=verified states=516 transitions=1008 levels=15 deadlocks=0
-- expect: symmetry=exact verdict=verified states=36 transitions=96 levels=15 deadlocks=0
-- expect: SIZE=2 verdict=violated kind=invariant depth=5 states=994 transitions=3136 levels=20 deadlocks=0
-- expect: SIZE=2 symmetry=exact verdict=violated kind=invariant depth=5 states=94 transitions=296 levels=20 deadlocks=0
-- expect: N=5 verdict=verified states=3255 transitions=6475 levels=19 deadlocks=0
-- expect: N=5 symmetry=exact verdict=verified states=55 transitions=175 levels=19 deadlocks=0
-- runs: N=3 verdict=verified states=164 transitions=396 | --ltl []<> serving = 0
-- runs: N=3 verdict=violated | --ltl <>[] serving = 0

const
  N: 4;
  SIZE: N;

type
  Process: scalarset(N);
  Ticket: 0..SIZE - 1;
  Place: enum { Away, Drawn, Inside };

var
  place: array [Process] of Place;
  ticket: array [Process] of Ticket;
  next: Ticket;
  serving: Ticket;

ruleset p: Process do

  rule "draw"
    place[p] = Away
  ==>
    ticket[p] := next;
    next := (next + 1) % SIZE;
    place[p] := Drawn;
  end;

  rule "enter"
    place[p] = Drawn & ticket[p] = serving
  ==>
    place[p] := Inside;
  end;

  rule "leave"
    place[p] = Inside
  ==>
    place[p] := Away;
    undefine ticket[p];
    serving := (serving + 1) % SIZE;
  end;

end;

startstate
  for p: Process do
    place[p] := Away;
  end;
  next := 0;
  serving := 0;
end;

invariant "one inside"
  forall p: Process do forall q: Process do
    p != q -> !(place[p] = Inside & place[q] = Inside)
  end end;
