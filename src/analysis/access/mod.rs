//! What code touches: one computation for whoever needs to know what an action reads and writes.
//!
//! - `walk`: what each construct touches, in the order of evaluation;
//! - `cell_set`, `access_set`: what there is to touch;
//! - `collector`: the walk of an action instance, indices followed as far as values are known (`counter_sums`:
//!   counters; `instance_lifetimes`: instances that start and end); `value_queries`: what else those ask who follow values;
//! - `failure_analysis`: which run-time errors code may meet (`failure_kinds`), by what is known of values as it runs
//!   (`abstract_state`); `definedness`: what may be undefined at all;
//! - `guard`: what must hold for a step, part by part;
//! - `access_table`: every action instance with what it reads and writes (`instance_access`); `atomic_sequences`: what follows in its step;
//!   `observers`: what properties ask.
//!
//! `docs/internals/ir.md` says what each object is and each operation counts as.

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
mod instance_lifetimes;
mod observers;
mod value_queries;
pub(crate) mod walk;

pub use access_set::{AccessSet, ChannelEffect, ChannelSlot, CounterAddition, LocationChange};
pub use access_table::AccessTable;
pub use cell_set::CellSet;
pub use failure_kinds::FailureKinds;
pub use guard::{ChannelPredicate, ConjunctCondition, GuardConjunct, GuardTest};
pub use instance_access::InstanceAccess;
pub use walk::{AccessVisitor, AccessWalk, BoundValues, CallContext, ChannelOperation, StateTouch};
