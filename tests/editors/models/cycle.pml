byte x = 2;
active proctype P() {
  x = 1;
  do
  :: x == 1 -> x = 3
  :: x == 3 -> x = 1
  od
}
ltl returns { <> (x == 0) }
ltl stays { [] (x > 0) }
