//! Linear temporal logic: the meaning of formulas and automata, and checks of models.

// Other tests use the census and the random states.
#[allow(dead_code, unused_imports)]
#[path = "../support/programs/mod.rs"]
mod generated;
#[path = "../support/mod.rs"]
mod support;

mod acceptance;
mod automata;
mod bad_prefixes;
mod bench;
mod branching;
mod composite;
mod cycles_on_disk;
mod digraph;
mod disk_search;
mod early_termination;
mod explain;
mod fair_reductions;
mod families;
mod faulty_provisos;
mod formulas;
mod invariants;
mod kept_verdicts;
mod lasso_words;
mod liveness_checks;
mod liveness_reductions;
mod memory_probe;
mod model_properties;
mod proviso_rounds;
mod quantified_formulas;
mod random_programs;
mod shortest_runs;
mod stutter_invariance;
mod symmetry;
mod tableau;
mod weak_fairness;
