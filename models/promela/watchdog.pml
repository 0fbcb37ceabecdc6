// A sender whose messages may get lost, and a watchdog that resends when nothing else can happen.
//
// expect: verdict=verified states=40 transitions=53 levels=23 deadlocks=0
// runs: verdict=verified states=37 transitions=49 | --ltl <> (received == 3)
// runs: verdict=verified states=61 transitions=102 | --ltl [] (waiting -> <> !waiting)
// runs: verdict=verified states=61 transitions=102 | --fair weak --ltl [] (waiting -> <> !waiting)

mtype = { message };
chan wire = [1] of { mtype };
byte sent, received;
bool waiting;

active proctype Sender() {
	do
	:: sent < 3 && !waiting ->
		sent++;
		waiting = true;
		if
		:: wire!message
		:: skip
		fi
	:: waiting && timeout -> wire!message
	:: sent == 3 && !waiting -> break
	od
}

active proctype Receiver() {
end:	do
	:: wire?message ->
		d_step { received++; waiting = false }
		assert(received <= sent)
	od
}
