// Go-back-N over channels that lose messages: the sender has at most WINDOW messages on the way. The receiver accepts
// them in order.
//
// expect: verdict=verified states=2932 transitions=6257 levels=103 deadlocks=0
// expect: WINDOW=3 verdict=verified states=8471 transitions=21686 levels=103 deadlocks=0

#ifndef WINDOW
#define WINDOW 2
#endif
#define NUMBERS (WINDOW + 1)
chan data = [WINDOW] of { byte, bit };
chan acknowledged = [WINDOW] of { byte };

active proctype Sender() {
	byte oldest, sent, number;
	bit payload[NUMBERS];
	bit next;
	do
	:: sent < WINDOW && nfull(data) ->
		atomic {
			payload[(oldest + sent) % NUMBERS] = next;
			data!(oldest + sent) % NUMBERS, next;
			sent++;
			next = 1 - next
		}
	:: acknowledged?number ->
		// An acknowledgement confirms all messages before it.
		atomic {
			do
			:: sent > 0 && oldest != number -> oldest = (oldest + 1) % NUMBERS; sent--
			:: else -> break
			od
		}
	:: timeout ->
		number = 0;
		do
		:: number < sent ->
			data!(oldest + number) % NUMBERS, payload[(oldest + number) % NUMBERS];
			number++
		:: else -> break
		od
	od
}

active proctype Receiver() {
	byte number, expected;
	bit payload, wanted;
	do
	:: data?number, payload ->
		if
		:: number == expected ->
			assert(payload == wanted);
			wanted = 1 - wanted;
			expected = (expected + 1) % NUMBERS
		:: else
		fi;
		acknowledged!expected
	od
}

active proctype Loss() {
	do
	:: data?_, _
	:: acknowledged?_
	od
}
