//! Static analyses of programs.

mod absint;
pub mod access;
pub mod automorphisms;
pub mod bindings;
pub mod bisimulation;
pub mod bit_sets;
pub mod constants;
pub mod def_use;
pub mod dependence;
pub mod equivalence_classes;
pub mod instances;
pub mod linear_sets;
pub mod live_variables;
pub mod local_actions;
pub mod monotonicity;
mod partition_refinement;
pub mod place_bounds;
pub mod ranges;
pub mod static_key_order;
pub mod value_abstraction;
pub mod variable_mentions;
