//! Bounds of expressions that surely have a value.

use crate::absint::{CheckedRange, Environment, query_range};
use spillway_ir::interval::Interval;
use spillway_ir::{
    Arithmetic, Expr, ExprKind, LocalId, OverflowRule, Place, PlaceRoot, PlaceSelector, Program,
    Type, TypeId,
};

/// Returns the bounds of the value of an expression that surely has one. Returns `None` if its evaluation may fail or
/// if the bounds are unknown.
pub fn bounds(program: &Program, expr: &Expr) -> Option<Interval> {
    let value = DeclaredRanges { program }.value(expr);
    (!value.may_fail).then_some(value.range)
}

/// The ranges that declarations imply: a scalar that cannot be undefined has a value of its domain.
struct DeclaredRanges<'p> {
    program: &'p Program,
}

impl DeclaredRanges<'_> {
    fn unknown(&self) -> CheckedRange {
        CheckedRange::uncertain(self.program.arithmetic.integers())
    }
}

impl Environment for DeclaredRanges<'_> {
    type Value = CheckedRange;

    fn arithmetic(&self) -> Arithmetic {
        self.program.arithmetic
    }

    fn read(&mut self, place: &Place) -> CheckedRange {
        match type_of(self.program, place).map(|it| &self.program.types[it]) {
            Some(Type::Scalar(scalar)) if !scalar.undefined => {
                CheckedRange::exact(self.program.bounds(&scalar.domain))
            }
            _ => self.unknown(),
        }
    }

    fn local(&mut self, _: LocalId) -> CheckedRange {
        self.unknown()
    }

    fn query(&mut self, expr: &Expr) -> CheckedRange {
        match &expr.kind {
            ExprKind::At { slot: None, .. } => {
                CheckedRange::exact(query_range(self.program, &expr.kind))
            }
            _ => self.unknown(),
        }
    }
}

/// Returns whether a store of an expression in an existing place surely does not fail.
pub fn surely_stored(
    program: &Program,
    target: &Place,
    value: &Expr,
    overflow: OverflowRule,
) -> bool {
    let scalar = |place: &Place| match &program.types[type_of(program, place)?] {
        Type::Scalar(scalar) => Some(scalar),
        _ => None,
    };
    let Some(held) = scalar(target) else { return false };
    let (low, high) = program.bounds(&held.domain);
    let fits = |(least, most): Interval| low <= least && most <= high;
    match &value.kind {
        ExprKind::Undefined => held.undefined,
        // An undefined value can be copied.
        ExprKind::Read(place) if held.undefined => {
            scalar(place).is_some_and(|it| fits(program.bounds(&it.domain)))
        }
        _ => bounds(program, value).is_some_and(|it| overflow == OverflowRule::Wraps || fits(it)),
    }
}

/// Returns the type of a place that surely exists.
fn type_of(program: &Program, place: &Place) -> Option<TypeId> {
    let PlaceRoot::Variable(variable) = place.root else { return None };
    if place.slot.is_some() {
        return None;
    }
    let mut ty = program.variables[variable].ty;
    for selector in &place.path {
        ty = match (&program.types[ty], selector) {
            (Type::Array { low, length, element, .. }, PlaceSelector::Index(index)) => {
                let (least, most) = bounds(program, index)?;
                let last = low + i64::from(*length) - 1;
                (*low <= least && most <= last).then_some(*element)?
            }
            (Type::Record { fields, .. }, PlaceSelector::Field(field)) => fields[*field as usize].1,
            _ => return None,
        };
    }
    Some(ty)
}
