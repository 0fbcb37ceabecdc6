// A desk sends out one messenger after another, each with a letter that he hands over at a door, while a clock ticks. With
// NAPS=1 whoever is behind the door may take a nap instead, again and again.
//
// runs: verdict=violated | --ltl delivers
// runs: verdict=verified states=114 transitions=384 | --fair weak --ltl delivers
// runs: NAPS=1 verdict=violated | --fair weak --ltl delivers
// runs: verdict=verified states=78 transitions=196 | --fair weak --ltl []<> (_nr_pr == 4)

#ifndef NAPS
#define NAPS 0
#endif
chan door = [0] of { byte };
bool tick;
byte letter;

ltl delivers { ([]<> (letter == 1)) && ([]<> (letter == 2)) }

proctype Messenger(byte number) {
	door!number
}

active proctype Clock() {
	do
	:: tick = !tick
	od
}

active proctype House() {
	byte read;
	do
	:: door?read -> letter = read; read = 0
	:: NAPS -> skip
	od
}

active proctype Desk() {
	byte next = 1;
	do
	:: atomic { _nr_pr == 3 -> run Messenger(next); next = 3 - next }
	od
}
