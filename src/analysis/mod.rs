//! What can be told from a program alone, without running it.

pub mod access;
pub mod automorphisms;
pub mod bindings;
pub mod bisimulation;
pub mod bits;
mod blocks;
pub mod classes;
pub mod constants;
pub mod dependence;
pub mod growth;
pub mod instances;
pub mod linear;
pub mod live;
pub mod local;
pub mod monotone;
pub mod order;
pub mod ranges;
pub mod uses;
pub mod values;
