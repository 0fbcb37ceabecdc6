// A lift between three floors. It goes up and down; with STAY=1 it looks again whether it is called where it is before it
// moves on, and those on other floors may wait for ever.
//
// runs: verdict=verified states=150 transitions=478 | --ltl served
// runs: STAY=1 verdict=violated | --ltl served
// runs: STAY=1 verdict=violated | --fair weak --ltl served
// runs: verdict=violated | --ltl rests
// runs: verdict=violated | --fair weak --ltl rests
// runs: verdict=verified states=124 transitions=276 | --ltl closed

#ifndef STAY
#define STAY 0
#endif
#define FLOORS 3
bool called[FLOORS], open;
byte floor;
bool up;

ltl served { [] (called[1] -> <> (open && floor == 1)) }
ltl rests { <> [] !open }
ltl closed { [] (open -> (open U !open)) }

active proctype Buttons() {
	do
	:: atomic { !called[0] -> called[0] = true }
	:: atomic { !called[1] -> called[1] = true }
	:: atomic { !called[2] -> called[2] = true }
	od
}

active proctype Car() {
	do
	:: if
	   :: called[floor] -> open = true; d_step { open = false; called[floor] = false }
	   :: else
	   fi;
	   if
	   :: atomic { STAY && called[floor] -> skip }
	   :: atomic {
		if
		:: up && floor == FLOORS - 1 -> up = false
		:: !up && floor == 0 -> up = true
		:: else
		fi;
		if
		:: up -> floor++
		:: else -> floor--
		fi
	      }
	   fi
	od
}
