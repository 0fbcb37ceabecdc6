// Friends telephone and tell each other all they know, until everybody knows everything.
//
// expect: verdict=violated kind=assert depth=71 states=33852 transitions=34726 levels=73 deadlocks=0

typedef Friend {
	bool knows[4];
	byte calls
}
Friend friend[4];
byte complete;

inline call(a, b) {
	d_step {
		i = 0;
		do
		:: i < 4 ->
			known = friend[a].knows[i] || friend[b].knows[i];
			friend[a].knows[i] = known;
			friend[b].knows[i] = known;
			i++
		:: else -> break
		od;
		friend[a].calls++;
		friend[b].calls++
	}
}

init {
	byte i, a, b, calls;
	bool known;
	for (i in friend) { friend[i].knows[i] = true }
	do
	:: calls < 4 ->
		select (a : 0 .. 2);
		select (b : 1 .. 3);
		if
		:: a < b -> call(a, b); calls++; a = 0; b = 0; i = 0
		:: else -> break
		fi
	:: else -> break
	od;
	complete = 0;
	for (i in friend) {
		if
		:: friend[i].knows[0] && friend[i].knows[1] && friend[i].knows[2] && friend[i].knows[3] ->
			complete++
		:: else
		fi
	}
	// Four calls are enough for four friends, so this fails.
	assert(complete < 4)
}
