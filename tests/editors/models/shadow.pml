/* The name k, and a step k++. */
byte n;

active proctype Low() {
  {
    byte k;
    k = 1
  };
  {
    byte k;
    k = 2 // k
  }
}

active proctype High() {
  byte k;
  printf("// n"); k = n
}

ltl small { [] (n < 9) }
