//! Which values expressions have: whether what is computed and stored is what it says, and is not wrapped.

use crate::analysis::ranges::{ExprResults, ranges_and_values};
use crate::ir::interval::{self, Interval, ResultRange, hull};
use crate::ir::layout::ValueRanges;
use crate::ir::{
    BinaryOp, ChannelRef, Expr, ExprKind, Place, PlaceRoot, PlaceSelector, Program, Type, TypeId,
    UnaryOp, VarId,
};

/// The values of a program's expressions, as far as ranges tell.
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

    /// Where all values of an expression are.
    pub(super) fn range(&self, expr: &Expr) -> Interval {
        self.results(expr).range
    }

    /// Whether an operation never has to wrap its result, nor to refuse it.
    pub(super) fn is_exact(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Negate, operand) => {
                self.range(operand).0 > self.program.arithmetic.integers().0
            }
            _ => !self.results(expr).may_overflow,
        }
    }

    fn results(&self, expr: &Expr) -> ResultRange {
        if let Some(&seen) = self.seen.get(expr) {
            return seen;
        }
        let exact = |range| ResultRange { range, may_overflow: false };
        let arithmetic = self.program.arithmetic;
        match &expr.kind {
            ExprKind::Constant(value) => exact((*value, *value)),
            ExprKind::Read(place) => exact(self.read(place)),
            ExprKind::Unary(operator, operand) => {
                exact(interval::unary(arithmetic, *operator, self.range(operand)))
            }
            ExprKind::Binary(operator, left, right) => {
                interval::binary(arithmetic, *operator, self.range(left), self.range(right))
            }
            ExprKind::Conditional(_, then, otherwise) => {
                exact(hull(self.range(then), self.range(otherwise)))
            }
            ExprKind::Quantified { .. } | ExprKind::IsUndefined(_) | ExprKind::Same(..) => {
                exact((0, 1))
            }
            _ => exact(arithmetic.integers()),
        }
    }

    /// The values at a place.
    pub(super) fn read(&self, place: &Place) -> Interval {
        let known = |id: VarId| self.ranges.as_ref()?.variables[id];
        match place.root {
            PlaceRoot::Variable(id) => known(id).or_else(|| self.domain(place)),
            PlaceRoot::Local(_) => None,
        }
        .unwrap_or_else(|| self.program.arithmetic.integers())
    }

    /// The values that a place can hold, if it is a scalar of a variable.
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

    /// Whether finding a place may fail: an index may be out of range.
    pub(super) fn may_miss(&self, place: &Place) -> bool {
        let PlaceRoot::Variable(id) = place.root else { return true };
        let mut ty = self.program.variables[id].ty;
        for selector in &place.path {
            if let (PlaceSelector::Index(index), Type::Array { low, length, .. }) =
                (selector, &self.program.types[ty])
            {
                let range = self.range(index);
                let end = low + i64::from(*length);
                if range.0 < *low || end <= range.1 || self.may_fail(index) {
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

    /// Whether computing an expression may fail.
    pub(super) fn may_fail(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Self_
            | ExprKind::Processes
            | ExprKind::At { slot: None, .. }
            | ExprKind::Timeout
            | ExprKind::Length(ChannelRef::Named(_))
            | ExprKind::IsEmpty(ChannelRef::Named(_))
            | ExprKind::IsFull(ChannelRef::Named(_)) => false,
            ExprKind::Read(place) => self.may_miss(place),
            ExprKind::Unary(_, operand) => self.may_fail(operand) || !self.is_exact(expr),
            ExprKind::Binary(operator, left, right) => {
                let fails = match operator {
                    BinaryOp::Divide | BinaryOp::Remainder => {
                        let (low, high) = self.range(right);
                        low <= 0 && 0 <= high
                    }
                    BinaryOp::ShiftLeft | BinaryOp::ShiftRight => true,
                    _ => !self.is_exact(expr),
                };
                fails || self.may_fail(left) || self.may_fail(right)
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().any(|it| self.may_fail(it))
            }
            ExprKind::Quantified { body, .. } => self.may_fail(body),
            _ => true,
        }
    }
}
