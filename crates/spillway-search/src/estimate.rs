//! The estimate of the number of states from the levels so far.
//!
//! The sizes of levels of breadth-first searches mostly rise and fall like a bell (Pelánek, *Typical Structural
//! Properties of State Spaces*, 2004), whose logarithm is a parabola. Several parabolas are fitted to different numbers
//! of the last levels. Each predicts the rest. The estimate is their median. If they disagree, there is no estimate.
//! The width of the band was measured on the corpus (`docs/internals/estimate.md`, `benches/estimate.py`): the band
//! contained the true number in four cases of five.

/// The least number of levels for an estimate.
const LEVELS_MIN: usize = 12;

/// The shares of the last levels to which parabolas are fitted.
const SHARES: [f64; 4] = [0.2, 0.3, 0.5, 0.7];

/// The greatest numbers of groups into which all levels are combined.
const GROUPS: [usize; 3] = [12, 24, 48];

/// The least number of groups to which a parabola is fitted.
const POINTS_MIN: usize = 4;

/// The bound on the predicted levels, as a multiple of the levels so far. A longer prediction is not a bell.
const AHEAD_MAX: usize = 20;

/// The bound on the predicted states, as a multiple of the states so far.
const TIMES_MAX: f64 = 1e4;

/// The ratio of the upper to the lower quartile of the predictions from which they disagree.
const SPREAD_MAX: f64 = 4.0;

/// Pairs of a factor and an exponent. If the predicted number is below this multiple of the states so far, and levels
/// grow by this power of their number, the last levels are a step of the rise and not the top.
const RISING: [(f64, f64); 2] = [(1.2, 0.0), (2.0, 4.0)];

/// The band: a bound on the predicted multiple of the states so far, and the least and greatest ratios of the actual to
/// the predicted remaining states, in nine cases of ten each.
const BANDS: [(f64, f64, f64); 4] =
    [(1.2, 0.6, 4.0), (2.0, 0.5, 4.0), (5.0, 0.5, 4.5), (f64::INFINITY, 0.3, 2.8)];

/// An estimate of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountEstimate {
    /// The estimate.
    pub about: f64,
    /// The lower bound in four cases of five...
    pub low: f64,
    /// ...and the upper bound.
    pub high: f64,
}

/// The reason for a missing estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimateFailure {
    /// There are too few levels yet.
    TooFew,
    /// The growth of the levels does not slow down, or their sizes do not fall.
    Growing,
    /// The predictions disagree.
    Ambiguous,
}

impl CountEstimate {
    /// Estimates the number of states from the sizes of the levels. The last level need not be expanded.
    pub fn of_levels(levels: &[f64]) -> Result<CountEstimate, EstimateFailure> {
        if levels.len() < LEVELS_MIN {
            return Err(EstimateFailure::TooFew);
        }
        let so_far: f64 = levels.iter().sum();
        let groups = GROUPS.map(|most| group_levels(levels, most));
        let each = groups.iter().flat_map(|it| SHARES.map(|share| (it, share)));
        let mut ahead: Vec<f64> =
            each.filter_map(|(it, share)| it.remaining_states(share, so_far)).collect();
        if ahead.len() * 2 < GROUPS.len() * SHARES.len() {
            return Err(EstimateFailure::Growing);
        }
        ahead.sort_by(f64::total_cmp);
        let quarter = ahead.len() / 4;
        let (lower, upper) = (ahead[quarter], ahead[ahead.len() - 1 - quarter]);
        if so_far + upper > SPREAD_MAX * (so_far + lower) {
            return Err(EstimateFailure::Ambiguous);
        }
        let middle = ahead.len() / 2;
        let more = match ahead.len() % 2 {
            0 => (ahead[middle - 1] + ahead[middle]) / 2.0,
            _ => ahead[middle],
        };
        let times = (so_far + more) / so_far;
        let rise = growth_exponent(levels);
        if RISING.iter().any(|(below, from)| times < *below && rise >= *from) {
            return Err(EstimateFailure::Ambiguous);
        }
        let is_within = |it: &&(f64, f64, f64)| times < it.0;
        let &(_, least, most) = BANDS.iter().find(is_within).unwrap_or(&BANDS[BANDS.len() - 1]);
        let of = |share: f64| so_far + more * share;
        Ok(CountEstimate { about: of(1.0), low: of(least), high: of(most) })
    }

