//! Steps that are asleep: of a state it is told which of them need not be taken, as what they lead to is
//! reached on another way.
//!
//! Which they are depends on how a state was reached, so it is no part of the state: it is a *value* that
//! stands behind it. Of a state that was reached in several ways in one level only those steps are asleep that
//! are so in all: values are joined as sets of bits that all have. A state that was found in an earlier level is
//! left alone. Why that is enough is in `docs/reductions/sleep.md`.

use super::expansion::SuccessorSink;

/// A model some of whose steps can be asleep.
///
/// Its [`expand`](super::StateSpace::expand) takes them, too: who knows nothing of values leaves nothing out.
pub trait SleepSetStateSpace: Send + Sync {
    /// Bytes of a value, at least 1. Zeros say that nothing is asleep, as it is in initial states.
    fn value_bytes(&self) -> usize;

    /// As [`Model::expand`](super::StateSpace::expand), of `pairs`, each a state and behind it a value, but without
    /// the steps that are asleep. Candidates are such pairs, too; in findings there are states alone.
    fn expand_awake(&self, pairs: &[u8], out: &mut SuccessorSink);
}
