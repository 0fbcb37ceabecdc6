//! Searches for kinds of expressions in code.

use super::walk::{self, CodeVisitor};
use super::{Action, Expr, ExprKind};

impl Action {
    /// Returns whether the action waits for `timeout`.
    pub fn reads_timeout(&self) -> bool {
        self.waits_on_expr(|it| *it == ExprKind::Timeout)
    }

    /// Returns whether the guard or the message contains such an expression.
    pub fn waits_on_expr(&self, wanted: fn(&ExprKind) -> bool) -> bool {
        let mut asks = ExprFinder { wanted, found: false };
        self.guard.iter().for_each(|guard| asks.expr(guard));
        self.communication.iter().for_each(|it| asks.communication(it));
        asks.found
    }
}

impl Expr {
    /// Returns whether the expression contains `timeout`.
    pub fn reads_timeout(&self) -> bool {
        self.has(|it| *it == ExprKind::Timeout)
    }

    /// Returns whether the value depends on which actions are enabled.
    pub fn reads_enabledness(&self) -> bool {
        self.has(|it| matches!(it, ExprKind::Timeout | ExprKind::Enabled(_)))
    }

    /// Returns whether it contains such an expression.
    fn has(&self, wanted: fn(&ExprKind) -> bool) -> bool {
        let mut asks = ExprFinder { wanted, found: false };
        asks.expr(self);
        asks.found
    }
}

/// A search for an expression.
struct ExprFinder {
    wanted: fn(&ExprKind) -> bool,
    found: bool,
}

impl CodeVisitor for ExprFinder {
    fn expr(&mut self, expr: &Expr) {
        self.found |= (self.wanted)(&expr.kind);
        walk::expr(self, expr);
    }
}
