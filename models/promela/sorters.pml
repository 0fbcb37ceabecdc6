// A pipeline of processes sorts numbers: each keeps the greatest number that it receives and sends the others on.
//
// expect: verdict=verified states=7199 transitions=26261 levels=85 deadlocks=0
// expect: N=5 verdict=verified states=40667 transitions=176999 levels=120 deadlocks=0

#ifndef N
#define N 4
#endif
chan link[N] = [1] of { byte };
byte kept[N];

proctype Sorter(byte place) {
	byte value, rest = N - place;
	do
	:: rest > 0 ->
		link[place]?value;
		rest--;
		if
		:: kept[place] == 0 -> kept[place] = value
		:: kept[place] > 0 && value > kept[place] ->
			link[place + 1]!kept[place];
			kept[place] = value
		:: kept[place] > 0 && value <= kept[place] -> link[place + 1]!value
		fi
	:: else -> break
	od;
	assert(kept[place] == N - place)
}

init {
	byte i;
	atomic { for (i : 0 .. N - 1) { run Sorter(i) } }
	for (i : 1 .. N) { link[0]!i }
}
