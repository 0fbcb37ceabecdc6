//! Expressions that surely have a value, and between which bounds it is.

use crate::ir::interval::{self, Interval};
use crate::ir::{
    Arithmetic, BinaryOp, Expr, ExprKind, OverflowRule, Place, PlaceRoot, PlaceSelector, Program,
    Type, TypeId,
};

/// Bounds of the value of an expression that surely has one; nothing where judging it may fail, or that is
/// not known.
pub fn bounds(program: &Program, expr: &Expr) -> Option<Interval> {
    match &expr.kind {
        ExprKind::Constant(value) => Some((*value, *value)),
        ExprKind::Read(place) => match &program.types[type_of(program, place)?] {
            Type::Scalar(scalar) if !scalar.undefined => Some(program.bounds(&scalar.domain)),
            _ => None,
        },
        ExprKind::Unary(operator, operand) => {
            let operand = bounds(program, operand)?;
            let wraps = program.arithmetic == Arithmetic::Wrapping32;
            // The least integer has no negative.
            let has_result = wraps || operand.0 > i64::MIN;
            has_result.then(|| interval::unary(program.arithmetic, *operator, operand))
        }
        ExprKind::Binary(operator, left, right) => {
            let (left, right) = (bounds(program, left)?, bounds(program, right)?);
            computed(program.arithmetic, *operator, left, right)
        }
        ExprKind::Conditional(condition, then, otherwise) => {
            bounds(program, condition)?;
            Some(interval::hull(bounds(program, then)?, bounds(program, otherwise)?))
        }
        ExprKind::At { slot: None, .. } => Some((0, 1)),
        _ => None,
    }
}

/// Bounds of what an operator gives, if it surely gives something.
fn computed(
    arithmetic: Arithmetic,
    operator: BinaryOp,
    left: Interval,
    right: Interval,
) -> Option<Interval> {
    let has_result = match operator {
        BinaryOp::Divide | BinaryOp::Remainder => right.0 > 0,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => 0 <= right.0 && right.1 < arithmetic.word(),
        _ => true,
    };
    let results = interval::binary(arithmetic, operator, left, right);
    let fits = arithmetic == Arithmetic::Wrapping32 || !results.may_overflow;
    (has_result && fits).then_some(results.range)
}

/// Whether storing the value of an expression at a place that is there surely does not fail.
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
        // What is undefined is copied.
        ExprKind::Read(place) if held.undefined => {
            scalar(place).is_some_and(|it| fits(program.bounds(&it.domain)))
        }
        _ => bounds(program, value).is_some_and(|it| overflow == OverflowRule::Wraps || fits(it)),
    }
}

/// The type of what is at a place that surely is there.
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
