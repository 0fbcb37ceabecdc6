//! The cycle proviso of partial-order reduction, enforced by the search.
//!
//! A reduction that chooses some transitions of a state preserves infinite runs if each cycle of the reduced system has
//! a fully expanded state. A reduction can ensure that without knowledge of the search, by an order of the states, but
//! then it fully expands many states that are on no cycle. A search finds the cycles, and so it can fully expand fewer
//! states. `docs/reductions/cycles.md` has the proof.

use super::{Result, SuccessorSink};

/// A state space whose cycle proviso a search can enforce.
///
/// Its [`expand`](super::StateSpace::expand) satisfies a proviso of its own, so an engine may also ignore this
/// capability.
pub trait CycleProvisoStateSpace: Send + Sync {
    /// Expands states by their chosen transitions, without a cycle proviso. It
    /// [counts](SuccessorSink::count_partially_expanded) the states that have other transitions.
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink);

    /// As [`expand_chosen`](Self::expand_chosen), but prefers choices whose transitions lead upwards in the order of the
    /// states. Such choices are larger, and have fewer cycles.
    fn expand_ascending(&self, states: &[u8], out: &mut SuccessorSink);

    /// Expands states by all of their transitions.
    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink);

    /// Returns the part of a state that decides which transitions are chosen. States with equal parts must be fully
    /// expanded together: the proof needs a choice that does not depend on the automaton of a property.
    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8];

    /// Returns nothing if a step leads upwards in an order of the states, and otherwise what leads it down. Each cycle has
    /// a step that does not lead upwards. The result is the same for states that differ only outside of their
    /// [choosing parts](Self::choosing_part).
    fn descent(&self, from: &[u8], to: &[u8]) -> Option<StepDescent>;

    /// Returns the paths of steps, if a step may lead through states that are not stored.
    fn chained_steps(&self) -> Option<&dyn ChainedSteps> {
        None
    }
}

/// Steps that lead through states that are not stored. A state is its
/// [choosing part](CycleProvisoStateSpace::choosing_part).
pub trait ChainedSteps {
    /// Returns the states of a shortest path of a step, without the first one. `None` if no step leads from `from` to
    /// `to`.
    ///
    /// # Errors
    ///
    /// If the model fails.
    fn path(&self, from: &[u8], to: &[u8]) -> Result<Option<Vec<Vec<u8>>>>;
}

/// Why a step does not lead upwards in an order of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepDescent {
    /// The order does not distinguish the two states.
    Equal,
    /// A part of the state leads down, such as the location of a process.
    Part {
        /// The number of the part.
        part: u32,
        /// Its value before the step.
        from: u32,
        /// Its value after the step.
        to: u32,
    },
}
