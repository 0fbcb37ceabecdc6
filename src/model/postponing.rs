//! Postponed transitions: a state is expanded by some of its transitions first, and by the others only if need be.
//!
//! A partial-order reduction leaves transitions out because they can be taken later. Something must make sure that they are
//! not postponed for ever (the *ignoring problem*). A breadth-first search can: for each partially expanded state it
//! remembers, as *proviso obligations*, the successors that the state gave. If one of them is new, the search continues
//! there, and the postponed transitions can be taken from there on. If none is new, the state is
//! [re-expanded](PostponingStateSpace::expand_postponed). `docs/reductions/ignoring.md` has the proof.

use super::SuccessorSink;

/// A state space that can postpone transitions.
///
/// Its [`expand`](super::StateSpace::expand) takes every transition, as that of any state space does: an engine that does
/// not know of postponed transitions misses nothing.
pub trait PostponingStateSpace: Send + Sync {
    /// As [`StateSpace::expand`](super::StateSpace::expand), but may postpone transitions of some of `states`, which it
    /// [counts](SuccessorSink::count_partially_expanded). Some of these states need their postponed transitions unless one
    /// of their successors is new: for each of them it adds to `obligations` all successors that it gives, at least one.
    /// If it returns early, it may add fewer obligations, but no others.
    ///
    /// Which transitions are postponed is a function of the state alone.
    fn expand_reduced(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        obligations: &mut ObligationSink,
    );

    /// Adds to `out` what [`expand_reduced`](PostponingStateSpace::expand_reduced) postponed in `states`, as far as it is
    /// needed: successors, excluded transitions and run-time errors. Deadlocks and properties of the states have been
    /// reported before and are not reported again.
    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink);
}

/// Takes proviso obligations: the position of a state among those that are being expanded, and a successor of it.
pub struct ObligationSink<'a> {
    add: &'a mut dyn FnMut(usize, &[u8]),
}

impl<'a> ObligationSink<'a> {
    /// Hands every obligation to `add`.
    pub fn new(add: &'a mut dyn FnMut(usize, &[u8])) -> ObligationSink<'a> {
        ObligationSink { add }
    }

    /// The state at this position has this successor.
    pub fn add(&mut self, position: usize, successor: &[u8]) {
        (self.add)(position, successor);
    }
}
