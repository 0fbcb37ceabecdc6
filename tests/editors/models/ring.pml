/* A file that includes itself. */
#include "ring.pml"
byte x;
