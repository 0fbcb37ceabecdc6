// Two processes and a lock. With ORDER=1 they take turns; with ORDER=0 whoever comes first takes it, and the other may be
// passed by for ever: such runs the never claim accepts.
//
// runs: verdict=verified states=18 transitions=29 | --ltl passed_by
// runs: ORDER=0 verdict=violated | --ltl passed_by
// runs: ORDER=0 verdict=violated | --fair weak --ltl passed_by

#ifndef ORDER
#define ORDER 1
#endif
bool locked;
byte turn;

active [2] proctype P() {
	do
	:: true;
waits:	   atomic { !locked && (!ORDER || turn == _pid) -> locked = true }
	   atomic { locked = false; turn = 1 - _pid }
	od
}

never passed_by {
	do
	:: P[1]@waits -> goto accept_waits
	:: true
	od;
accept_waits:
	do
	:: P[1]@waits
	od
}
