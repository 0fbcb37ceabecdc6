// A token goes round; who has it may work, and passes it on.
//
// expect: verdict=verified states=649 transitions=1981 levels=42 deadlocks=0
// expect: N=3 verdict=verified states=163 transitions=388 levels=29 deadlocks=0

#ifndef N
#define N 4
#endif
chan pass[N] = [0] of { bit };
byte working;

proctype Station(byte me; bool has) {
	do
	:: has ->
		if
		:: working++; assert(working == 1); working--
		:: skip
		fi;
		pass[(me + 1) % N]!1;
		has = false
	:: !has -> pass[me]?1; has = true
	od
}

init {
	byte i;
	atomic { for (i : 0 .. N - 1) { run Station(i, i == 0) } }
}
