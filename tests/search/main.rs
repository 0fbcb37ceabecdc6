//! Searches find every state, under all conditions.

// Only the example uses the names of causes and the executed actions.
#[allow(dead_code)]
#[path = "../../examples/differential/causes.rs"]
mod causes;
#[path = "../../examples/differential/claims.rs"]
mod claims;
#[path = "../support/graphs.rs"]
mod graphs;
#[path = "../../examples/differential/models/mod.rs"]
mod models;
#[allow(dead_code)]
#[path = "../../examples/differential/spillway_answers.rs"]
mod spillway_answers;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../examples/differential/tools.rs"]
mod tools;

mod coverage;
mod external;
mod fault_property;
mod faults;
mod kill;
mod small_levels;
mod store_runs;
mod stores;
mod tasks;
