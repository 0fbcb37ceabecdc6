//! What code touches: one computation for whoever needs to know what an action reads and writes.
//!
//! - `walk`: what each construct touches, in the order of evaluation;
//! - `cells`, `object`: what there is to touch;
//! - `collect`: the walk of an action instance, indices followed as far as values are known (`sums`:
//!   counters; `lives`: instances that start and end); `following`: what else those ask who follow values;
//! - `failing`: which run-time errors code may meet (`failures`), by what is known of values as it runs
//!   (`here`); `definedness`: what may be undefined at all;
//! - `guard`: what must hold for a step, part by part;
//! - `table`: every action instance with what it reads and writes; `chain`: what follows in its step;
//!   `observers`: what properties ask.
//!
//! `docs/ir.md` says what each object is and each operation counts as.

mod cells;
mod chain;
mod collect;
mod definedness;
mod failing;
mod failures;
mod following;
mod guard;
mod here;
mod lives;
mod object;
mod observers;
mod sums;
mod table;
pub(crate) mod walk;

pub use cells::CellSet;
pub use failures::FailureKinds;
pub use guard::{ChannelPredicate, ConjunctCondition, GuardConjunct, GuardTest};
pub use object::{AccessSet, ChannelEffect, ChannelSlot, CounterAddition, LocationChange};
pub use table::{AccessTable, InstanceAccess};
pub use walk::{AccessVisitor, AccessWalk, BoundValues, CallContext, ChannelOperation, StateTouch};
