// A comment of the model.byte m;
active proctype P() {  m = x}
