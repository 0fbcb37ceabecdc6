//! Sleep sets: transitions of a state that need not be taken, since their targets are reached on another path.
//!
//! A sleep set depends on the path to a state, so it is not part of the state. It is a *value* that follows the state,
//! a set of bits. If a state is reached on several paths within one level, the values are intersected. A state of an
//! earlier level does not change. `docs/reductions/sleep.md` has the proof.

use super::SuccessorSink;

/// A state space with sleep sets.
///
/// Its [`expand`](super::StateSpace::expand) takes all transitions. So an engine without support for values misses
/// nothing.
pub trait SleepSetStateSpace: Send + Sync {
    /// Returns the bytes of a value, at least 1. A value of zeros is the empty sleep set, as in initial states.
    fn value_bytes(&self) -> usize;

    /// As [`StateSpace::expand`](super::StateSpace::expand), but for `pairs`, each a state followed by a value, and
    /// without the transitions of the sleep set. Candidates are such pairs, too. Findings contain states without
    /// values.
    fn expand_awake(&self, pairs: &[u8], out: &mut SuccessorSink);
}
