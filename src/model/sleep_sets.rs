//! Sleep sets: transitions of a state that need not be taken, as their targets are reached on another path.
//!
//! Which transitions are asleep depends on the path to a state, so it is no part of the state: it is a *value* behind it, a
//! set of bits. If a state is reached on several paths within one level, only those transitions are asleep that are asleep
//! on all of them: values are intersected. A state of an earlier level is left alone. `docs/reductions/sleep.md` has the
//! proof.

use super::SuccessorSink;

/// A state space some of whose transitions can be asleep.
///
/// Its [`expand`](super::StateSpace::expand) takes them, too: an engine that does not know of values misses nothing.
pub trait SleepSetStateSpace: Send + Sync {
    /// Bytes of a value, at least 1. Nothing is asleep if all of them are zero, as in initial states.
    fn value_bytes(&self) -> usize;

    /// As [`StateSpace::expand`](super::StateSpace::expand), but of `pairs`, each a state and a value behind it, and
    /// without the transitions that are asleep. Candidates are such pairs, too. Findings name states without values.
    fn expand_awake(&self, pairs: &[u8], out: &mut SuccessorSink);
}
