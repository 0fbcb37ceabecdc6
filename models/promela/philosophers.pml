// Dijkstra's dining philosophers: everybody takes the left fork first, and all starve; with
// LEFTY=1 one of them takes the right fork first, and nobody does.
//
// expect: verdict=violated kind=deadlock depth=8 states=391 transitions=1316 levels=15 deadlocks=1
// expect: LEFTY=1 verdict=verified states=516 transitions=1778 levels=16 deadlocks=0
// runs: verdict=violated | --ltl [] (fork[0] -> <> !fork[0])
// runs: verdict=violated | --fair weak --ltl [] (fork[0] -> <> !fork[0])
// runs: LEFTY=1 verdict=violated | --ltl [] (fork[0] -> <> !fork[0])
// runs: LEFTY=1 verdict=verified states=748 transitions=2558 | --fair weak --ltl [] (fork[0] -> <> !fork[0])

#ifndef N
#define N 4
#endif
#ifndef LEFTY
#define LEFTY 0
#endif
bool fork[N];

#define take(f)	atomic { !fork[f] -> fork[f] = true }
#define drop(f)	fork[f] = false

active [N] proctype Philosopher() {
	byte first = _pid, second = (_pid + 1) % N;
	if
	:: LEFTY && _pid == 0 -> first = 1; second = 0
	:: else
	fi;
	do
	:: take(first);
	   take(second);
	   drop(second);
	   drop(first)
	od
}
