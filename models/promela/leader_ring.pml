// Leader election in a ring (Chang and Roberts, 1979): every node sends its number on, and only the
// greatest comes round. The nodes are started one by one, with their channels as arguments.
//
// expect: verdict=verified states=505 transitions=1294 levels=51 deadlocks=0
// expect: N=5 verdict=verified states=1475 transitions=4768 levels=58 deadlocks=0

#ifndef N
#define N 4
#endif
mtype = { candidate, leader };
chan link[N] = [2] of { mtype, byte };
byte leaders;

proctype Node(chan from, to; byte number) {
	byte other;
	to!candidate(number);
	do
	:: from?candidate(other) ->
		if
		:: other > number -> to!candidate(other)
		:: other == number ->
			leaders++;
			assert(leaders == 1);
			to!leader(number)
		:: else
		fi
	:: from?leader(other) ->
		if
		:: other != number -> to!leader(other)
		:: else
		fi;
		break
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. N - 1) {
			run Node(link[i], link[(i + 1) % N], (i * 3 + 1) % N)
		}
	}
}
