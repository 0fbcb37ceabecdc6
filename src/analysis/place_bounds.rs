//! How large counters can become that steps only add to and take from.
//!
//! Weights of counters by which no step makes the weighted sum grow bound each of these counters by what the sum
//! is at first (Murata, Petri Nets: Properties, Analysis and Applications, 1989: structural boundedness). The least such
//! bound is a linear program. It is solved in floating point; what comes of that is made whole numbers, and is believed only
//! if these are such weights.

use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// Weights are fractions of no larger denominator.
const DENOMINATOR_MAX: u32 = 360;

/// How far a number may be from a whole one that stands for it.
const ROUNDING: f64 = 1e-6;

/// A program of more variables and entries than this is not tried: solving takes too long.
const ENTRIES_MAX: usize = 50_000;

/// As many of them are gone through, in all programs together.
const WORK_MAX: usize = 3_000_000;

/// Counters, and what steps do to them. They never are less than 0.
pub struct CounterSystem {
    /// What each is at first.
    pub initial: Vec<i64>,
    /// By step, what is added at most to which counter.
    pub changes: Vec<Vec<(usize, i64)>>,
}

impl CounterSystem {
    /// The most that each can be; nothing where no bound was found. It is not looked for a better one that is good enough.
    pub fn bounds(&self, is_enough: impl Fn(usize, i64) -> bool) -> Vec<Option<i64>> {
        let count = self.initial.len();
        let mut bounds = vec![None; count];
        // That the sum of all never grows is seen without solving anything, however many there are.
        let all = vec![1; count];
        if self.never_grows(&all) {
            self.note(&all, &mut bounds);
        }
        let entries = count + self.changes.iter().map(Vec::len).sum::<usize>();
        if entries > ENTRIES_MAX {
            return bounds;
        }
        // One that has all counters where there is one, and then the best of each.
        self.tighten(None, &mut bounds);
        for counter in (0..count).take(WORK_MAX / entries.max(1)) {
            if bounds[counter].is_none_or(|it| !is_enough(counter, it)) {
                self.tighten(Some(counter), &mut bounds);
            }
        }
        bounds
    }

    /// Looks for weights that bound a counter best, or all counters, and notes what they say of each.
    fn tighten(&self, counter: Option<usize>, bounds: &mut [Option<i64>]) {
        if let Some(weights) = self.weights(counter) {
            self.note(&weights, bounds);
        }
    }

    /// Notes what weights say of each counter, by which no step makes the weighted sum grow.
    fn note(&self, weights: &[i128], bounds: &mut [Option<i64>]) {
        let sum = weights.iter().zip(&self.initial).map(|(weight, it)| weight * i128::from(*it));
        let sum: i128 = sum.sum();
        for (weight, bound) in weights.iter().zip(bounds).filter(|(weight, _)| **weight > 0) {
            let found = i64::try_from(sum / weight).ok();
            *bound = [found, *bound].into_iter().flatten().min();
        }
    }

    /// Weights that are 1 or more for a counter, or for all of them, as multiples of some fraction.
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

    /// Whether no step makes the weighted sum grow.
    fn never_grows(&self, weights: &[i128]) -> bool {
        let growth = |changes: &Vec<(usize, i64)>| -> i128 {
            changes.iter().map(|(counter, by)| weights[*counter] * i128::from(*by)).sum()
        };
        weights.iter().all(|it| *it >= 0) && self.changes.iter().all(|it| growth(it) <= 0)
    }
}

/// Numbers so many times, if these are whole.
fn multiples(numbers: &[f64], by: f64) -> Option<Vec<i128>> {
    let whole = |it: &f64| {
        let (exact, near) = (it * by, (it * by).round());
        ((exact - near).abs() < ROUNDING && near.abs() < 1e15).then_some(near as i128)
    };
    numbers.iter().map(whole).collect()
}
