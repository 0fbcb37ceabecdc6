// A worker that an interrupt takes away from its loop, whatever it is at; inside the d_step it
// cannot be interrupted.
//
// expect: verdict=verified states=76 transitions=100 levels=17 deadlocks=0

bool stop;
byte half, whole;

active proctype Worker() {
	{
		do
		:: half < 3 -> half++; d_step { half--; half = half + 1; whole = half }
		:: half == 3 -> half = 0; whole = 0
		od
	} unless {
		stop -> assert(whole == half || half == whole + 1 || half == 0)
	}
}

active proctype Interrupter() {
	stop = true
}
