//! Validation of the numbers of expressions.

use super::{ProgramValidator, Rule};
use crate::walk::{self, CodeVisitor};
use crate::{Entity, Expr, ExprId, ExprKind, ReceivePattern};
use spillway_base::source::Span;

impl ProgramValidator<'_> {
    pub(super) fn expr_numbers(&mut self) {
        let mut given = ExprNumbers(Vec::new());
        walk::program(&mut given, self.program);
        let ExprNumbers(given) = given;
        let mut is_taken = vec![false; given.len()];
        for (id, span) in given {
            let is_own = match is_taken.get_mut(id.index()) {
                Some(is_taken) => !std::mem::replace(is_taken, true),
                None => false,
            };
            self.require(is_own, Rule::ExprNumbers, span, || {
                format!("{id:?} is another expression's number, or beyond all of them")
            });
        }
    }
}

/// The number of each expression of a program.
struct ExprNumbers(Vec<(ExprId, Span)>);

impl CodeVisitor for ExprNumbers {
    /// Long chains of operations lean to the left, so left operands are followed without recursion.
    fn expr(&mut self, mut expr: &Expr) {
        self.0.push((expr.id, expr.span));
        while let ExprKind::Binary(_, left, right) = &expr.kind {
            self.expr(right);
            expr = left;
            self.0.push((expr.id, expr.span));
        }
        walk::expr(self, expr);
        // A poll stores nothing, so the other walks skip its targets.
        if let ExprKind::CanReceive(_, patterns, _) = &expr.kind {
            for pattern in patterns {
                if let ReceivePattern::Into(target) = pattern {
                    walk::place(self, target);
                }
            }
        }
    }
}
