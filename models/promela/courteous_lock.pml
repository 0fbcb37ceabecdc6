// A lock that two visitors take in turns. The never claim says what must not be: that the second waits
// while the first is inside, still waits when the first has left, and still when it is inside again.
// With POLITE=0 the lock may be taken again at once, and is.
//
// expect: verdict=verified states=33 transitions=48 levels=9 deadlocks=0
// expect: POLITE=0 verdict=violated kind=claim depth=8 states=36 transitions=53 levels=10 deadlocks=0
// runs: verdict=verified states=33 transitions=48 | --ltl never_0
// runs: POLITE=0 verdict=violated | --ltl never_0
// runs: POLITE=0 verdict=violated | --fair weak --ltl never_0

#define POLITE 1

bool locked;
bool wants[2];
byte turn;

active [2] proctype Visitor() {
	do
	:: wants[_pid] = true;
waits:		atomic {
			!locked && (!POLITE || turn == _pid || !wants[1 - _pid]) -> locked = true
		}
inside:		assert(locked);
		atomic { turn = 1 - _pid; wants[_pid] = false; locked = false }
	od
}

never {
	do
	:: Visitor[1]@waits && Visitor[0]@inside -> break
	:: true
	od;
	do
	:: !Visitor[1]@waits -> goto fine
	:: Visitor[1]@waits && Visitor[0]@inside
	:: else -> break
	od;
	do
	:: !Visitor[1]@waits -> goto fine
	:: Visitor[1]@waits && Visitor[0]@inside -> break
	:: else
	od;
	goto done;
fine:	false;
done:	skip
}
