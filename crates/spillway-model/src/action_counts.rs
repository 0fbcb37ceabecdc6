//! The number of executions of each action.

/// The number of an action. The actions of a system are numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ActionId(pub u32);

/// The number of executions of each action, by its number in the executed program.
///
/// An action is counted for each step that it is part of. The common beginning of several steps, where an atomic
/// sequence branches, is counted once. Actions of a failing step are counted up to the failure.
#[derive(Clone, Debug, Default)]
pub struct ActionCounts {
    /// The counts by number. Later actions were not executed.
    counts: Vec<u64>,
}

impl ActionCounts {
    /// Creates counts by number.
    pub fn new(counts: Vec<u64>) -> ActionCounts {
        ActionCounts { counts }
    }

    /// Returns the number of executions of an action.
    pub fn of(&self, action: ActionId) -> u64 {
        self.counts.get(action.0 as usize).copied().unwrap_or_default()
    }

    /// Returns the counts of all actions up to the last executed one, by number.
    pub fn all(&self) -> &[u64] {
        let taken = self.counts.iter().rposition(|&it| it > 0).map_or(0, |last| last + 1);
        &self.counts[..taken]
    }

    /// Returns the number of actions that were executed.
    pub fn executed(&self) -> usize {
        self.counts.iter().filter(|&&it| it > 0).count()
    }

    /// Adds `times` executions of an action.
    pub fn add(&mut self, action: ActionId, times: u64) {
        self.at_least(action.0 as usize + 1)[action.0 as usize] += times;
    }

    /// Removes the count of an action, and returns it.
    pub fn take(&mut self, action: ActionId) -> u64 {
        self.counts.get_mut(action.0 as usize).map(std::mem::take).unwrap_or_default()
    }

    /// Adds other counts of the same program.
    pub fn merge(&mut self, other: ActionCounts) {
        if self.counts.is_empty() {
            self.counts = other.counts;
            return;
        }
        let sums = self.at_least(other.counts.len()).iter_mut().zip(&other.counts);
        sums.for_each(|(sum, count)| *sum += count);
    }

    /// Returns the counts of at least `actions` actions.
    pub(super) fn at_least(&mut self, actions: usize) -> &mut [u64] {
        if self.counts.len() < actions {
            self.counts.resize(actions, 0);
        }
        &mut self.counts
    }
}

impl PartialEq for ActionCounts {
    fn eq(&self, other: &ActionCounts) -> bool {
        self.all() == other.all()
    }
}

impl Eq for ActionCounts {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_zero_counts_are_ignored() {
        let mut counts = ActionCounts::default();
        counts.add(ActionId(1), 2);
        assert_eq!(counts, ActionCounts::new(vec![0, 2, 0, 0]));
        counts.merge(ActionCounts::new(vec![1, 0, 0, 5]));
        assert_eq!(counts.all(), [1, 2, 0, 5]);
        assert_eq!([1, 9].map(|it| counts.of(ActionId(it))), [2, 0]);
    }
}
