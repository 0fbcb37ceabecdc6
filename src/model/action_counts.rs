//! How often each action was taken.

/// The number of an action: actions of a system are numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ActionId(pub u32);

/// How often actions were taken, by their numbers in the program that was run.
///
/// An action is counted for each step that it is part of. The common beginning of several steps, where an atomic sequence
/// branches, is counted once. Actions of a failing step are counted up to where it fails.
#[derive(Clone, Debug, Default)]
pub struct ActionCounts {
    /// By number. Actions behind the last have not been taken.
    counts: Vec<u64>,
}

impl ActionCounts {
    /// These counts, by number.
    pub fn new(counts: Vec<u64>) -> ActionCounts {
        ActionCounts { counts }
    }

    /// How often an action was taken.
    pub fn of(&self, action: ActionId) -> u64 {
        self.counts.get(action.0 as usize).copied().unwrap_or_default()
    }

    /// The counts of all actions up to the last that was taken, by number.
    pub fn all(&self) -> &[u64] {
        let taken = self.counts.iter().rposition(|&it| it > 0).map_or(0, |last| last + 1);
        &self.counts[..taken]
    }

    /// Counts an action `times` times more.
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

    /// The counts of at least so many actions.
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
    fn what_was_never_taken_makes_no_difference() {
        let mut counts = ActionCounts::default();
        counts.add(ActionId(1), 2);
        assert_eq!(counts, ActionCounts::new(vec![0, 2, 0, 0]));
        counts.merge(ActionCounts::new(vec![1, 0, 0, 5]));
        assert_eq!(counts.all(), [1, 2, 0, 5]);
        assert_eq!([1, 9].map(|it| counts.of(ActionId(it))), [2, 0]);
    }
}
