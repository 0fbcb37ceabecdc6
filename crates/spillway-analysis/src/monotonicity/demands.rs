//! The demands on expressions, which propagate to their variables.

use super::place_monotonicity::PlaceMonotonicity;
use super::{DemandSolver, ValueOrder};
use spillway_ir::interval::Interval;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{
    BinaryOp, CallArgument, Expr, ExprKind, Place, PlaceRoot, PlaceSelector, UnaryOp, VarId,
};

/// An operation with its operands.
struct BinaryOperation<'e> {
    operator: BinaryOp,
    left: &'e Expr,
    right: &'e Expr,
}

impl DemandSolver<'_> {
    /// Demands an order between the values of an expression in the two states.
    pub(super) fn value(&mut self, expr: &Expr, order: ValueOrder) {
        if order == ValueOrder::Same {
            return self.same(expr, expr);
        }
        if let Some(curve) = PlaceMonotonicity::of(self.program, self.values, expr, false) {
            return self.curve(&curve, order, expr);
        }
        match &expr.kind {
            ExprKind::Read(place) => self.read(place, order, expr),
            ExprKind::Unary(UnaryOp::Negate, operand) if self.values.is_exact(expr) => {
                self.value(operand, order.reversed());
            }
            ExprKind::Binary(operator, left, right) => {
                self.operation(BinaryOperation { operator: *operator, left, right }, order, expr);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.same(condition, expr);
                self.value(then, order);
                self.value(otherwise, order);
            }
            ExprKind::Unary(UnaryOp::Not, _) | ExprKind::Quantified { .. } => {
                self.truth(expr, order);
            }
            _ => self.same(expr, expr),
        }
    }

    fn operation(&mut self, operation: BinaryOperation<'_>, order: ValueOrder, expr: &Expr) {
        let BinaryOperation { operator, left, right } = operation;
        let is_exact = self.values.is_exact(expr);
        match operator {
            BinaryOp::Add if is_exact => {
                self.value(left, order);
                self.value(right, order);
            }
            BinaryOp::Subtract if is_exact => {
                self.value(left, order);
                self.value(right, order.reversed());
            }
            BinaryOp::Multiply if is_exact => match (left.as_constant(), right.as_constant()) {
                (None, Some(by)) => self.value(left, signed(order, by)),
                (Some(by), None) => self.value(right, signed(order, by)),
                _ => self.same(expr, expr),
            },
            BinaryOp::Divide if right.as_constant().is_some_and(|by| by > 0) => {
                self.value(left, order);
            }
            BinaryOp::BitAnd | BinaryOp::BitOr
                if [left, right].iter().all(|it| within(self.values.range(it), (0, 1))) =>
            {
                self.value(left, order);
                self.value(right, order);
            }
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => self.truth(expr, order),
            _ => self.same(expr, expr),
        }
    }

    /// Demands that an expression is at most, or at least, as true as in the other state.
    pub(super) fn truth(&mut self, expr: &Expr, order: ValueOrder) {
        if order == ValueOrder::Same {
            return self.same(expr, expr);
        }
        // The parts of a condition may have different demands.
        let is_joined = matches!(
            &expr.kind,
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, ..)
        );
        if !is_joined
            && let Some(curve) = PlaceMonotonicity::of(self.program, self.values, expr, true)
            && (curve.rises || curve.falls)
        {
            return self.curve(&curve, order, expr);
        }
        match &expr.kind {
            ExprKind::Read(_) if self.values.range(expr).0 >= 0 => self.value(expr, order),
            ExprKind::Unary(UnaryOp::Not, operand) => self.truth(operand, order.reversed()),
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Implies, left, right) => {
                let is_implied = matches!(&expr.kind, ExprKind::Binary(BinaryOp::Implies, ..));
                // The left side decides whether the right side is evaluated, and so whether it may fail.
                match self.values.may_fail(right) {
                    true => self.same(left, expr),
                    false => self.truth(left, if is_implied { order.reversed() } else { order }),
                }
                self.truth(right, order);
            }
            ExprKind::Binary(operator, left, right) => {
                self.comparison(BinaryOperation { operator: *operator, left, right }, order, expr);
            }
            ExprKind::Conditional(condition, then, otherwise) => {
                self.same(condition, expr);
                self.truth(then, order);
                self.truth(otherwise, order);
            }
            ExprKind::Quantified { body, .. } if !self.values.may_fail(body) => {
                self.truth(body, order);
            }
            _ => self.same(expr, expr),
        }
    }

    fn comparison(&mut self, operation: BinaryOperation<'_>, order: ValueOrder, expr: &Expr) {
        let BinaryOperation { operator, left, right } = operation;
        match operator {
            BinaryOp::Less | BinaryOp::LessEqual => {
                self.value(left, order.reversed());
                self.value(right, order);
            }
            BinaryOp::Greater | BinaryOp::GreaterEqual => {
                self.value(left, order);
                self.value(right, order.reversed());
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let order = if operator == BinaryOp::Equal { order } else { order.reversed() };
                match (left.as_constant(), right.as_constant()) {
                    (None, Some(end)) => self.equals_end(left, end, order, expr),
                    (Some(end), None) => self.equals_end(right, end, order, expr),
                    _ => self.same(expr, expr),
                }
            }
            _ => self.same(expr, expr),
        }
    }

    /// Adds the demand of an equality with a constant. If the constant is the greatest or the least value of the
    /// expression, the equality is an order. Otherwise both values must be the same.
    fn equals_end(&mut self, value: &Expr, end: i64, order: ValueOrder, expr: &Expr) {
        let (least, greatest) = self.values.range(value);
        match end {
            _ if end >= greatest => self.value(value, order),
            _ if end <= least => self.value(value, order.reversed()),
            _ => self.same(expr, expr),
        }
    }

    /// Adds the demand of an expression that is a monotone function of a place.
    fn curve(&mut self, curve: &PlaceMonotonicity, order: ValueOrder, expr: &Expr) {
        curve.parts.iter().for_each(|it| self.same(it, expr));
        match (curve.rises, curve.falls) {
            (true, true) => self.way(curve.place, expr),
            (true, false) => self.read(curve.place, order, expr),
            (false, true) => self.read(curve.place, order.reversed(), expr),
            (false, false) => self.same(expr, expr),
        }
    }

    fn read(&mut self, place: &Place, order: ValueOrder, cause: &Expr) {
        self.way(place, cause);
        if let PlaceRoot::Variable(id) = place.root {
            self.demand(id, order, cause);
        }
    }

    /// Demands that the slot and the indices of a place are the same.
    pub(super) fn way(&mut self, place: &Place, cause: &Expr) {
        place.slot.iter().for_each(|it| self.same(it, cause));
        for selector in &place.path {
            if let PlaceSelector::Index(index) = selector {
                self.same(index, cause);
            }
        }
    }

    /// Demands that everything that an expression reads is the same.
    pub(super) fn same(&mut self, expr: &Expr, cause: &Expr) {
        let mut reads = MentionedVariables::default();
        reads.expr(expr);
        self.all_same(reads, cause);
    }

    /// Demands that an argument of a function is the same. A place that is passed by reference is excluded.
    pub(super) fn argument(&mut self, argument: &CallArgument) {
        match argument {
            CallArgument::Value(value) => self.same(value, value),
            CallArgument::Copy(place) | CallArgument::Reference(place) => self.renamed(place),
        }
    }

    /// Excludes the variables of a place that has another name or is copied as a whole: they must always be the same.
    pub(super) fn renamed(&mut self, place: &Place) {
        let mut reads = MentionedVariables::default();
        reads.place(place, PlaceAccess::Read);
        for id in reads.variables {
            self.rule_out(id, "it is copied as a whole, or has an alias");
        }
    }

    fn all_same(&mut self, reads: MentionedVariables, cause: &Expr) {
        for id in reads.variables {
            self.demand(id, ValueOrder::Same, cause);
        }
    }
}

/// Returns the demand on an operand that is multiplied by a constant.
fn signed(order: ValueOrder, by: i64) -> ValueOrder {
    if by < 0 { order.reversed() } else { order }
}

fn within(range: Interval, all: Interval) -> bool {
    all.0 <= range.0 && range.1 <= all.1
}

/// The variables that code mentions. Whether a variable is defined is the same in both states.
#[derive(Default)]
pub(super) struct MentionedVariables {
    pub(super) variables: Vec<VarId>,
}

impl CodeVisitor for MentionedVariables {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::IsUndefined(place) => walk::place(self, place),
            _ => walk::expr(self, expr),
        }
    }

    fn place(&mut self, place: &Place, _: PlaceAccess) {
        if let PlaceRoot::Variable(id) = place.root {
            self.variables.push(id);
        }
        walk::place(self, place);
    }
}
