//! The work of a search, by counts. A clock would give another result on each machine.
//!
//! The unit is a visit of a member of a set that is examined to choose transitions, about 25 ns. The weights were
//! measured on one machine, for compiled models. Only their ratios matter.

/// The work of a transition: about 50 ns.
const TRANSITION: f64 = 2.0;

/// The work of storing a state: about 100 ns.
const STORED: f64 = 4.0;

/// The work of a choice of transitions that is found in the cache: about 300 ns.
const CHOICE: f64 = 12.0;

/// The counters of a pilot search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkCounters {
    /// The number of stored states.
    pub states: usize,
    /// The number of transitions.
    pub transitions: u64,
    /// The number of states passed through without being stored.
    pub skipped: u64,
    /// The number of choices of transitions.
    pub choices: u64,
    /// The number of members of sets visited to choose them.
    pub looked: u64,
}

impl WalkCounters {
    /// Returns what was counted after `before`.
    pub fn since(self, before: WalkCounters) -> WalkCounters {
        WalkCounters {
            states: self.states - before.states,
            transitions: self.transitions - before.transitions,
            skipped: self.skipped - before.skipped,
            choices: self.choices - before.choices,
            looked: self.looked - before.looked,
        }
    }

    /// Returns the counters of a pilot search that is this many times as large.
    pub fn times(self, factor: usize) -> WalkCounters {
        let each = factor as u64;
        WalkCounters {
            states: self.states * factor,
            transitions: self.transitions * each,
            skipped: self.skipped * each,
            choices: self.choices * each,
            looked: self.looked * each,
        }
    }

    /// Returns the work.
    pub fn work(self) -> f64 {
        let steps = (self.transitions + self.skipped) as f64;
        let (stored, choices) = (self.states as f64, self.choices as f64);
        TRANSITION * steps + STORED * stored + CHOICE * choices + self.looked as f64
    }
}

/// Returns the counters before the levels with the later half of the states. `ends` has the counters up to the end of
/// each level.
pub(super) fn before_later_half(ends: &[WalkCounters]) -> WalkCounters {
    let all = ends.last().map_or(0, |end| end.states);
    ends.iter().copied().rfind(|end| 2 * end.states < all).unwrap_or_default()
}
