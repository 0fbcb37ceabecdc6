// Two processes add to a counter that each reads and writes in two steps: how low can it end?
// (Ben-Ari's puzzle: as low as two.)
//
// expect: verdict=violated kind=assert depth=38 states=2681 transitions=4757 levels=42 deadlocks=0
// expect: TIMES=2 verdict=violated kind=assert depth=28 states=714 transitions=1233 levels=32 deadlocks=0

#ifndef TIMES
#define TIMES 3
#endif
byte total, finished;

active [2] proctype Adder() {
	byte copy, i;
	for (i : 1 .. TIMES) {
		copy = total;
		copy++;
		total = copy
	}
	finished++
}

active proctype Check() {
	finished == 2;
	assert(total > 2)
}
