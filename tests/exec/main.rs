//! Programs and executors.

// Random programs and random models are made from numbers in the same way.
#![allow(clippy::duplicate_mod)]

#[path = "../support/compare.rs"]
mod compare;
#[path = "../support/definition.rs"]
mod definition;
#[path = "../support/programs/mod.rs"]
mod generated;
#[path = "../support/instances.rs"]
mod instances;
#[path = "../../examples/differential/models/mod.rs"]
mod models;
#[path = "../support/selective_expansion.rs"]
mod selective_expansion;
#[path = "../support/mod.rs"]
mod support;

mod access;
mod constants;
mod executor;
mod jit;
mod operators;
mod order;
mod programs;
mod relevant_constants;
mod selective;