    /// Returns the estimate multiplied by a factor.
    pub fn times(self, each: f64) -> CountEstimate {
        CountEstimate { about: self.about * each, low: self.low * each, high: self.high * each }
    }

    /// Returns the estimate less an amount that exists already.
    pub fn minus(self, so_many: f64) -> CountEstimate {
        let left = |it: f64| (it - so_many).max(0.0);
        CountEstimate { about: left(self.about), low: left(self.low), high: left(self.high) }
    }
}

/// Returns the exponent of the growth of levels as a power of their number, by the last fifth and the fifth before.
fn growth_exponent(levels: &[f64]) -> f64 {
    let (all, each) = (levels.len() as f64, levels.len() / 5);
    let mean = |from: usize| levels[from..from + each].iter().sum::<f64>().max(1e-9);
    let (before, last) = (mean(levels.len() - 2 * each), mean(levels.len() - each));
    let (wide, middle) = (each as f64, all - each as f64 / 2.0);
    (last / before).ln() / (middle / (middle - wide)).ln()
}

/// Levels combined into groups.
struct LevelGroups {
    /// The number of levels of each group, except that the first may have fewer.
    width: usize,
    /// The middle of each group, in levels, and the logarithm of the states of a level there.
    points: Vec<(f64, f64)>,
    /// The number of levels.
    levels: usize,
}

/// Combines levels into at most `most` groups of equal width. The last group ends with the last level.
fn group_levels(levels: &[f64], most: usize) -> LevelGroups {
    let width = levels.len().div_ceil(most);
    let (mut points, mut end) = (Vec::new(), levels.len());
    while end > 0 {
        let begin = end.saturating_sub(width);
        let states: f64 = levels[begin..end].iter().sum();
        let each = (states / (end - begin) as f64).max(1e-9);
        points.push(((begin + end - 1) as f64 / 2.0, each.ln()));
        end = begin;
    }
    points.reverse();
    LevelGroups { width, points, levels: levels.len() }
}

impl LevelGroups {
    /// Returns the number of remaining states predicted by the parabola through a share of the groups, if it falls.
    fn remaining_states(&self, share: f64, so_far: f64) -> Option<f64> {
        let count = (self.points.len() as f64 * share).ceil() as usize;
        let from = self.points.len().checked_sub(count.max(POINTS_MIN))?;
        let points = &self.points[from..];
        let &(last_at, last) = points.last()?;
        let [bend, slope] = parabola(points, last_at)?;
        if bend > -1e-9 {
            return None;
        }
        let (mut sum, mut at) = (0.0, self.levels as f64 - 1.0 - last_at);
        let width = self.width as f64;
        for _ in 0..AHEAD_MAX * self.points.len() {
            // The middle of the next group.
            let middle = at + (width + 1.0) / 2.0;
            let each = (last + slope * middle + bend * middle * middle).min(80.0).exp();
            if each < 1.0 {
                return Some(sum);
            }
            sum += each * width;
            if so_far + sum > TIMES_MAX * so_far {
                return None;
            }
            at += width;
        }
        None
    }
}

