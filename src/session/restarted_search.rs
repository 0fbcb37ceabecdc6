//! The restart of a search with other reductions.

use super::{SearchJob, SearchedModel};

/// Decides in the middle of a search whether it is restarted with other reductions.
pub trait RestartDecision<'m> {
    /// Returns the number of states after which it decides. The decision is made once.
    fn after(&self) -> u64;

    /// Returns the search that replaces that of `searched`, if it should be replaced, given some of its states and its
    /// job. The states of both have the same bytes.
    fn decide(
        &self,
        states: &[u8],
        searched: &SearchedModel<'m>,
        job: &SearchJob,
    ) -> Option<RestartedSearch<'m>>;
}

/// A search that replaces another one.
pub struct RestartedSearch<'m> {
    /// The model with other reductions.
    pub searched: SearchedModel<'m>,
    /// The job of the search.
    pub job: SearchJob,
}
