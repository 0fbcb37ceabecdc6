// A baton that runners hand on. Two claims say what must not be: that it is dropped, which is seen at once, and that it is
// held for ever, which is seen on whole runs. With CLUMSY=1 it may be dropped, with TIRED=1 a runner may keep it.
//
// runs: verdict=verified states=6 transitions=6 | --ltl dropped
// runs: CLUMSY=1 verdict=violated | --ltl dropped
// runs: CLUMSY=1 verdict=violated | --fair weak --ltl dropped
// runs: verdict=verified states=8 transitions=9 | --ltl held
// runs: TIRED=1 verdict=violated | --ltl held
// runs: TIRED=1 verdict=violated | --fair weak --ltl held

#ifndef CLUMSY
#define CLUMSY 0
#endif
#ifndef TIRED
#define TIRED 0
#endif
#define RUNNERS 3
byte holder;
bool lies;

active [RUNNERS] proctype Runner() {
	do
	:: !lies && holder == _pid ->
		if
		:: holder = (_pid + 1) % RUNNERS
		:: CLUMSY -> lies = true
		:: TIRED
		fi
	:: lies -> d_step { lies = false; holder = _pid }
	od
}

never dropped {
	do
	:: !lies
	:: lies -> break
	od
}

never held {
	do
	:: true
	:: atomic { holder == 1 -> goto accept_held }
	od;
accept_held:
	do
	:: holder == 1
	od
}
