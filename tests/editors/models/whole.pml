byte x;
#include "part.pml"
