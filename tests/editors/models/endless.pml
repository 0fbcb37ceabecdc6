/* More states than any test visits. */
int a, b, c, d;
active proctype M() { assert(a + b + c + d != 1000000007) }
active proctype A() { do :: a++ :: b++ od }
active proctype B() { do :: c++ :: d++ od }
