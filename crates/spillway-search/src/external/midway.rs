//! A question to the owner of a search, at the end of a level: whether another system should be searched instead.
//!
//! The choice of reductions rests on samples of the states that were taken before the search. The levels of the search
//! are better samples. The question is asked once, at a fixed number of states. It depends on the set of states of the
//! level only. So it has the same answer with any number of threads, and after an interruption.

use super::ExternalSearch;
use crate::level_states::LevelStates;
use spill::Result;
use std::collections::BTreeSet;

/// The number of states that the question shows.
const SAMPLE: usize = 64;

/// The least size of the level, relative to the largest level so far. In smaller levels the search is about to end.
const LEVEL_MIN: f64 = 0.5;

/// Returns whether a search should be abandoned, given states of its last level.
pub type AbandonPredicate<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// The question of a search.
pub(super) struct MidwayQuestion<'a> {
    /// The number of states at which it is asked.
    after: u64,
    is_abandoned: Box<AbandonPredicate<'a>>,
}

impl<'a> ExternalSearch<'a> {
    /// Asks at the end of the first level with which the search has `after` states whether to abandon it. A search that
    /// had so many states before has asked. An abandoned search stops.
    pub fn with_midway_question(
        self,
        after: u64,
        is_abandoned: impl Fn(&[u8]) -> bool + 'a,
    ) -> Self {
        let is_open = self.states < after && self.carrying.is_none();
        let question = MidwayQuestion { after, is_abandoned: Box::new(is_abandoned) };
        ExternalSearch { midway: is_open.then_some(question), ..self }
    }

    /// Asks the question, if it is due. Returns whether the search is abandoned.
    pub(super) fn is_abandoned(&mut self) -> Result<bool> {
        let states = self.states;
        let Some(question) = self.midway.take_if(|it| it.after <= states) else { return Ok(false) };
        let largest = super::levels_keys(self.store.levels()).max().unwrap_or_default();
        if (self.last_level_states() as f64) < LEVEL_MIN * largest as f64 {
            return Ok(false);
        }
        Ok((question.is_abandoned)(&self.sample_of_level()?))
    }

    /// Returns some states of the last level. They do not depend on the order of its states.
    fn sample_of_level(&mut self) -> Result<Vec<u8>> {
        let frontier = self.store.frontier(|_| {})?;
        let level = LevelStates {
            frontier: &frontier,
            codec: self.store.frontier_codec(),
            width: self.width(),
        };
        let mut least: BTreeSet<(u64, Vec<u8>)> = BTreeSet::new();
        level.visit(&mut |states| {
            for state in states.chunks_exact(self.model.width()) {
                let hash = spill::hash(state);
                if least.len() < SAMPLE || least.last().is_some_and(|it| hash < it.0) {
                    least.insert((hash, state.to_vec()));
                }
                if least.len() > SAMPLE {
                    least.pop_last();
                }
            }
            Ok(true)
        })?;
        Ok(least.into_iter().flat_map(|it| it.1).collect())
    }
}
