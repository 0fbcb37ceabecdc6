//! Upper bounds of counters that steps only increase and decrease.
//!
//! If no step increases a weighted sum of counters, its initial value bounds each counter with a positive weight
//! (structural boundedness: Murata, Petri Nets: Properties, Analysis and Applications, 1989). The least such bound is
//! the solution of a linear program. The solution is computed in floating point and converted to integers. It is used
//! only if these integers are valid weights.

use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// The maximal denominator of the weights.
const DENOMINATOR_MAX: u32 = 360;

/// The maximal distance of a number from the integer that represents it.
const ROUNDING: f64 = 1e-6;

/// The maximal number of variables and entries of a linear program. Larger programs take too long.
const ENTRIES_MAX: usize = 50_000;

/// The maximal total number of entries of all linear programs.
const WORK_MAX: usize = 3_000_000;

/// Counters and their changes by steps. Counters are never negative.
pub struct CounterSystem {
    /// The initial value of each counter.
    pub initial: Vec<i64>,
    /// For each step, the counters and upper bounds of their increase.
    pub changes: Vec<Vec<(usize, i64)>>,
}

impl CounterSystem {
    /// Returns an upper bound of each counter, if one is found. A bound that is good enough is not improved.
    pub fn bounds(&self, is_enough: impl Fn(usize, i64) -> bool) -> Vec<Option<i64>> {
        let count = self.initial.len();
        let mut bounds = vec![None; count];
        // An unweighted sum that never increases needs no solver, for any number of counters.
        let all = vec![1; count];
        if self.never_grows(&all) {
            self.note(&all, &mut bounds);
        }
        let entries = count + self.changes.iter().map(Vec::len).sum::<usize>();
        if entries > ENTRIES_MAX {
            return bounds;
        }
        // Weights for all counters come first, if there are any, and then the best weights for each counter.
        self.tighten(None, &mut bounds);
        for counter in (0..count).take(WORK_MAX / entries.max(1)) {
            if bounds[counter].is_none_or(|it| !is_enough(counter, it)) {
                self.tighten(Some(counter), &mut bounds);
            }
        }
        bounds
    }

    /// Searches for the weights that best bound a counter, or all counters, and records their bounds.
    fn tighten(&self, counter: Option<usize>, bounds: &mut [Option<i64>]) {
        if let Some(weights) = self.weights(counter) {
            self.note(&weights, bounds);
        }
    }

    /// Records the bounds that weights imply. No step increases the weighted sum.
    fn note(&self, weights: &[i128], bounds: &mut [Option<i64>]) {
        let sum = weights.iter().zip(&self.initial).map(|(weight, it)| weight * i128::from(*it));
        let sum: i128 = sum.sum();
        for (weight, bound) in weights.iter().zip(bounds).filter(|(weight, _)| **weight > 0) {
            let found = i64::try_from(sum / weight).ok();
            *bound = [found, *bound].into_iter().flatten().min();
        }
    }

    /// Returns integer weights that are positive for a counter, or for all counters.
    fn weights(&self, counter: Option<usize>) -> Option<Vec<i128>> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let least = |it: usize| if counter.is_none_or(|counter| counter == it) { 1.0 } else { 0.0 };
        let mut weight = |(it, initial): (usize, &i64)| {
            problem.add_var(*initial as f64, (least(it), f64::INFINITY))
        };
        let weights: Vec<_> = self.initial.iter().enumerate().map(&mut weight).collect();
        for changes in self.changes.iter().filter(|it| !it.is_empty()) {
            let sum = changes.iter().map(|(counter, by)| (weights[*counter], *by as f64));
            problem.add_constraint(sum, ComparisonOp::Le, 0.0);
        }
        let solved = problem.solve().ok()?.into_solution().ok()?;
        let found: Vec<f64> = weights.iter().map(|it| solved.var_value(*it)).collect();
        let whole = (1..=DENOMINATOR_MAX).find_map(|by| multiples(&found, f64::from(by)))?;
        let is_needed = |it: usize| whole[it] > 0 || counter.is_some_and(|counter| counter != it);
        let is_kept = (0..whole.len()).all(is_needed) && self.never_grows(&whole);
        is_kept.then_some(whole)
    }

    /// Returns whether no step increases the weighted sum.
    fn never_grows(&self, weights: &[i128]) -> bool {
        let growth = |changes: &Vec<(usize, i64)>| -> i128 {
            changes.iter().map(|(counter, by)| weights[*counter] * i128::from(*by)).sum()
        };
        weights.iter().all(|it| *it >= 0) && self.changes.iter().all(|it| growth(it) <= 0)
    }
}

/// Returns multiples of numbers, if these are integers.
fn multiples(numbers: &[f64], by: f64) -> Option<Vec<i128>> {
    let whole = |it: &f64| {
        let (exact, near) = (it * by, (it * by).round());
        ((exact - near).abs() < ROUNDING && near.abs() < 1e15).then_some(near as i128)
    };
    numbers.iter().map(whole).collect()
}
