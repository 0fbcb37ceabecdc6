/* Each process ends after one step. */
byte x, y;
active proctype A() { x = 1 }
active proctype B() { y = 1 }
