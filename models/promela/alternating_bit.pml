// The alternating bit protocol (Bartlett, Scantlebury and Wilkinson, 1969) over channels that lose
// messages. The receiver checks that what arrives comes in order.
//
// expect: verdict=verified states=450 transitions=1179 levels=60 deadlocks=0

#define MAX 4
mtype = { data, ack };
chan to_receiver = [1] of { mtype, byte, bit };
chan to_sender = [1] of { mtype, bit };

active proctype Sender() {
	byte value;
	bit tag, got;
	do
	:: to_receiver!data(value, tag)
	:: to_sender?ack(got) ->
		if
		:: got == tag -> tag = 1 - tag; value = (value + 1) % MAX
		:: else
		fi
	od
}

active proctype Receiver() {
	byte value, expected;
	bit tag, wanted;
	do
	:: to_receiver?data(value, tag) ->
		if
		:: tag == wanted ->
			assert(value == expected);
			expected = (expected + 1) % MAX;
			wanted = 1 - wanted
		:: else
		fi;
		to_sender!ack(tag)
	od
}

active proctype Thief() {
	do
	:: to_receiver?_, _, _
	:: to_sender?_, _
	od
}
