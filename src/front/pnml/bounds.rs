//! How many tokens a place can have at most, whatever their colours.
//!
//! Weights of places by which no transition makes the weighted sum of tokens grow bound each of these places by what the sum
//! is at first (Murata, Petri Nets: Properties, Analysis and Applications, 1989: structural boundedness). The least such
//! bound is a linear program. It is solved in floating point; what comes of that is made whole numbers, and is believed only
//! if these are such weights.

use super::colours::{Addend, Colours, Part};
use super::net::{Does, Net};
use microlp::{ComparisonOp, OptimizationDirection, Problem};

/// Weights are fractions of no larger denominator.
const DENOMINATOR_MAX: u32 = 360;

/// How far a number may be from a whole one that stands for it.
const ROUNDING: f64 = 1e-6;

/// A program of more variables and entries than this is not tried: solving takes too long.
const ENTRIES_MAX: usize = 50_000;

/// As many of them are gone through, in all programs together.
const WORK_MAX: usize = 3_000_000;

/// What transitions do to the sums of tokens in places, colours aside.
struct Skeleton {
    /// Tokens of each place at first.
    initial: Vec<i64>,
    /// By transition, what is added to which place.
    changes: Vec<Vec<(usize, i64)>>,
}

/// The most tokens of each place; nothing where no bound was found.
pub(super) fn bounds(net: &Net) -> Vec<Option<i64>> {
    let skeleton = Skeleton::of(net);
    let mut bounds = vec![None; net.places.len()];
    // That the number of all tokens never grows is seen without solving anything, however large the net is.
    let all = vec![1; net.places.len()];
    if skeleton.never_grows(&all) {
        skeleton.note(&all, &mut bounds);
    }
    let entries = net.places.len() + skeleton.changes.iter().map(Vec::len).sum::<usize>();
    if entries > ENTRIES_MAX {
        return bounds;
    }
    // One that has all places where there is one, and then the best of each.
    skeleton.tighten(None, &mut bounds);
    for place in (0..net.places.len()).take(WORK_MAX / entries.max(1)) {
        if bounds[place].is_none_or(|it| it > 1) {
            skeleton.tighten(Some(place), &mut bounds);
        }
    }
    bounds
}

impl Skeleton {
    fn of(net: &Net) -> Skeleton {
        let initial = net.places.iter().map(|it| it.initial.iter().sum());
        let changes = net.transitions.iter().map(|transition| {
            let mut changes: Vec<(usize, i64)> = Vec::new();
            for flow in &transition.flows {
                let tokens = tokens(&flow.bag, &net.colours, &net.places[flow.place].sort);
                let change = match flow.does {
                    Does::Take => -tokens,
                    Does::Put => tokens,
                    // What is taken then is not known; that it is nothing bounds more.
                    Does::Reset | Does::Test | Does::Inhibit => continue,
                };
                match changes.iter_mut().find(|it| it.0 == flow.place) {
                    Some(known) => known.1 += change,
                    None => changes.push((flow.place, change)),
                }
            }
            changes.retain(|it| it.1 != 0);
            changes
        });
        Skeleton { initial: initial.collect(), changes: changes.collect() }
    }

    /// Looks for weights that bound a place best, or all places, and notes what they say of each.
    fn tighten(&self, place: Option<usize>, bounds: &mut [Option<i64>]) {
        if let Some(weights) = self.weights(place) {
            self.note(&weights, bounds);
        }
    }

    /// Notes what weights say of each place, which no transition makes the weighted sum grow by.
    fn note(&self, weights: &[i128], bounds: &mut [Option<i64>]) {
        let sum = weights.iter().zip(&self.initial).map(|(weight, it)| weight * i128::from(*it));
        let sum: i128 = sum.sum();
        for (weight, bound) in weights.iter().zip(bounds).filter(|(weight, _)| **weight > 0) {
            let found = i64::try_from(sum / weight).ok();
            *bound = [found, *bound].into_iter().flatten().min();
        }
    }

    /// Weights that are 1 or more for a place, or for all of them, as multiples of some fraction.
    fn weights(&self, place: Option<usize>) -> Option<Vec<i128>> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let least = |it: usize| if place.is_none_or(|place| place == it) { 1.0 } else { 0.0 };
        let mut weight = |(it, tokens): (usize, &i64)| {
            problem.add_var(*tokens as f64, (least(it), f64::INFINITY))
        };
        let weights: Vec<_> = self.initial.iter().enumerate().map(&mut weight).collect();
        for changes in self.changes.iter().filter(|it| !it.is_empty()) {
            let sum = changes.iter().map(|(place, by)| (weights[*place], *by as f64));
            problem.add_constraint(sum, ComparisonOp::Le, 0.0);
        }
        let solved = problem.solve().ok()?.into_solution().ok()?;
        let found: Vec<f64> = weights.iter().map(|it| solved.var_value(*it)).collect();
        let whole = (1..=DENOMINATOR_MAX).find_map(|by| multiples(&found, f64::from(by)))?;
        let is_needed = |it: usize| whole[it] > 0 || place.is_some_and(|place| place != it);
        let is_kept = (0..whole.len()).all(is_needed) && self.never_grows(&whole);
        is_kept.then_some(whole)
    }

    /// Whether no transition makes the weighted sum of tokens grow.
    fn never_grows(&self, weights: &[i128]) -> bool {
        let growth = |changes: &Vec<(usize, i64)>| -> i128 {
            changes.iter().map(|(place, by)| weights[*place] * i128::from(*by)).sum()
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

/// How many tokens these are, of all colours.
fn tokens(bag: &[Addend], colours: &Colours, sort: &[usize]) -> i64 {
    let each = bag.iter().map(|it| {
        let parts = it.colour.iter().zip(sort).filter(|(part, _)| **part == Part::All);
        let times = parts.map(|(_, class)| i64::from(colours.classes[*class].size()));
        times.fold(it.times, i64::saturating_mul)
    });
    each.fold(0, i64::saturating_add)
}
