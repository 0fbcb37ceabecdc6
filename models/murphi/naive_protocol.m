-- A naive protocol: A sends B a session key under a key that both share for long, and B tells a secret under the session key. The
-- intruder hears everything, says again what it heard, and has broken the first BROKEN session keys: B takes an old one for new.
--
-- Origin: after D. Denning and G. Sacco, "Timestamps in key distribution protocols", 1981; a "naive protocol" is among the models of
-- R. Pelánek, "On-the-fly state space reductions", 2005.
--
-- Who knows more, and has begun less often, can do whatever others can (--reduce dominate --no-deadlock).
--
-- expect: verdict=violated kind=invariant depth=5 states=3721 transitions=15329 levels=26 deadlocks=0
-- expect: BROKEN=0 verdict=verified states=1717 transitions=4911 levels=24 deadlocks=0

const
  KEYS: 3;      -- session keys
  BROKEN: 1;
  RUNS: 8;      -- that A begins, at most

type
  Key: 1..KEYS;
  Count: 0..RUNS;

var
  heard: array [Key] of boolean;   -- the intruder has heard the key, still under the long key
  knows: array [Key] of boolean;   -- it can read what is said under the key
  said: array [Key] of boolean;    -- it has heard the secret under the key
  a_uses: 0..KEYS;                 -- the key that A uses, or none
  b_uses: 0..KEYS;
  runs: Count;                     -- that A begins
  leaked: boolean;

startstate
begin
  for k: Key do
    heard[k] := false;
    knows[k] := false;
    said[k] := false;
  end;
  a_uses := 0;
  b_uses := 0;
  runs := 0;
  leaked := false;
end;

ruleset k: Key do
  -- A takes a key and sends it, and everybody hears that.
  rule "begin"
    a_uses = 0 & runs < RUNS
  ==>
  begin
    a_uses := k;
    heard[k] := true;
    runs := runs + 1;
  end;

  -- B takes whatever is sent under the long key, be it old.
  rule "take"
    b_uses = 0 & heard[k]
  ==>
  begin
    b_uses := k;
  end;

  rule "break"
    heard[k] & k <= BROKEN
  ==>
  begin
    knows[k] := true;
  end;

  -- B tells the secret under the key that it uses.
  rule "tell"
    b_uses = k
  ==>
  begin
    said[k] := true;
    b_uses := 0;
  end;

  rule "end"
    a_uses = k
  ==>
  begin
    a_uses := 0;
  end;

  rule "read"
    said[k] & knows[k]
  ==>
  begin
    leaked := true;
  end;
end;

invariant "secret"
  !leaked;
