//! What code touches: one computation for whoever needs to know what an action reads and writes.

mod walk;

pub use walk::{Caller, Operation, Touch, Touched, Values, Walk};
