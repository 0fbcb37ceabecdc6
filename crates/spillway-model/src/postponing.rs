//! Postponed transitions: a state is expanded by some of its transitions first, and by the others only if need be.
//!
//! A partial-order reduction omits transitions that can be taken later. A proviso must ensure that they are not
//! postponed for ever (the *ignoring problem*). A breadth-first search implements it so: for each partially expanded
//! state it stores the explored successors as *proviso obligations*. If one of them is new, the search continues there,
//! and the postponed transitions can be taken from there on. If none is new, the state is
//! [re-expanded](PostponingStateSpace::expand_postponed). `docs/reductions/ignoring.md` has the proof.

use super::SuccessorSink;

/// A state space that can postpone transitions.
///
/// Its [`expand`](super::StateSpace::expand) takes every transition, as in any state space. So an engine without
/// support for postponed transitions misses nothing.
pub trait PostponingStateSpace: Send + Sync {
    /// As [`StateSpace::expand`](super::StateSpace::expand), but may postpone transitions of some of `states`, which it
    /// [counts](SuccessorSink::count_partially_expanded). Some of these states need their postponed transitions unless
    /// one of their successors is new: for each of them it adds all its explored successors, at least one, to
    /// `obligations`. If it returns early, it may add fewer obligations, but no others.
    ///
    /// The postponed transitions are a function of the state alone.
    fn expand_reduced(
        &self,
        states: &[u8],
        out: &mut SuccessorSink,
        obligations: &mut ObligationSink,
    );

    /// Adds to `out` the results that [`expand_reduced`](PostponingStateSpace::expand_reduced) postponed in `states`,
    /// as far as they are needed: successors, excluded transitions and run-time errors. Deadlocks and properties of the
    /// states were reported before and are not reported again.
    fn expand_postponed(&self, states: &[u8], out: &mut SuccessorSink);
}

/// A sink for proviso obligations: the position of a state among the expanded states, and a successor of it.
pub struct ObligationSink<'a> {
    add: &'a mut dyn FnMut(usize, &[u8]),
}

impl<'a> ObligationSink<'a> {
    /// Creates a sink that passes every obligation to `add`.
    pub fn new(add: &'a mut dyn FnMut(usize, &[u8])) -> ObligationSink<'a> {
        ObligationSink { add }
    }

    /// Adds the obligation that the state at this position has this successor.
    pub fn add(&mut self, position: usize, successor: &[u8]) {
        (self.add)(position, successor);
    }
}