/// Returns the curvature and the slope at `origin` of the parabola nearest to some points (least squares).
fn parabola(points: &[(f64, f64)], origin: f64) -> Option<[f64; 2]> {
    // Scaled by the width of all points, so that the powers stay small.
    let scale = (origin - points.first()?.0).max(1.0);
    let (mut powers, mut sums) = ([0.0; 5], [0.0; 3]);
    for (x, y) in points {
        let mut power = 1.0;
        for (degree, sum) in powers.iter_mut().enumerate() {
            *sum += power;
            if let Some(sum) = sums.get_mut(degree) {
                *sum += power * y;
            }
            power *= (x - origin) / scale;
        }
    }
    let [p0, p1, p2, p3, p4] = powers;
    let determinant = |[a, b, c]: [[f64; 3]; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let all = determinant([[p0, p1, p2], [p1, p2, p3], [p2, p3, p4]]);
    if all.abs() < 1e-12 {
        return None;
    }
    let [s0, s1, s2] = sums;
    let slope = determinant([[p0, s0, p2], [p1, s1, p3], [p2, s2, p4]]) / all;
    let bend = determinant([[p0, p1, s0], [p1, p2, s1], [p2, p3, s2]]) / all;
    Some([bend / (scale * scale), slope / scale])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels like a bell, with the top in the middle.
    fn bell(levels: usize) -> Vec<f64> {
        let (top, wide) = (levels as f64 / 2.0, levels as f64 / 7.0);
        (0..levels).map(|it| 1e6 * (-((it as f64 - top) / wide).powi(2) / 2.0).exp()).collect()
    }

    #[test]
    fn bell_shaped_levels_are_estimated_from_their_rise() {
        let all = bell(100);
        let truth: f64 = all.iter().sum();
        for seen in [30, 45, 50, 60, 80] {
            let found = CountEstimate::of_levels(&all[..seen]).unwrap();
            assert!((found.about / truth - 1.0).abs() < 0.1, "{seen}: {found:?} of {truth}");
            assert!(found.low <= truth * 1.01 && found.high >= truth * 0.99, "{found:?}");
        }
    }

    #[test]
    fn other_shapes_have_no_estimate() {
        assert_eq!(CountEstimate::of_levels(&[1.0; 7]), Err(EstimateFailure::TooFew));
        assert_eq!(CountEstimate::of_levels(&[5.0; 50]), Err(EstimateFailure::Growing));
        let doubling: Vec<f64> = (0..40).map(|it| f64::from(it).exp2()).collect();
        assert_eq!(CountEstimate::of_levels(&doubling), Err(EstimateFailure::Growing));
        // Fast growth that suddenly slows down can be the top or a bend.
        let mut bent: Vec<f64> =
            (0..30).map(f64::from).map(|it| (0.3 * it - 0.002 * it * it).exp()).collect();
        bent.extend([0.15, 0.225].map(|it: f64| bent[29] * it.exp()));
        assert_eq!(CountEstimate::of_levels(&bent), Err(EstimateFailure::Ambiguous));
    }

    #[test]
    fn arithmetic_of_estimates_keeps_their_bounds() {
        let found = CountEstimate { about: 10.0, low: 8.0, high: 20.0 };
        assert_eq!(found.minus(9.0).times(2.0), CountEstimate { about: 2.0, low: 0.0, high: 22.0 });
    }

    #[test]
    fn growth_is_estimated_as_a_power() {
        let cubes: Vec<f64> = (1..=200).map(|it| f64::from(it).powi(3)).collect();
        assert!((growth_exponent(&cubes) - 3.0).abs() < 0.05, "{}", growth_exponent(&cubes));
        assert_eq!(growth_exponent(&[7.0; 12]), 0.0);
    }

    #[test]
    fn a_fitted_parabola_passes_through_its_points() {
        let points =
            [1.0, 2.0, 3.0, 5.0, 8.0].map(|x: f64| (x, 3.0 - 2.0 * (x - 8.0) * (x - 8.0) + x));
        let [bend, slope] = parabola(&points, 8.0).unwrap();
        assert!((bend + 2.0).abs() < 1e-9 && (slope - 1.0).abs() < 1e-9, "{bend} {slope}");
        assert_eq!(parabola(&points[..2], 2.0), None);
    }
}
