// A ticket lock: a d_step draws the ticket.
//
// expect: verdict=verified states=5047 transitions=13701 levels=109 deadlocks=0
// expect: N=2 verdict=verified states=229 transitions=418 levels=49 deadlocks=0

#ifndef N
#define N 3
#endif
#define ROUND (2 * N)
byte next_ticket, serving, inside;

active [N] proctype P() {
	byte mine;
	do
	:: d_step { mine = next_ticket; next_ticket = (next_ticket + 1) % ROUND }
	   serving == mine;
	   inside++;
	   assert(inside == 1);
	   inside--;
	   serving = (serving + 1) % ROUND
	od
}
