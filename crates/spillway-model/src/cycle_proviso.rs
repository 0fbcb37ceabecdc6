//! The cycle proviso of partial-order reduction, enforced by the search.
//!
//! A reduction that chooses some transitions of a state preserves infinite runs if each cycle of the reduced system has
//! a fully expanded state. A reduction can ensure that without knowledge of the search, by an order of the states, but
//! then it fully expands many states that are on no cycle. A search finds the cycles, and so it can fully expand fewer
//! states. `docs/reductions/cycles.md` has the proof.

use super::SuccessorSink;

/// A state space whose cycle proviso a search can enforce.
///
/// Its [`expand`](super::StateSpace::expand) satisfies a proviso of its own, so an engine may also ignore this
/// capability.
pub trait CycleProvisoStateSpace: Send + Sync {
    /// Expands states by their chosen transitions, without a cycle proviso. It
    /// [counts](SuccessorSink::count_partially_expanded) the states that have other transitions.
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink);

    /// Expands states by all of their transitions.
    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink);

    /// Returns the part of a state that decides which transitions are chosen. States with equal parts must be fully
    /// expanded together: the proof needs a choice that does not depend on the automaton of a property.
    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8];

    /// Returns whether a step leads upwards in an order of the states. Each cycle has a step that does not.
    fn ascends(&self, from: &[u8], to: &[u8]) -> bool;
}
