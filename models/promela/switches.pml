// Packets pass along a line of switches with long queues, and answers come straight back.
//
// Written for Spillway as a model of wide states: HOPS queues with room for ROOM packets of some
// 4.4 bytes each, of which most is empty.
//
// The source has at most WINDOW packets under way; each carries a seal made of its number. BUG=1
// has a switch lose a packet when the next queue holds two.
//
// expect: verdict=verified states=4640 transitions=13344 levels=146 deadlocks=0
// expect: BUG=1 WINDOW=3 ROOM=20 verdict=violated kind=assert depth=45 states=31280 transitions=96152 levels=185 deadlocks=0
// scale: ROOM=255 HOPS=4 WINDOW=4 verdict=verified states=128624 transitions=504408 levels=203 deadlocks=0

#ifndef ROOM
#define ROOM 90
#endif
#ifndef HOPS
#define HOPS 3
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef BUG
#define BUG 0
#endif
#define MODULUS 8
#define seal(number) ((number) * 305419896 + 7)

chan queue[HOPS] = [ROOM] of { byte, int };	// number, seal
chan back = [ROOM] of { byte };			// the number received

active proctype Source() {
	byte next, ahead, answer;
end:	do
	:: ahead < WINDOW ->
		queue[0]!next, seal(next);
		d_step { next = (next + 1) % MODULUS; ahead++ }
	:: back?answer -> d_step { ahead--; answer = 0 }
	od
}

active [HOPS - 1] proctype Switch() {
	byte number;
	int sealed;
end:	do
	:: queue[_pid - 1]?number, sealed ->
		if
		:: queue[_pid]!number, sealed
		:: BUG && len(queue[_pid]) == 2 -> skip
		fi;
		d_step { number = 0; sealed = 0 }
	od
}

active proctype Sink() {
	byte number, wanted;
	int sealed;
end:	do
	:: queue[HOPS - 1]?number, sealed ->
		assert(number == wanted && sealed == seal(number));
		wanted = (wanted + 1) % MODULUS;
		back!number;
		d_step { number = 0; sealed = 0 }
	od
}
