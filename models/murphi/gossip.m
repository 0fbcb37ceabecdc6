-- Gossip: N persons know a secret each; whoever calls another shares all that both know.
--
-- Origin: B. Baker and R. Shostak, "Gossips and telephones", 1972.
--
-- What is known is a relation among persons, so orbits are graphs, which are hard to tell apart.
-- The shortest way to violate the invariant is a shortest plan: 2N - 4 calls.
--
-- expect: verdict=violated kind=invariant depth=4 states=189 transitions=2269 levels=5 deadlocks=0
-- expect: symmetry=exact verdict=violated kind=invariant depth=4 states=16 transitions=193 levels=5 deadlocks=0
-- expect: N=5 verdict=violated kind=invariant depth=6 states=9152 transitions=183041 levels=7 deadlocks=0
-- expect: N=5 symmetry=exact verdict=violated kind=invariant depth=6 states=111 transitions=2221 levels=7 deadlocks=0

const
  N: 4;

type
  Person: scalarset(N);

var
  knows: array [Person] of array [Person] of boolean;

ruleset p: Person; q: Person do
  rule "call"
    p != q
  ==>
  begin
    for secret: Person do
      if knows[p][secret] | knows[q][secret] then
        knows[p][secret] := true;
        knows[q][secret] := true;
      end;
    end;
  end;
end;

rule "another day"
  forall p: Person do forall q: Person do knows[p][q] end end
==>
  for p: Person; q: Person do
    knows[p][q] := p = q;
  end;
end;

startstate
  for p: Person; q: Person do
    knows[p][q] := p = q;
  end;
end;

invariant "somebody knows not all"
  exists p: Person; q: Person do !knows[p][q] end;
