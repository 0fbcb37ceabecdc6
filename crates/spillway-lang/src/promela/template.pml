/*
 * Two processes that share something, and never use it at a time (Peterson 1981).
 *
 *     spillway check NAME.pml                says whether all runs have the property at the end
 *     spillway check NAME.pml --no-claim     says whether an assertion fails, or all are stuck
 *
 * Take out the line with `turn =` to see a counterexample.
 */

bool wants[2];		/* who wants to go in */
byte turn;		/* who goes first if both do */
byte inside;		/* how many are in */

active [2] proctype Worker()
{
	byte other = 1 - _pid;

again:
	wants[_pid] = true;
	turn = other;
	/* A condition as a statement waits until it holds. */
	!wants[other] || turn == _pid;

	inside++;
	assert(inside == 1);
	inside--;

	wants[_pid] = false;
	goto again
}

/* What is said of all runs is a formula over states: `[]` is always, `<>` some time. */
ltl alone { [] (inside <= 1) }
