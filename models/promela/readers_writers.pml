// Readers and writers with one lock by rendezvous; a writer waits
// until the readers are gone, and keeps new ones out.
//
// expect: verdict=verified states=6502 transitions=18368 levels=41 deadlocks=0
// expect: READERS=2 verdict=verified states=1066 transitions=2356 levels=33 deadlocks=0

#ifndef READERS
#define READERS 3
#endif
mtype = { start_read, end_read, start_write, end_write };
chan ask = [0] of { mtype }, granted = [0] of { bool };
byte reading, writing;

active proctype Lock() {
	byte readers;
end:	do
	:: ask?start_read -> readers++
	:: ask?end_read -> readers--
	:: ask?start_write ->
		do
		:: readers > 0 -> ask?end_read; readers--
		:: readers == 0 -> break
		od;
		granted!true;
		ask?end_write
	od
}

active [READERS] proctype Reader() {
	ask!start_read;
	reading++;
	assert(writing == 0);
	reading--;
	ask!end_read
}

active [2] proctype Writer() {
	ask!start_write;
	granted?_;
	writing++;
	assert(writing == 1 && reading == 0);
	writing--;
	ask!end_write
}
