//! The decision of a trial of reductions, from the sizes that the samples predict.
//!
//! It uses counts only: states, transitions, choices. So it is the same on each machine.

use crate::search::pilot::WalkCounters;

/// The weight of states beside work, as an exponent: halving the states is worth the square root of halving the work.
/// States cost memory and disk even where time does not matter.
const STATES_WEIGHT: f64 = 0.5;

/// The cost up to which a combination is used that does not preserve depth. Its counterexamples may be longer.
const COST_MAX: f64 = 0.7;

/// The cost up to which a combination is used that preserves depth.
const COST_MAX_WITH_DEPTH: f64 = 0.95;

/// The factor between the costs of two combinations up to which larger samples must decide.
const CLOSE: f64 = 1.5;

/// The factor between the costs of two combinations from which a search is restarted.
const CLEAR: f64 = 1.5;

/// A size relative to the search without reductions that need a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RelativeSize {
    /// The share of the states that is stored.
    pub states: f64,
    /// The share of the work.
    pub work: f64,
}

impl RelativeSize {
    /// The size of the search without these reductions.
    pub const WHOLE: RelativeSize = RelativeSize { states: 1.0, work: 1.0 };

    /// Returns the size relative to that of which `self` is a part.
    pub fn of(self, other: RelativeSize) -> RelativeSize {
        RelativeSize { states: self.states * other.states, work: self.work * other.work }
    }

    fn cost(self) -> f64 {
        self.work * self.states.powf(STATES_WEIGHT)
    }

    /// Returns whether a reduction that does not preserve depth is good enough to be used.
    pub fn pays(self) -> bool {
        self.cost() <= COST_MAX
    }

    /// Returns the geometric mean of sizes.
    pub fn mean(sizes: &[RelativeSize]) -> RelativeSize {
        let each = 1.0 / sizes.len().max(1) as f64;
        let product = sizes.iter().fold(RelativeSize::WHOLE, |all, &it| all.of(it));
        RelativeSize { states: product.states.powf(each), work: product.work.powf(each) }
    }
}

/// The sizes that a trial predicts for a combination of reductions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PredictedSize {
    /// The size for each sample.
    pub samples: Vec<RelativeSize>,
    /// The counters of its whole state space, if the trial explored all of it.
    pub complete: Option<WalkCounters>,
    /// Whether it preserves the depth of counterexamples.
    pub keeps_depth: bool,
    /// Whether the remaining share rises from level to level in some sample. Then larger samples must decide.
    pub rises: bool,
}

impl PredictedSize {
    /// Returns the predicted size. `whole` has the counters of the first levels without the reductions: a complete
    /// state space is at most this share of it.
    pub fn predicted(&self, whole: WalkCounters) -> RelativeSize {
        match self.complete {
            None => RelativeSize::mean(&self.samples),
            Some(counters) => RelativeSize {
                states: counters.states as f64 / whole.states.max(1) as f64,
                work: counters.work() / whole.work().max(1.0),
            },
        }
    }

    /// Returns its cost, relative to the search without the reductions.
    fn cost(&self, whole: WalkCounters) -> f64 {
        self.predicted(whole).cost()
    }

    /// Returns whether it is good enough to be used. The size of a complete state space is known, but its share is
    /// not, if the whole space is larger than the first levels. So the samples count, too.
    fn is_good(&self, whole: WalkCounters) -> bool {
        let max = if self.keeps_depth { COST_MAX_WITH_DEPTH } else { COST_MAX };
        self.cost(whole).min(RelativeSize::mean(&self.samples).cost()) <= max
    }

    /// Returns the least cost that is possible. A state space that is not complete takes more than the work of the
    /// first levels.
    fn cost_min(&self, whole: WalkCounters) -> f64 {
        let RelativeSize { states, work } = self.predicted(whole);
        let least = if self.complete.is_some() { 0.0 } else { 1.0 };
        RelativeSize { states, work: work.max(least) }.cost()
    }
}

/// Returns the position of the best of some predictions. The first is that of the search without the reductions.
/// `whole` has the counters of its first levels.
///
/// Beside a complete state space, the others have at least the work of the first levels.
pub(super) fn best(all: &[PredictedSize], whole: WalkCounters) -> usize {
    let is_any_complete = all.iter().any(|it| it.complete.is_some());
    let cost = |it: &PredictedSize| match is_any_complete {
        true => it.cost_min(whole),
        false => it.cost(whole),
    };
    let candidates = all.iter().enumerate().skip(1).filter(|(_, it)| it.is_good(whole));
    let least = candidates.min_by(|one, other| cost(one.1).total_cmp(&cost(other.1)));
    least.map_or(0, |it| it.0)
}

