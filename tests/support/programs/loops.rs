//! The generation of loops, all of them short.

use super::{Bound, Builder};
use spillway::ir::{Arithmetic, BinaryOp, Expr, ExprKind, OverflowRule, Stmt, StmtKind};

impl Builder<'_> {
    /// Returns a loop from one value to another: upwards, downwards, or without rounds.
    pub(super) fn count_up_or_down(&mut self, depth: u32) -> Stmt {
        let local = self.local();
        let (first, last, step) = match self.choices.weighted(&[50, 20, 20, 10]) {
            0 => (self.any_within(0, 2, 1), self.any_within(0, 4, 1), self.choices.between(1, 2)),
            1 => (self.any_within(1, 4, 1), self.any_within(-3, 2, 1), -1),
            2 => (self.any_within(-2, 2, 1), self.any_within(-2, 4, 1), self.choices.between(1, 3)),
            _ => self.up_to_the_end(),
        };
        let step = match self.risks() {
            true => self.any_within(-1, 3, 1),
            false => self.constant(step),
        };
        // The validator rejects a constant step of 0.
        let step = match step.as_constant() {
            Some(0) => self.constant(1),
            _ => step,
        };
        let (low, high) = self.span_of(&first, &last);
        let bound = Bound { local, low, high, position_in: None };
        let body = self.binding(bound, |it| it.block(depth));
        self.stmt(StmtKind::For { local, first, last, step, body })
    }

    /// Returns the bounds and the step of a loop to the limit of the integers, after which there is no next value.
    fn up_to_the_end(&mut self) -> (Expr, Expr, i64) {
        let (least, greatest) = match self.program.arithmetic {
            Arithmetic::Wrapping32 => (i32::MIN.into(), i32::MAX.into()),
            Arithmetic::Checked64 => (i64::MIN, i64::MAX),
        };
        let rounds = self.choices.between(0, 2);
        match self.choices.chance(50) {
            true => (self.constant(greatest - rounds), self.constant(greatest), 1),
            false => (self.constant(least + rounds), self.constant(least), -2),
        }
    }

    /// Returns the range of values between the bounds of a loop, or a guess if they are unknown.
    fn span_of(&self, first: &Expr, last: &Expr) -> (i64, i64) {
        let (one, other) = (first.as_constant(), last.as_constant());
        match (one, other) {
            (Some(one), Some(other)) => (one.min(other), one.max(other)),
            _ => (-3, 4),
        }
    }

    pub(super) fn for_each(&mut self, depth: u32) -> Stmt {
        let over = self.choices.pick(&self.small);
        let ((low, high), local) = (self.bounds(over), self.local());
        let bound = Bound { local, low, high, position_in: None };
        let body = self.binding(bound, |it| it.block(depth));
        self.stmt(StmtKind::ForEach { local, over, body })
    }

    /// Returns a loop that raises a scalar to a bound, or that runs until the limit of rounds.
    pub(super) fn while_loop(&mut self, depth: u32) -> Option<Stmt> {
        if self.risks() {
            let condition = self.any_expr(2);
            let limit = self.choices.between(1, 4) as u64;
            let body = self.block(depth);
            return Some(self.stmt(StmtKind::While { condition, body, limit }));
        }
        let part = self.part(|it, part| {
            !part.is_in_multiset()
                && it.may_write(part)
                && it.scalar(part.ty).is_some_and(|scalar| !scalar.undefined)
        })?;
        let fixed_place = self.fixed_place(&part);
        let (low, high) = self.bounds(part.ty);
        let most = self.constant(high.min(low.saturating_add(3)));
        let compared = self.place_at(&fixed_place);
        let compared = self.expr(ExprKind::Read(compared));
        let condition = self.binary(BinaryOp::Less, compared, most);
        let (target, added, one) =
            (self.place_at(&fixed_place), self.place_at(&fixed_place), self.constant(1));
        let added = self.expr(ExprKind::Read(added));
        let value = self.binary(BinaryOp::Add, added, one);
        let raise = self.stmt(StmtKind::Assign { target, value, overflow: OverflowRule::Fails });
        let mut body = if self.choices.chance(40) { self.block(0) } else { vec![] };
        body.push(raise);
        let limit = self.choices.between(3, 20) as u64;
        Some(self.stmt(StmtKind::While { condition, body, limit }))
    }
}
