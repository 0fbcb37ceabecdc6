// A channel as a priority queue: jobs are sent in order and come out smallest first; a clerk picks
// out those of one kind wherever they are.
//
// expect: verdict=verified states=55 transitions=60 levels=27 deadlocks=0

mtype = { plain, special };
chan jobs = [4] of { byte, mtype };
byte done, picked;

active [2] proctype Source() {
	jobs!!(_pid + 1), plain;
	jobs!!(4 - _pid), special
}

active proctype Server() {
	byte number, last;
	mtype kind;
	(len(jobs) == 4 || timeout);
	do
	:: jobs?number, kind -> assert(number >= last); last = number; done++
	:: nempty(jobs) && jobs??[eval(3), special] -> jobs??eval(3), special; picked++
	:: empty(jobs) -> break
	od;
	assert(done + picked == 4)
}
