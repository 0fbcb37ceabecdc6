-- A lock that forgets its owner.
const N: 2;
type node: 1..N;
  cell: record owner: node; taken: boolean; end;
var lock: cell;
  inside: array [node] of boolean;
  visits: 0..9;

startstate "free" begin
  undefine lock.owner;
  lock.taken := false;
  for i: node do inside[i] := false; end;
  visits := 0;
end;

ruleset i: node do
  rule "enter" !lock.taken & !inside[i] & visits < 9 ==>
  begin
    lock.owner := i;
    inside[i] := true;
    visits := visits + 1;
  end;
  rule "leave" inside[i] ==>
  begin inside[i] := false; end;
end;

invariant "alone" !(inside[1] & inside[2]);
