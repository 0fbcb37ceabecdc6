// Clients send the server the channel on which they wait for the answer, and the server starts an
// agent for each request.
//
// expect: verdict=verified states=99 transitions=176 levels=15 deadlocks=0
// expect: CLIENTS=3 verdict=verified states=1146 transitions=2891 levels=22 deadlocks=0
// runs: verdict=verified states=197 transitions=704 | --ltl <>[] (_nr_pr == 1)
// runs: verdict=verified states=197 transitions=704 | --fair weak --ltl <>[] (_nr_pr == 1)

#ifndef CLIENTS
#define CLIENTS 2
#endif
mtype = { request, answer };
chan server = [1] of { mtype, chan, byte };

proctype Agent(chan back; byte value) {
	back!answer, value * value
}

active proctype Server() {
	chan back;
	byte value;
end:	do
	:: server?request, back, value -> run Agent(back, value)
	od
}

active [CLIENTS] proctype Client() {
	chan mine = [0] of { mtype, byte };
	byte value;
	server!request, mine, _pid;
	mine?answer, value;
	assert(value == _pid * _pid)
}
