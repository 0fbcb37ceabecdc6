// A wait group and a mutex as Go has them, each a process that serves the channels of a structure. The structures are
// parameters, so that every worker talks to the same servers. A worker that signals before it has stored its result is
// noticed by whoever waits.
//
// expect: verdict=verified states=198 transitions=385 levels=27 deadlocks=0
// expect: EARLY=1 verdict=violated kind=assert depth=13 states=290 transitions=631 levels=27 deadlocks=0

#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef EARLY
#define EARLY 0
#endif

typedef Mutex {
	chan lock = [0] of { bit };
	chan unlock = [0] of { bit };
}

typedef WaitGroup {
	chan done = [0] of { bit };
	chan wait = [0] of { bit };
	byte count;
}

typedef Shared {
	Mutex mutex;
	WaitGroup group;
}

byte total;

proctype ServeMutex(Mutex m)
{
end:	do
	:: m.lock?_; m.unlock?_
	od
}

proctype ServeGroup(WaitGroup g)
{
	do
	:: g.count > 0 -> g.done?_; g.count--
	:: g.count == 0 -> break
	od;
	g.wait!1
}

proctype Worker(Shared s; byte amount)
{
	byte seen;
	if
	:: EARLY -> s.group.done!1
	:: else
	fi;
	s.mutex.lock!1;
	seen = total;
	total = seen + amount;
	s.mutex.unlock!1;
	if
	:: EARLY
	:: else -> s.group.done!1
	fi
}

init {
	Shared s;
	byte i;
	s.group.count = WORKERS;
	atomic {
		run ServeMutex(s.mutex);
		run ServeGroup(s.group);
		for (i : 1 .. WORKERS) {
			run Worker(s, i)
		}
	}
	s.group.wait?_;
	assert(total == WORKERS * (WORKERS + 1) / 2)
}
