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

mod alike;
mod auto;
mod chains;
mod claims;
mod confluence;
mod dead;
mod documents;
mod dominate;
mod linear;
mod linear_conditions;
mod merge;
mod pairs;
mod partial_order;
mod postponed;
mod pruned;
mod reversible;
mod simultaneous;
mod sleep;
mod slice;
mod stacks;
mod states;
mod stopped;
mod structural;
mod symmetry;
mod timeouts;
mod together;
mod told;
mod values;
