// Peterson's algorithm (1981): two processes that never meet in the critical section.
//
// expect: verdict=verified states=38 transitions=64 levels=10 deadlocks=0
// runs: verdict=verified states=68 transitions=152 | --ltl [] (wants[0] -> <> !wants[0])
// runs: verdict=verified states=68 transitions=148 | --ltl []<> (inside == 1)
// runs: verdict=verified states=68 transitions=148 | --fair weak --ltl []<> (inside == 1)

bool wants[2];
byte turn, inside;

active [2] proctype P() {
	byte other = 1 - _pid;
	do
	:: wants[_pid] = true;
	   turn = other;
	   (!wants[other] || turn == _pid);
	   inside++;
	   assert(inside == 1);
	   inside--;
	   wants[_pid] = false
	od
}
