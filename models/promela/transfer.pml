// A data transfer protocol: a connection is opened, BLOCKS blocks are sent with an acknowledgement for each, and the
// connection is closed. Users at both ends ask for it and take what arrives.
//
// expect: verdict=verified states=341 transitions=743 levels=46 deadlocks=0
// expect: BLOCKS=4 SIZE=3 verdict=verified states=1277 transitions=3185 levels=70 deadlocks=0

#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef SIZE
#define SIZE 2
#endif
mtype = { open, accept, block, receipt, close, closed };
chan wish = [SIZE] of { mtype, byte };
chan delivery = [SIZE] of { mtype, byte };
chan forth = [SIZE] of { mtype, byte };
chan back = [SIZE] of { mtype, byte };

active proctype Origin() {
	byte i;
	wish!open(0);
	for (i : 1 .. BLOCKS) { wish!block(i) }
	wish!close(0)
}

active proctype Sender() {
	byte i;
	wish?open(_);
	forth!open(0);
	back?accept(_);
	do
	:: wish?block(i) -> forth!block(i); back?receipt(eval(i))
	:: wish?close(_) -> forth!close(0); back?closed(_); break
	od
}

active proctype Receiver() {
	byte i;
	forth?open(_);
	back!accept(0);
	do
	:: forth?block(i) -> delivery!block(i); back!receipt(i)
	:: forth?close(_) -> delivery!close(0); back!closed(0); break
	od
}

active proctype Destination() {
	byte i, expected = 1;
	do
	:: delivery?block(i) -> assert(i == expected); expected++
	:: delivery?close(_) -> assert(expected == BLOCKS + 1); break
	od
}
