//! Monotonicity of an expression that reads one place several times, such as `x + (x < 3)`. The expression is
//! evaluated for each value of the place, and for all values of the parts that do not read it.

use super::expr_ranges::ExprRanges;
use crate::absint::{Environment, KnownValue, evaluate};
use crate::value_abstraction::is_same;
use spillway_ir::interval::{Interval, NONE, hull, is_none};
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{Arithmetic, Expr, ExprId, ExprKind, LocalId, Place, PlaceRoot, Program};

/// The maximal number of evaluations.
const TRIED_MAX: u64 = 1 << 14;

/// The maximal number of reads in an expression.
const READS_MAX: usize = 32;

/// The monotonicity of an expression in a place.
pub(super) struct PlaceMonotonicity<'e> {
    /// The place that the expression reads several times.
    pub(super) place: &'e Place,
    /// The parts that do not read the place.
    pub(super) parts: Vec<&'e Expr>,
    /// The range of the expression.
    pub(super) image: Interval,
    /// Whether the expression never decreases if the place increases.
    pub(super) rises: bool,
    /// Whether the expression never increases if the place increases.
    pub(super) falls: bool,
}

impl<'e> PlaceMonotonicity<'e> {
    /// Computes the monotonicity of an expression, if it reads a place several times and has few values. For a
    /// condition, the values are its truth values.
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
            let mut known = PartValues { program, place, held: held.0, parts: parts.collect() };
            let mut last: Option<i64> = None;
            for value in held.0..=held.1 {
                known.held = value;
                let result = known.value(expr).0?;
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

/// Returns whether each value of an expression is stored in a place unchanged.
pub(super) fn fits(program: &Program, values: &ExprRanges, target: &Place, value: &Expr) -> bool {
    let curve = PlaceMonotonicity::of(program, values, value, false);
    let range = curve.map_or_else(|| values.range(value), |it| it.image);
    let Some(domain) = values.domain(target) else { return false };
    is_none(range) || domain.0 <= range.0 && range.1 <= domain.1
}

fn count(range: Interval) -> u64 {
    if is_none(range) { 0 } else { range.1.abs_diff(range.0).saturating_add(1) }
}

/// Advances to the next combination of values of the ranges. Returns false after the last one.
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

/// Returns a place that an expression reads several times.
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

/// Adds the places of variables that an expression computes with.
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

/// Collects the largest parts of an expression that do not read the variable of a place. Returns false if a part
/// reads the variable at another place.
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

/// A visitor that detects mentions of a variable.
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

/// The values of the place and of the parts of an expression. The parts are few.
struct PartValues<'e> {
    program: &'e Program,
    place: &'e Place,
    held: i64,
    parts: Vec<PartValue>,
}

impl Environment for PartValues<'_> {
    type Value = KnownValue;

    fn arithmetic(&self) -> Arithmetic {
        self.program.arithmetic
    }

    fn read(&mut self, place: &Place) -> KnownValue {
        KnownValue(is_same(place, self.place).then_some(self.held))
    }

    fn local(&mut self, _: LocalId) -> KnownValue {
        KnownValue(None)
    }

    fn query(&mut self, _: &Expr) -> KnownValue {
        KnownValue(None)
    }

    fn value(&mut self, expr: &Expr) -> KnownValue {
        match self.parts.iter().find(|it| it.part == expr.id) {
            Some(known) => KnownValue(Some(known.value)),
            None => evaluate(self, expr),
        }
    }
}
