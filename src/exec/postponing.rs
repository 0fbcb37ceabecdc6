//! Steps that are put off: a state is expanded by some of its steps first, and by the others only if
//! need be.
//!
//! Whoever leaves steps out because they can be taken later must see that they are not put off for ever
//! (the *ignoring problem*). A search by levels can see it: of a state that put steps off it remembers,
//! as *obligations*, which successors it did give. If one of them is new, the search goes on there, and
//! what was put off can be taken from there on. If none is, the state is expanded once more, by
//! [the rest](PostponingStateSpace::expand_postponed). Why that is enough is in `docs/reductions/ignoring.md`.

use super::expansion::SuccessorSink;
use spill::Result;

/// A model that can put off steps.
///
/// Its [`expand`](super::StateSpace::expand) takes every step, as any model's does: who knows nothing of what
/// is put off leaves nothing out.
pub trait PostponingStateSpace: Send + Sync {
    /// As [`Model::expand`](super::StateSpace::expand), but may put off steps of some of `states`, which it
    /// counts ([`SuccessorSink::count_partially_expanded`]). Of each state of which it does, and whose other steps are needed
    /// unless one of its successors is new, it tells `owed` all the successors that it adds: there is one
    /// at least. Leaving early it may tell fewer, but no others.
    ///
    /// What is put off is a function of the state alone.
    fn expand_reduced(&self, states: &[u8], out: &mut SuccessorSink, owed: &mut ObligationSink);

    /// Adds to `out` the steps of `states` that are needed if those of
    /// [`expand_reduced`](PostponingStateSpace::expand_reduced) lead to nothing new, but for these: successors, steps to
    /// states that are left out, and run-time errors. The states have been judged before: nothing is said
    /// of deadlocks and properties.
    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink);
}

/// Told of obligations: the position of a state among those being expanded, and a successor of it.
pub struct ObligationSink<'a> {
    owe: &'a mut dyn FnMut(usize, &[u8]) -> Result<()>,
    failed: Option<spill::Error>,
}

impl ObligationSink<'_> {
    /// Hands to `add` the obligations that `run` tells; gives what `run` gave, or the first failure of
    /// `add`, which then is told no more.
    pub fn collect<T>(
        owe: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
        run: impl FnOnce(&mut ObligationSink) -> Result<T>,
    ) -> Result<T> {
        let mut obligations = ObligationSink { owe, failed: None };
        let done = run(&mut obligations);
        match obligations.failed {
            Some(error) => Err(error),
            None => done,
        }
    }

    /// The state at this position among those being expanded has this successor.
    pub fn add(&mut self, position: usize, successor: &[u8]) {
        if self.failed.is_none() {
            self.failed = (self.owe)(position, successor).err();
        }
    }
}
