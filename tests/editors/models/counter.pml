/* Two processes count; the assertion fails in the third step of B. */
#include "limits.h"
byte n;
byte unused;
chan c = [2] of { byte };

active proctype A() {
  byte k;
  do
  :: k < LIMIT -> c!k; k++
  :: else -> break
  od
}

active proctype B() {
  byte v;
end:
  do
  :: c?v -> n = n + v; assert(n < 3)
  od
}

ltl bounded { [] (n < 10) }
