//! How an expression goes with one place that it reads several times, as in `x + (x < 3)`: found by what it comes to for each
//! value there, and for all values of the parts that do not read it.

use super::expr_ranges::ExprRanges;
use crate::analysis::value_abstraction::is_same;
use crate::ir::interval::{Interval, NONE, hull, is_none};
use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{Expr, ExprId, ExprKind, Place, PlaceRoot, Program};

/// The most values that are tried.
const TRIED_MAX: u64 = 1 << 14;

/// What reads more is not looked at.
const READS_MAX: usize = 32;

/// How an expression goes with a place.
pub(super) struct PlaceMonotonicity<'e> {
    /// The place that it reads several times.
    pub(super) place: &'e Place,
    /// The parts that do not read it.
    pub(super) parts: Vec<&'e Expr>,
    /// All that it comes to.
    pub(super) image: Interval,
    /// Whether a larger value there never makes it smaller.
    pub(super) rises: bool,
    /// Whether a larger value there never makes it larger.
    pub(super) falls: bool,
}

impl<'e> PlaceMonotonicity<'e> {
    /// That of an expression, if it reads a place several times and it can be found. Of a condition it is asked whether it
    /// holds.
    pub(super) fn of(
        program: &Program,
        values: &ExprRanges,
        expr: &'e Expr,
        is_condition: bool,
    ) -> Option<PlaceMonotonicity<'e>> {
        let place = repeated(expr)?;
        let mut parts = Vec::new();
        if !take_apart(expr, place, &mut parts) {
            return None;
        }
        let held = values.read(place);
        let ranges: Vec<Interval> = parts.iter().map(|it| values.range(it)).collect();
        let counts = ranges.iter().chain([&held]).map(|&range| count(range));
        let all = counts.fold(1u64, u64::saturating_mul);
        if all > TRIED_MAX || all == 0 || values.may_miss(place) {
            return None;
        }
        let mut curve = PlaceMonotonicity { place, parts, image: NONE, rises: true, falls: true };
        let mut chosen: Vec<i64> = ranges.iter().map(|it| it.0).collect();
        loop {
            let parts = curve
                .parts
                .iter()
                .zip(&chosen)
                .map(|(it, &value)| PartValue { part: it.id, value });
            let known = PartValues { program, place, parts: parts.collect() };
            let mut last: Option<i64> = None;
            for value in held.0..=held.1 {
                let result = known.judge(expr, value)?;
                let result = if is_condition { (result != 0).into() } else { result };
                curve.image = hull(curve.image, (result, result));
                curve.rises &= last.is_none_or(|it| it <= result);
                curve.falls &= last.is_none_or(|it| it >= result);
                last = Some(result);
            }
            if !advance(&mut chosen, &ranges) {
                return Some(curve);
            }
        }
    }
}

/// Whether whatever an expression gives is stored at a place as it is.
pub(super) fn fits(program: &Program, values: &ExprRanges, target: &Place, value: &Expr) -> bool {
    let curve = PlaceMonotonicity::of(program, values, value, false);
    let range = curve.map_or_else(|| values.range(value), |it| it.image);
    let Some(domain) = values.domain(target) else { return false };
    is_none(range) || domain.0 <= range.0 && range.1 <= domain.1
}

fn count(range: Interval) -> u64 {
    if is_none(range) { 0 } else { range.1.abs_diff(range.0).saturating_add(1) }
}

/// The next choice of a value from each range, if there is one.
fn advance(chosen: &mut [i64], ranges: &[Interval]) -> bool {
    for (value, range) in chosen.iter_mut().zip(ranges) {
        if *value < range.1 {
            *value += 1;
            return true;
        }
        *value = range.0;
    }
    false
}

/// A place that an expression reads several times.
fn repeated(expr: &Expr) -> Option<&Place> {
    let mut places = Vec::new();
    reads(expr, &mut places);
    if places.len() > READS_MAX {
        return None;
    }
    let again = |(number, place): &(usize, &&Place)| {
        places[number + 1..].iter().any(|it| is_same(it, place))
    };
    places.iter().enumerate().find(again).map(|it| *it.1)
}

/// The places of variables that an expression computes with.
fn reads<'e>(expr: &'e Expr, places: &mut Vec<&'e Place>) {
    match &expr.kind {
        ExprKind::Read(place) if matches!(place.root, PlaceRoot::Variable(_)) => places.push(place),
        ExprKind::Unary(_, operand) => reads(operand, places),
        ExprKind::Binary(_, left, right) => {
            reads(left, places);
            reads(right, places);
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().for_each(|it| reads(it, places));
        }
        _ => {}
    }
}

/// Gathers the largest parts of an expression that do not read the variable of a place; false if one reads it
/// otherwise than there.
fn take_apart<'e>(expr: &'e Expr, place: &Place, parts: &mut Vec<&'e Expr>) -> bool {
    let mut mentions = RootMentionFinder { root: place.root, found: false };
    mentions.expr(expr);
    if !mentions.found {
        parts.push(expr);
        return true;
    }
    match &expr.kind {
        ExprKind::Read(it) => is_same(it, place),
        ExprKind::Unary(_, operand) => take_apart(operand, place, parts),
        ExprKind::Binary(_, left, right) => {
            take_apart(left, place, parts) && take_apart(right, place, parts)
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().all(|it| take_apart(it, place, parts))
        }
        _ => false,
    }
}

/// Whether code mentions a variable.
struct RootMentionFinder {
    root: PlaceRoot,
    found: bool,
}

impl CodeVisitor for RootMentionFinder {
    fn place(&mut self, place: &Place, _: PlaceAccess) {
        self.found |= place.root == self.root;
        walk::place(self, place);
    }
}

/// A value of a part of an expression.
struct PartValue {
    part: ExprId,
    value: i64,
}

/// Values of the parts of an expression, which are few.
struct PartValues<'e> {
    program: &'e Program,
    place: &'e Place,
    parts: Vec<PartValue>,
}

impl PartValues<'_> {
    /// What an expression comes to where a value is at the place; nothing if it fails.
    fn judge(&self, expr: &Expr, held: i64) -> Option<i64> {
        if let Some(known) = self.parts.iter().find(|it| it.part == expr.id) {
            return Some(known.value);
        }
        let arithmetic = self.program.arithmetic;
        match &expr.kind {
            ExprKind::Read(place) => is_same(place, self.place).then_some(held),
            ExprKind::Unary(operator, operand) => {
                arithmetic.unary(*operator, self.judge(operand, held)?).ok()
            }
            ExprKind::Binary(operator, left, right) => {
                let left = self.judge(left, held)?;
                match operator.short_circuit_value(left) {
                    Some(decided) => Some(decided),
                    None => arithmetic.binary(*operator, left, self.judge(right, held)?).ok(),
                }
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                let holds = self.judge(condition, held)? != 0;
                self.judge(if holds { then } else { otherwise }, held)
            }
            _ => None,
        }
    }
}
