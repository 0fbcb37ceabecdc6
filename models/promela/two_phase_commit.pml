// Two-phase commit (Gray, 1978): nobody commits what another has aborted.
//
// expect: verdict=verified states=3421 transitions=9084 levels=58 deadlocks=0
// expect: N=2 verdict=verified states=493 transitions=988 levels=43 deadlocks=0

#ifndef N
#define N 3
#endif
mtype = { prepare, commit, abort, yes, no };
mtype decided[N];
chan to[N] = [1] of { mtype };
chan votes = [N] of { mtype };

active proctype Coordinator() {
	byte i, agreed;
	mtype vote;
	for (i in to) { to[i]!prepare }
	for (i : 1 .. N) {
		votes?vote;
		if
		:: vote == yes -> agreed++
		:: else
		fi
	}
	vote = (agreed == N -> commit : abort);
	for (i in to) { to[i]!vote }
}

active [N] proctype Member() {
	byte me = _pid - 1;
	to[me]?prepare;
	if
	:: votes!yes; to[me]?decided[me]
	:: votes!no; decided[me] = abort; to[me]?_
	fi
}

active proctype Judge() {
	byte i, commits, aborts;
	timeout;
	d_step {
		for (i : 0 .. N - 1) {
			if
			:: decided[i] == commit -> commits++
			:: decided[i] == abort -> aborts++
			fi
		}
	}
	assert(commits == 0 || aborts == 0)
}
