//! Reductions: the reduced search represents the whole state space.

// The census and the random states are for another test.
#[allow(dead_code, unused_imports)]
#[path = "../support/programs/mod.rs"]
mod generated;
#[path = "../support/graphs.rs"]
mod graphs;
#[path = "../support/runs.rs"]
mod runs;
#[path = "../support/mod.rs"]
mod support;

mod auto;
mod boring_and_doomed;
mod chains;
mod claims;
mod combinations;
mod confluence;
mod dead;
mod documents;
mod dominate;
mod incompatible_pairs;
mod linear;
mod linear_conditions;
mod live_processes;
mod merge;
mod partial_order;
mod postponed;
mod process_symmetry;
mod report_texts;
mod reversible;
mod simultaneous;
mod sleep;
mod slice;
mod stacks;
mod states;
mod stop_requests;
mod structural;
mod symmetry;
mod timeouts;
mod values;
