// Dekker's algorithm (Dijkstra, 1965), with labels and jumps as it was first written down.
//
// expect: verdict=verified states=146 transitions=274 levels=25 deadlocks=0
// expect: POLITE=0 verdict=verified states=70 transitions=140 levels=15 deadlocks=0
// runs: verdict=violated | --ltl []<> (inside == 1)
// runs: verdict=verified states=266 transitions=658 | --fair weak --ltl []<> (inside == 1)
// runs: POLITE=0 verdict=violated | --fair weak --ltl []<> (inside == 1)

#ifndef POLITE
#define POLITE 1
#endif
bool wants[2];
byte turn, inside;

active [2] proctype P() {
	byte other = 1 - _pid;
again:	wants[_pid] = true;
	do
	:: wants[other] ->
		if
		:: POLITE && turn == other ->
			wants[_pid] = false;
			turn == _pid;
			wants[_pid] = true
		:: else
		fi
	:: else -> break
	od;
critical: inside++;
	assert(inside == 1);
	inside--;
	turn = other;
	wants[_pid] = false;
	goto again
}
