// N workers meet at a barrier, again and again: the last to come lets all go. With BUSY=1 they do not block there, but look
// again and again whether they may go on; where nobody else moves, that is no progress.
//
// expect: verdict=verified states=134 transitions=301 levels=22 deadlocks=0
// runs: verdict=verified states=233 transitions=500 | --non-progress
// runs: BUSY=1 verdict=violated | --non-progress
// runs: BUSY=1 verdict=verified states=233 transitions=713 | --fair weak --non-progress
// runs: BUSY=1 N=2 verdict=violated | --ltl []<> (arrived == 0)
// runs: BUSY=1 N=2 verdict=verified states=50 transitions=123 | --fair weak --ltl []<> (arrived == 0)

#ifndef N
#define N 3
#endif
#ifndef BUSY
#define BUSY 0
#endif
byte arrived;
bit round;

proctype Worker() {
	bit mine;
	do
	:: atomic {
		mine = round;
		arrived++;
		if
		:: arrived == N -> arrived = 0; round = 1 - round
		:: else
		fi
	   }
	   do
	   :: round != mine -> break
	   :: BUSY && round == mine
	   od;
progress_met: skip
	od
}

init {
	byte i;
	atomic { for (i : 1 .. N) { run Worker() } }
}
