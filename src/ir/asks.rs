//! What code asks about the rest of the program.

use super::walk::{self, Visitor};
use super::{Action, Expr, ExprKind};

impl Action {
    /// Whether it waits for nothing else to be possible.
    pub fn asks_for_timeout(&self) -> bool {
        self.waits_for(|it| *it == ExprKind::Timeout)
    }

    /// Whether its guard or its message has such an expression.
    pub fn waits_for(&self, wanted: fn(&ExprKind) -> bool) -> bool {
        let mut asks = Asks { wanted, found: false };
        self.guard.iter().for_each(|guard| asks.expr(guard));
        self.communication.iter().for_each(|it| asks.communication(it));
        asks.found
    }
}

impl Expr {
    /// Whether it asks whether nothing else can be done.
    pub fn asks_for_timeout(&self) -> bool {
        let mut asks = Asks { wanted: |it| *it == ExprKind::Timeout, found: false };
        asks.expr(self);
        asks.found
    }
}

/// Looks for an expression.
struct Asks {
    wanted: fn(&ExprKind) -> bool,
    found: bool,
}

impl Visitor for Asks {
    fn expr(&mut self, expr: &Expr) {
        self.found |= (self.wanted)(&expr.kind);
        walk::expr(self, expr);
    }
}
