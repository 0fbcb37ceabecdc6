//! Transition systems that are Rust types, as state spaces.
//!
//! [`PackedSystem`] makes a [`TransitionSystem`](crate::model::TransitionSystem) a
//! [`StateSpace`](crate::model::StateSpace). It packs a state as its serialization by serde and postcard. The search,
//! the store and reports treat these states like those of any system. A program that needs more (its own encoding of
//! states, write masks) implements `StateSpace` itself.

mod consistency;
mod packed_system;
mod packing;
mod panics;
mod restriction;
pub mod synthetic;

pub use consistency::{ModelInconsistency, check_consistency};
pub use packed_system::PackedSystem;
pub use packing::PackingError;
pub use restriction::RestrictedSystem;
