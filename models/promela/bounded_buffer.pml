// Producers and consumers at a ring buffer, with counting semaphores by Dijkstra's P and V.
//
// expect: verdict=verified states=428 transitions=744 levels=51 deadlocks=0
// runs: verdict=violated | --ltl [] (items > 0 -> <> (items == 0))
// runs: verdict=violated | --fair weak --ltl [] (items > 0 -> <> (items == 0))

#define SIZE 2
byte buffer[SIZE], in_at, out_at, waiting;
byte room = SIZE, items;
bool busy;

inline P(semaphore) { atomic { semaphore > 0 -> semaphore-- } }
inline V(semaphore) { semaphore++ }
inline lock() { atomic { !busy -> busy = true } }

active [2] proctype Producer() {
	do
	:: P(room);
	   lock();
	   buffer[in_at] = _pid + 1;
	   in_at = (in_at + 1) % SIZE;
	   waiting++;
	   assert(waiting <= SIZE);
	   busy = false;
	   V(items)
	od
}

active proctype Consumer() {
	do
	:: P(items);
	   lock();
	   assert(buffer[out_at] > 0);
	   buffer[out_at] = 0;
	   out_at = (out_at + 1) % SIZE;
	   waiting--;
	   busy = false;
	   V(room)
	od
}
