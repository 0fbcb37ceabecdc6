//! The accesses of code: one computation for all clients that need the reads and writes of actions.
//!
//! - `walk`: the accesses of each construct, in the order of evaluation;
//! - `cell_set`, `access_set`: sets of accessed objects;
//! - `collector`: the walk of an action instance, with known values of indices (`counter_sums`: counters;
//!   `instance_lifetimes`: instances that start and end; `live_processes`, `live_channels`: the instances of a state);
//!   `value_queries`: values and cells for analyses that follow values;
//! - `failure_analysis`: possible run-time errors (`failure_kinds`) by abstract interpretation (`abstract_state`);
//!   `definedness`: cells that may be undefined;
//! - `guard`: guards as lists of conjuncts;
//! - `access_table`: all action instances with their accesses (`instance_access`, `instance_cells`); `atomic_sequences`:
//!   the rest of a step; `observers`: the reads of properties; `partners`: the reads that decide whether a rendezvous has a receiver.
//!
//! `docs/internals/ir.md` defines the objects and the accesses of each operation.

mod abstract_state;
mod access_set;
mod access_table;
mod atomic_sequences;
mod cell_set;
mod collector;
mod counter_sums;
mod definedness;
mod failure_analysis;
mod failure_kinds;
mod guard;
mod instance_access;
mod instance_cells;
mod instance_lifetimes;
mod live_channels;
mod live_processes;
mod observers;
mod partners;
mod value_queries;
pub mod walk;

pub use access_set::{AccessSet, ChannelEffect, ChannelSlot, CounterAddition, LocationChange};
pub use access_table::AccessTable;
pub use cell_set::CellSet;
pub use failure_kinds::FailureKinds;
pub use guard::{ChannelPredicate, ConjunctCondition, GuardConjunct, GuardTest};
pub use instance_access::InstanceAccess;
pub use live_processes::{LiveProcesses, linking_parameters, own_variable};
pub use walk::{AccessVisitor, AccessWalk, BoundValues, CallContext, ChannelOperation, StateTouch};
