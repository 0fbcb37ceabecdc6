//! Views: states that are identified by a part of them.
//!
//! A state begins with its *view*. States with equal views count as one. The first of them in breadth-first order
//! *represents* them: it is stored, checked and expanded. The others are dropped. The order is that of a search with one
//! queue. States of an earlier level come first. Within a level the order of their parents decides, then the order in
//! which the system generates successors. So a representative does not depend on threads, memory or interruptions.
//!
//! Numbers are those of a level: the first representative of each level has the number 0. A state of an earlier level is
//! first in any case.

use super::SuccessorSink;

/// A state space whose states are identified by views.
///
/// Its [`initial`](super::StateSpace::initial) and [`expand`](super::StateSpace::expand) do not identify states. So an
/// engine without support for views misses nothing.
pub trait ViewedStateSpace: Send + Sync {
    /// Returns the bytes of a view, at least 1 and at most those of a state.
    fn view_bytes(&self) -> usize;

    /// As [`StateSpace::initial`](super::StateSpace::initial), but a candidate is a state followed by its
    /// [back-edge](super::BackEdge). So is an unencoded state.
    fn initial_with_edges(&self, out: &mut SuccessorSink);

    /// As [`StateSpace::expand`](super::StateSpace::expand), for states that follow the back-edge of their own number and
    /// the index 0. Candidates are states followed by their back-edges, and so are unencoded states. Findings contain
    /// states with what precedes them.
    fn expand_with_edges(&self, states: &[u8], out: &mut SuccessorSink);
}
