//! The outcomes of expanded slices, until it is certain that they count.
//!
//! Workers are at different places of a level. If one worker abandons its slice, the outcomes of later slices do not
//! count, although these were complete.

use spillway_model::ExpansionOutcome;
use std::collections::VecDeque;

/// The number of uncertain slices at which a worker checks which of them have become certain.
const DOUBTFUL_MAX: usize = 64;

/// The outcomes of one worker.
#[derive(Default)]
pub struct WorkerTallies {
    /// The outcome of the slices that count.
    certain: ExpansionOutcome,
    /// The outcomes of later slices, each with the index of its first state, ascending.
    doubtful: VecDeque<(u64, ExpansionOutcome)>,
}

impl WorkerTallies {
    /// Adds the outcome of the slice that begins at state `first`. `certain` returns the state before which all slices
    /// count.
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

    /// Adds the outcome of a slice that counts in any case.
    pub(super) fn add_certain(&mut self, collected: ExpansionOutcome) {
        self.certain += collected;
    }

    /// Returns the outcome of the slices before a state.
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
    use spillway_model::Counters;

    #[test]
    fn slices_after_the_first_unfinished_one_are_not_counted() {
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
