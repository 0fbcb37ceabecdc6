// The filter lock, Peterson's algorithm for N processes (1981): a process passes N - 1 levels, and one process waits at
// each.
//
// expect: N=2 verdict=verified states=485 transitions=936 levels=45 deadlocks=0
// expect: verdict=verified states=51596 transitions=146376 levels=135 deadlocks=0

#ifndef N
#define N 3
#endif
byte level[N], last[N];
byte inside;

active [N] proctype Process() {
	byte at, other;
	do
	:: at = 1;
	   do
	   :: at < N ->
		level[_pid] = at;
		last[at] = _pid;
		other = 0;
		do
		:: other < N ->
			(other == _pid || level[other] < at || last[at] != _pid);
			other++
		:: else -> break
		od;
		at++
	   :: else -> break
	   od;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   level[_pid] = 0
	od
}
