// An alarm that may ring, but not again and again: after LIMIT times it is switched off, or never where that is 0.
//
// expect: verdict=verified states=14 transitions=20 levels=8 deadlocks=0
// runs: verdict=verified states=20 transitions=30 | --acceptance
// runs: LIMIT=0 verdict=violated | --acceptance
// runs: LIMIT=0 verdict=violated | --fair weak --acceptance

#ifndef LIMIT
#define LIMIT 3
#endif
byte rung;
bool dark;

active proctype Sensor() {
	do
	:: LIMIT == 0 || rung < LIMIT;
accept_rings:
	   if
	   :: atomic { LIMIT && rung < LIMIT -> rung++ }
	   :: !LIMIT || rung == LIMIT
	   fi
	:: dark = !dark
	od
}