/// Returns whether a prediction costs so much less than another one that a search with the other one is restarted.
pub(super) fn is_clearly_better(
    one: &PredictedSize,
    other: &PredictedSize,
    whole: WalkCounters,
) -> bool {
    other.cost(whole) >= CLEAR * one.cost(whole)
}

/// Returns the positions of the predictions that larger samples must compare. If there is one, the decision is clear.
pub(super) fn close_to_best(all: &[PredictedSize], whole: WalkCounters) -> Vec<usize> {
    let best = best(all, whole);
    let is_close = |it: &PredictedSize| match all[best].complete {
        Some(_) => false,
        None => all[best].rises || it.cost(whole) <= CLOSE * all[best].cost(whole),
    };
    (0..all.len()).filter(|&at| at == best || is_close(&all[at])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> WalkCounters {
        WalkCounters { states: 10_000, transitions: 30_000, ..WalkCounters::default() }
    }

    fn predicted(states: f64, work: f64) -> PredictedSize {
        let samples = vec![RelativeSize { states, work }];
        PredictedSize { samples, complete: None, keeps_depth: false, rises: false }
    }

    fn complete(states: usize, transitions: u64) -> PredictedSize {
        let counters = WalkCounters { states, transitions, ..WalkCounters::default() };
        PredictedSize { complete: Some(counters), ..predicted(0.95, 0.95) }
    }

    #[test]
    fn states_and_work_both_count() {
        let none = predicted(1.0, 1.0);
        let choose = |others: &[PredictedSize]| {
            best(&[std::slice::from_ref(&none), others].concat(), whole())
        };
        assert_eq!(choose(&[]), 0);
        assert_eq!(choose(&[predicted(0.9, 0.9)]), 0);
        assert_eq!(choose(&[predicted(0.2, 1.3)]), 1);
        assert_eq!(choose(&[predicted(0.3, 0.3), predicted(0.01, 0.4)]), 2);
        assert_eq!(choose(&[predicted(0.3, 0.3), predicted(0.2, 3.0)]), 1);
        let keeps_depth = PredictedSize { keeps_depth: true, ..predicted(0.9, 0.9) };
        assert_eq!(choose(&[keeps_depth]), 1);
    }

    #[test]
    fn a_known_size_decides_unless_another_one_is_much_smaller() {
        let all = [predicted(1.0, 1.0), predicted(0.5, 0.5), complete(5000, 9000)];
        assert_eq!(best(&all, whole()), 2);
        assert_eq!(close_to_best(&all, whole()), [2]);
        // It has at least the work of the first levels.
        let all = [predicted(1.0, 1.0), predicted(0.3, 0.01), complete(5000, 9000)];
        assert_eq!(best(&all, whole()), 2);
        let all = [predicted(1.0, 1.0), predicted(0.001, 0.001), complete(5000, 9000)];
        assert_eq!(best(&all, whole()), 1);
        let all = [&all[..], &[complete(40, 100)]].concat();
        assert_eq!(best(&all, whole()), 3);
        // The whole space is known, too.
        assert_eq!(best(&[complete(10_000, 30_000), complete(9900, 29_000)], whole()), 0);
        assert_eq!(best(&[complete(10_000, 30_000), complete(2000, 9000)], whole()), 1);
    }

    #[test]
    fn close_predictions_need_larger_samples() {
        let all = [predicted(1.0, 1.0), predicted(0.2, 0.3), predicted(0.2, 0.4)];
        assert_eq!(close_to_best(&all, whole()), [1, 2]);
        assert_eq!(close_to_best(&all[..2], whole()), [1]);
        let all = [predicted(1.0, 1.0), predicted(0.8, 0.8)];
        assert_eq!(close_to_best(&all, whole()), [0, 1]);
        let rises = PredictedSize { rises: true, ..predicted(0.01, 0.01) };
        assert_eq!(close_to_best(&[predicted(1.0, 1.0), rises], whole()), [0, 1]);
    }
}
