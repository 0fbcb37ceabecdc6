//! The ranges of expressions, and whether computed and stored values are exact.

use crate::absint::{CheckedRange, Environment, evaluate};
use crate::ranges::{ExprResults, ranges_and_values};
use spillway_ir::interval::{Interval, ResultRange};
use spillway_ir::layout::ValueRanges;
use spillway_ir::{
    Arithmetic, BinaryOp, ChannelRef, Expr, ExprKind, LocalId, Place, PlaceRoot, PlaceSelector,
    Program, Type, TypeId, VarId,
};

/// The ranges of a program's expressions.
pub(super) struct ExprRanges<'p> {
    program: &'p Program,
    ranges: Option<ValueRanges>,
    seen: ExprResults,
}

impl<'p> ExprRanges<'p> {
    pub(super) fn of(program: &'p Program) -> Self {
        let (ranges, seen) = match ranges_and_values(program) {
            Some((ranges, seen)) => (Some(ranges), seen),
            None => (None, ExprResults::new()),
        };
        ExprRanges { program, ranges, seen }
    }

    /// Returns the range of an expression, and whether its evaluation may fail.
    fn evaluate(&self, expr: &Expr) -> CheckedRange {
        KnownRanges(self).value(expr)
    }

    /// Returns the range of an expression.
    pub(super) fn range(&self, expr: &Expr) -> Interval {
        self.evaluate(expr).range
    }

    /// Returns whether an operation never wraps its result or fails by overflow.
    pub(super) fn is_exact(&self, expr: &Expr) -> bool {
        !self.evaluate(expr).may_overflow
    }

    /// Returns whether the evaluation of an expression may fail.
    pub(super) fn may_fail(&self, expr: &Expr) -> bool {
        self.evaluate(expr).may_fail
    }

    /// Returns the range of a place.
    pub(super) fn read(&self, place: &Place) -> Interval {
        let known = |id: VarId| self.ranges.as_ref()?.variables[id];
        match place.root {
            PlaceRoot::Variable(id) => known(id).or_else(|| self.domain(place)),
            PlaceRoot::Local(_) => None,
        }
        .unwrap_or_else(|| self.program.arithmetic.integers())
    }

    /// Returns the domain of a place, if it is a scalar of a variable.
    pub(super) fn domain(&self, place: &Place) -> Option<Interval> {
        let PlaceRoot::Variable(id) = place.root else { return None };
        let mut ty = self.program.variables[id].ty;
        for selector in &place.path {
            ty = self.part(ty, selector)?;
        }
        match &self.program.types[ty] {
            Type::Scalar(scalar) => Some(self.program.bounds(&scalar.domain)),
            _ => None,
        }
    }

    fn part(&self, ty: TypeId, selector: &PlaceSelector) -> Option<TypeId> {
        match (&self.program.types[ty], selector) {
            (Type::Array { element, .. }, PlaceSelector::Index(_)) => Some(*element),
            (Type::Record { fields, .. }, PlaceSelector::Field(number)) => {
                fields.get(*number as usize).map(|it| it.1)
            }
            _ => None,
        }
    }

    /// Returns whether an index of a place may be out of range.
    pub(super) fn may_miss(&self, place: &Place) -> bool {
        let PlaceRoot::Variable(id) = place.root else { return true };
        let mut ty = self.program.variables[id].ty;
        for selector in &place.path {
            if let (PlaceSelector::Index(index), Type::Array { low, length, .. }) =
                (selector, &self.program.types[ty])
            {
                let CheckedRange { range, may_fail, .. } = self.evaluate(index);
                let end = low + i64::from(*length);
                if range.0 < *low || end <= range.1 || may_fail {
                    return true;
                }
            }
            let Some(part) = self.part(ty, selector) else { return true };
            ty = part;
        }
        let is_defined =
            matches!(&self.program.types[ty], Type::Scalar(scalar) if !scalar.undefined);
        place.slot.is_some() || !is_defined
    }
}

/// The known ranges, as an environment for the evaluation of other expressions.
struct KnownRanges<'r, 'p>(&'r ExprRanges<'p>);

impl Environment for KnownRanges<'_, '_> {
    type Value = CheckedRange;

    fn arithmetic(&self) -> Arithmetic {
        self.0.program.arithmetic
    }

    fn read(&mut self, place: &Place) -> CheckedRange {
        let (range, may_fail) = (self.0.read(place), self.0.may_miss(place));
        CheckedRange { may_fail, ..CheckedRange::exact(range) }
    }

    fn local(&mut self, _: LocalId) -> CheckedRange {
        CheckedRange::exact(self.arithmetic().integers())
    }

    fn query(&mut self, expr: &Expr) -> CheckedRange {
        let may_fail = match &expr.kind {
            ExprKind::Self_
            | ExprKind::Processes
            | ExprKind::At { slot: None, .. }
            | ExprKind::Timeout
            | ExprKind::Length(ChannelRef::Named(_))
            | ExprKind::IsEmpty(ChannelRef::Named(_))
            | ExprKind::IsFull(ChannelRef::Named(_)) => false,
            ExprKind::Quantified { body, .. } => self.value(body).may_fail,
            _ => true,
        };
        let range = match expr.kind {
            ExprKind::Quantified { .. } | ExprKind::IsUndefined(_) | ExprKind::Same(..) => (0, 1),
            _ => self.arithmetic().integers(),
        };
        CheckedRange { may_fail, ..CheckedRange::exact(range) }
    }

    /// Uses the ranges that were recorded at the evaluations of an expression, which are more precise than its parts
    /// imply. An operation that may wrap is not monotone, so it counts as one that may fail.
    fn value(&mut self, expr: &Expr) -> CheckedRange {
        let mut value = evaluate(self, expr);
        if let Some(&ResultRange { range, may_overflow }) = self.0.seen.get(expr) {
            value = CheckedRange { range, may_overflow, ..value };
        }
        let is_unsteady = match expr.kind {
            ExprKind::Binary(BinaryOp::ShiftLeft | BinaryOp::ShiftRight, ..) => true,
            ExprKind::Convert(_) => true,
            ExprKind::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => false,
            _ => value.may_overflow,
        };
        CheckedRange { may_fail: value.may_fail || is_unsteady, ..value }
    }
}
