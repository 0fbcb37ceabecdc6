// A process of low priority holds a lock that one of high priority wants. With INVERTED=1 one in
// the middle, which only computes, keeps both waiting for ever; processes of priorities block.
//
// expect: verdict=verified states=19 transitions=18 levels=19 deadlocks=0
// expect: INVERTED=1 verdict=verified states=13 transitions=13 levels=13 deadlocks=0

#ifndef INVERTED
#define INVERTED 0
#endif
bool held, high_done;

active proctype Low() priority 1 {
	atomic { !held -> held = true }
	held = false
}

active proctype High() priority 3 {
	atomic { !held -> held = true }
	held = false;
	high_done = true
}

active proctype Middle() priority 2 {
	byte n;
	do
	:: n < 4 -> n++
	:: n == 4 && !INVERTED -> break
	:: n == 4 && INVERTED -> n = 0
	od;
	assert(high_done || held)
}
