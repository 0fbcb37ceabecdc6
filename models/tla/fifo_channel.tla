----------------------------- MODULE fifo_channel ----------------------------
\* A channel of bounded length that delivers values in the order in which they were sent.
EXTENDS Naturals, Sequences

CONSTANTS Value, Size

VARIABLE channel    \* the values in the channel, oldest first

TypeOK == channel \in Seq(Value) /\ Len(channel) <= Size

Init == channel = <<>>

Send(v) == Len(channel) < Size /\ channel' = Append(channel, v)

Receive == channel # <<>> /\ channel' = Tail(channel)

Next == (\E v \in Value : Send(v)) \/ Receive

Spec == Init /\ [][Next]_channel
==============================================================================
