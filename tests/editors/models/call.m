-- A function refuses what a rule gives it.
var x: 0..3;

function next(y: 0..3): 0..3;
begin
  assert "small" y < 2;
  return y + 1;
end;

startstate begin x := 0; end;

rule "go" x < 3 ==> begin x := next(x); end;
