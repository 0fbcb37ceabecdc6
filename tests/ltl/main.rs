//! Linear temporal logic: what formulas and automata mean, and what is asked of models.

mod asked;
mod automata;
mod bench;
mod checked;
mod cycles;
mod digraph;
mod early;
mod fair;
mod families;
mod formulas;
mod own;
mod reduced;
mod shortest;
mod words;
