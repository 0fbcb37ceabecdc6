//! The counters of an expansion and of a search.

use rkyv::{Archive, Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, SubAssign};

/// The names of a counter in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterLabel {
    /// The member of a JSON report; absent if reports omit the counter.
    pub json_member: Option<&'static str>,
    /// The noun, in the singular, in the row `found` of a report as text; absent if the row omits the counter.
    pub noun: Option<&'static str>,
}

/// Defines [`Counters`] and everything that treats all counters alike. A row is the documentation and the name of a
/// field, then the member of JSON reports and the noun of text reports.
macro_rules! counters {
    ($($(#[$doc:meta])+ $field:ident, $json_member:expr, $noun:expr;)+) => {
        /// The counters of an expansion: numbers that are added over states, workers, levels and sessions.
        ///
        /// This is the one table of statistics. Sinks, outcomes, checkpoints, receipts of tasks and reports contain all
        /// of it. So a new counter is a new row. It changes the format of checkpoints and receipts.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
        pub struct Counters {
            $($(#[$doc])+ pub $field: u64,)+
        }

        impl Counters {
            /// Returns every counter in the order of the table: its label and its value.
            pub fn labelled(&self) -> impl Iterator<Item = (CounterLabel, u64)> + use<> {
                [$((CounterLabel { json_member: $json_member, noun: $noun }, self.$field),)+].into_iter()
            }
        }

        impl AddAssign for Counters {
            fn add_assign(&mut self, other: Counters) {
                $(self.$field += other.$field;)+
            }
        }

        impl SubAssign for Counters {
            fn sub_assign(&mut self, other: Counters) {
                $(self.$field -= other.$field;)+
            }
        }
    };
}

counters! {
    /// Transitions of the expanded states: one for each candidate, duplicates included, and those that are
    /// [`excluded`](Counters::excluded) or [`pruned`](Counters::pruned).
    transitions, Some("transitions"), Some("transition");
    /// Initial states as the model generates them, duplicates and excluded ones included.
    initial, None, None;
    /// Transitions that an assumption of the model excludes. They have no candidates.
    excluded, None, None;
    /// Transitions that are not explored, since no violation is reachable behind them. They have no candidates.
    pruned, Some("steps_not_followed"), None;
    /// States expanded by fewer than all of their transitions; the others are postponed.
    partially_expanded, Some("states_partly_expanded"), None;
    /// Partially expanded states that are expanded again, by their postponed transitions.
    re_expanded, Some("states_expanded_again"), None;
    /// Intermediate states that were not stored, counted at each visit.
    skipped, Some("states_run_through"), None;
}

impl Counters {
    /// Returns the number of transitions with a candidate.
    pub fn candidates(&self) -> u64 {
        self.transitions - self.excluded - self.pruned
    }

    /// Returns whether no counter exceeds `max`.
    pub fn are_at_most(&self, max: u64) -> bool {
        self.labelled().all(|(_, value)| value <= max)
    }
}

impl Add for Counters {
    type Output = Counters;

    fn add(mut self, other: Counters) -> Counters {
        self += other;
        self
    }
}

impl Sum for Counters {
    fn sum<I: Iterator<Item = Counters>>(all: I) -> Counters {
        all.fold(Counters::default(), Counters::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_summed() {
        let one = Counters {
            transitions: 9,
            initial: 7,
            excluded: 2,
            pruned: 3,
            partially_expanded: 4,
            re_expanded: 5,
            skipped: 6,
        };
        let sum: Counters = [one; 3].into_iter().sum();
        assert!(one.labelled().zip(sum.labelled()).all(|(one, sum)| 3 * one.1 == sum.1));
        assert_eq!(sum.candidates(), 12);
        assert!(one.are_at_most(9) && !one.are_at_most(8));
    }
}
