// An alternating bit over lines that lose at most LOSSES messages in all, in both directions together. With SEQ=0 the receiver
// takes every message for a new one.
//
// Origin: K. Bartlett, R. Scantlebury and P. Wilkinson, "A note on reliable full-duplex transmission over half-duplex links",
// 1969; with counted losses among the models of R. Pelánek, "On-the-fly state space reductions", 2005.
//
// Who has lost less can lose whatever others can (--dominate lost:down --no-deadlock).
//
// expect: verdict=verified states=4752 transitions=11721 levels=94 deadlocks=0
// expect: SEQ=0 verdict=violated kind=assert depth=11 states=43164 transitions=110664 levels=166 deadlocks=0

#ifndef LOSSES
#define LOSSES 6
#endif
#ifndef SEQ
#define SEQ 1
#endif

chan wire = [1] of { bit, byte };
chan back = [1] of { bit };
byte lost;

active proctype Sender() {
	bit tag, seen;
	byte data;
end:	do
	:: wire!tag,data ->
	   do
	   :: back?seen ->
	      if
	      :: seen == tag -> tag = 1 - tag; data = (data + 1) % 3; break
	      :: else
	      fi
	   :: wire!tag,data
	   od
	od
}

active proctype Receiver() {
	bit want, tag;
	byte data, next;
end:	do
	:: wire?tag,data ->
	   if
	   :: tag == want || SEQ == 0 ->
	      assert(data == next);
	      next = (next + 1) % 3;
	      want = 1 - want
	   :: else
	   fi;
	   back!tag
	od
}

active proctype Lines() {
	/* Added so, it is seen never to grow beyond LOSSES. */
end:	do
	:: d_step { lost < LOSSES && nempty(wire) -> wire?_,_; lost = lost + (lost < LOSSES) }
	:: d_step { lost < LOSSES && nempty(back) -> back?_; lost = lost + (lost < LOSSES) }
	od
}
