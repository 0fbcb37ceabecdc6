// A sender repeats a message until it is acknowledged. The link loses at most LOSSES in a row, or, where that is less than
// 0, any number: then no message may ever come through, which is a cycle without progress.
//
// expect: verdict=verified states=48 transitions=54 levels=18 deadlocks=0
// runs: verdict=verified states=93 transitions=144 | --non-progress
// runs: LOSSES=-1 verdict=violated | --non-progress
// runs: LOSSES=-1 verdict=violated | --fair weak --non-progress
// runs: verdict=verified states=89 transitions=142 | --ltl []<> (len(back) == 1)
// runs: LOSSES=-1 verdict=violated | --ltl []<> (len(back) == 1)
// runs: LOSSES=-1 verdict=violated | --fair weak --ltl []<> (len(back) == 1)

#ifndef LOSSES
#define LOSSES 2
#endif
chan wire = [1] of { bit };
chan back = [1] of { bit };

active proctype Sender() {
	bit tag;
	byte lost;
	do
	:: if
	   :: wire!tag
	   :: LOSSES < 0
	   :: lost < LOSSES -> lost++
	   fi;
	   if
	   :: back?eval(tag) ->
progress:     d_step { tag = 1 - tag; lost = 0 }
	   :: timeout
	   fi
	od
}

active proctype Receiver() {
	bit tag;
	do
	:: wire?tag; back!tag
	od
}
