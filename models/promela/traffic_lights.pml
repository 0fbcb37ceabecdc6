// Two lights at a crossing that hand over by rendezvous inside atomic sequences.
//
// expect: verdict=verified states=16 transitions=22 levels=9 deadlocks=0
// runs: verdict=verified states=24 transitions=37 | --ltl [] (north == green -> <> east == green)
// runs: verdict=violated | --ltl <>[] (north == red)
// runs: verdict=violated | --fair weak --ltl <>[] (north == red)

mtype:light = { red, amber, green };
mtype:light north = green, east = red;
chan turn = [0] of { bit };

active proctype North() {
	do
	:: north == green -> north = amber; atomic { north = red; turn!0 }
	:: north == red -> atomic { turn?1 -> assert(east == red); north = green }
	od
}

active proctype East() {
	do
	:: east == green -> east = amber; atomic { east = red; turn!1 }
	:: east == red -> atomic { turn?0 -> assert(north == red); east = green }
	od
}
