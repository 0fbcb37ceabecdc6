/* Many states before the violation. */
byte a, b;
active proctype A() { do :: a < 200 -> a++ :: else -> break od }
active proctype B() { do :: b < 200 -> b++ :: else -> break od }
active proctype C() { a == 200 && b == 200; assert(false) }
