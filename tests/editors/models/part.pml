active proctype P() { x++; assert(x > 0) }
