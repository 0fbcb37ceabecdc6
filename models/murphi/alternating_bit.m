-- The alternating bit protocol over channels that lose messages.
--
-- Origin: K. Bartlett, R. Scantlebury and P. Wilkinson, "A note on reliable full-duplex
-- transmission over half-duplex links", 1969.
--
-- Messages carry one of VALUES values. The channels keep order, hold SIZE messages and may lose the
-- first. With ORDER=0 they do not keep order: then one bit is not enough.
--
-- expect: verdict=verified states=198 transitions=740 levels=19 deadlocks=0
-- expect: symmetry=exact verdict=verified states=102 transitions=380 levels=19 deadlocks=0
-- expect: ORDER=0 verdict=violated kind=assert depth=9 states=626 transitions=2812 levels=23 deadlocks=0
-- expect: ORDER=0 symmetry=exact verdict=violated kind=assert depth=9 states=318 transitions=1426 levels=23 deadlocks=0
-- expect: SIZE=3 verdict=verified states=460 transitions=1892 levels=23 deadlocks=0
-- expect: SIZE=3 symmetry=exact verdict=verified states=234 transitions=960 levels=23 deadlocks=0

const
  VALUES: 2;
  SIZE: 2;
  ORDER: 1;

type
  Bit: 0..1;
  Value: scalarset(VALUES);
  Message: record
    bit: Bit;
    value: Value;
  end;
  Count: 0..SIZE;
  Slot: 0..SIZE - 1;

var
  there: array [Slot] of Message;
  there_count: Count;
  back: array [Slot] of Bit;
  back_count: Count;
  sender: Bit;
  sending: Value;               -- undefined between two messages
  receiver: Bit;
  expected: Value;              -- what must be delivered next

procedure drop_there(at: Slot);
begin
  for i: Slot do
    if i >= at & i < SIZE - 1 then
      there[i] := there[i + 1];
    end;
  end;
  undefine there[there_count - 1];
  there_count := there_count - 1;
end;

procedure drop_back(at: Slot);
begin
  for i: Slot do
    if i >= at & i < SIZE - 1 then
      back[i] := back[i + 1];
    end;
  end;
  undefine back[back_count - 1];
  back_count := back_count - 1;
end;

procedure acknowledge(bit: Bit);
begin
  if back_count < SIZE then
    back[back_count] := bit;
    back_count := back_count + 1;
  end;
end;

ruleset v: Value do
  rule "accept a message"
    isundefined(sending)
  ==>
    sending := v;
    expected := v;
  end;
end;

rule "send"
  !isundefined(sending) & there_count < SIZE
==>
  there[there_count].bit := sender;
  there[there_count].value := sending;
  there_count := there_count + 1;
end;

ruleset i: Slot do

  rule "receive"
    i < there_count & (i = 0 | ORDER = 0)
  ==>
  var m: Message;
  begin
    m := there[i];
    drop_there(i);
    if m.bit = receiver then
      assert !isundefined(expected) "no message is delivered twice";
      assert m.value = expected "what is delivered was sent";
      undefine expected;
      receiver := 1 - receiver;
    end;
    acknowledge(m.bit);
  end;

  rule "hear an acknowledgement"
    i < back_count & (i = 0 | ORDER = 0)
  ==>
  var bit: Bit;
  begin
    bit := back[i];
    drop_back(i);
    if bit = sender & !isundefined(sending) then
      assert isundefined(expected) "what is acknowledged was delivered";
      sender := 1 - sender;
      undefine sending;
    end;
  end;

end;

rule "lose a message"
  there_count > 0
==>
  drop_there(0);
end;

rule "lose an acknowledgement"
  back_count > 0
==>
  drop_back(0);
end;

startstate
  there_count := 0;
  back_count := 0;
  sender := 0;
  receiver := 0;
end;

invariant "bits differ only while a message is delivered"
  sender != receiver -> !isundefined(sending);
