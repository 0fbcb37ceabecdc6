//! What expanding came to, slice by slice, until it is certain that it counts.
//!
//! Workers are at different places of a level. If one of them leaves its slice, what the others made
//! of later ones is not counted, though it was complete.

use crate::model::ExpansionOutcome;
use std::collections::VecDeque;

/// So many slices may be doubtful before it is asked which of them no longer are.
const DOUBTFUL_MAX: usize = 64;

/// The tallies of one worker.
#[derive(Default)]
pub struct WorkerTallies {
    /// Of slices that count.
    certain: ExpansionOutcome,
    /// Of later slices, each with the number of its first state, ascending.
    doubtful: VecDeque<(u64, ExpansionOutcome)>,
}

impl WorkerTallies {
    /// Adds those of the slice that begins at state `first`; `certain` says before which state all
    /// slices count.
    pub(super) fn add(
        &mut self,
        first: u64,
        collected: ExpansionOutcome,
        certain: impl Fn() -> u64,
    ) {
        self.doubtful.push_back((first, collected));
        if self.doubtful.len() >= DOUBTFUL_MAX {
            self.count_before(certain());
        }
    }

    /// The tallies of the slices before a state.
    pub(super) fn of_states_before(mut self, state: u64) -> ExpansionOutcome {
        self.count_before(state);
        self.certain
    }

    fn count_before(&mut self, before: u64) {
        while let Some((_, collected)) = self.doubtful.pop_front_if(|(first, _)| *first < before) {
            self.certain += collected;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Counters;

    #[test]
    fn slices_from_where_one_was_left_are_not_counted() {
        let slice = |transitions| {
            let counters = Counters { transitions, ..Counters::default() };
            ExpansionOutcome { counters, ..ExpansionOutcome::default() }
        };
        let mut tallies = WorkerTallies::default();
        for first in 0..500 {
            tallies.add(first, slice(1), || first.min(300));
        }
        assert_eq!(tallies.of_states_before(450).counters.transitions, 450);
    }
}
