// A sieve of processes: each keeps the first number it gets, a prime, passes on what it does not
// divide, and starts the next when there is something to pass on.
//
// expect: verdict=verified states=1096 transitions=2785 levels=99 deadlocks=0
// expect: LAST=11 verdict=verified states=892 transitions=2201 levels=95 deadlocks=0

#ifndef LAST
#define LAST 12
#endif
// The number of primes up to LAST.
#ifndef PRIMES
#define PRIMES 5
#endif
mtype = { number, stop };
byte primes;

proctype Filter(chan from; byte prime) {
	chan to = [0] of { mtype, byte };
	byte value;
	bool has_next = false;
	primes++;
	do
	:: from?number(value) ->
		if
		:: value % prime == 0
		:: else ->
			if
			:: has_next -> to!number(value)
			:: else -> run Filter(to, value); has_next = true
			fi
		fi
	:: from?stop(_) ->
		if
		:: has_next -> to!stop(0)
		:: else
		fi;
		break
	od
}

init {
	chan to = [0] of { mtype, byte };
	byte value = 3;
	run Filter(to, 2);
	do
	:: value <= LAST -> to!number(value); value++
	:: else -> break
	od;
	to!stop(0);
	_nr_pr == 1;
	assert(primes == PRIMES)
}
