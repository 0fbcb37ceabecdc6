//! Linear temporal logic: the meaning of formulas and automata, and checks of models.

// The census and the random states are for another test.
#[allow(dead_code, unused_imports)]
#[path = "../support/programs/mod.rs"]
mod generated;
#[path = "../support/mod.rs"]
mod support;

mod acceptance;
mod asked;
mod automata;
mod bench;
mod branching;
mod checked;
mod composite;
mod cycles;
mod decided;
mod digraph;
mod early;
mod fair;
mod families;
mod formulas;
mod invariants;
mod kept;
mod own;
mod probed;
mod programs;
mod quantified;
mod reduced;
mod repetitions;
mod rounds;
mod shortest;
mod swept;
mod symmetric;
mod tableau;
mod words;
