//! Emptiness checks: accepting and fair cycles of a product, in memory and on disk.

mod bounded_graph;
pub mod continuation;
pub mod early_termination;
mod enforced_proviso;
pub mod fair_scc;
pub mod in_memory;
pub mod lasso_hunt;
pub mod nested_dfs;
mod numbered_states;
pub mod owcty;
pub mod proviso;
pub mod proviso_rounds;
pub mod shortest_lasso;
