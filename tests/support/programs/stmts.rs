//! The generation of statements, each with a condition that prevents a fault unless the program is reckless.

use super::{Builder, Part, exprs};
use spillway::ir::{
    AssertionKind, BinaryOp, CallArgument, Expr, ExprKind, OverflowRule, Place, Stmt, StmtKind,
    Type, TypeId, UnaryOp,
};

/// The maximum nesting of statements.
pub(super) const DEPTH: u32 = 2;

impl Builder<'_> {
    /// Returns some statements.
    pub(super) fn block(&mut self, depth: u32) -> Vec<Stmt> {
        let count = self.choices.pick(&[1, 1, 2, 2, 3, 0]);
        (0..count).map(|_| self.rooted(|it| it.any_stmt(depth))).collect()
    }

    pub(super) fn any_stmt(&mut self, depth: u32) -> Stmt {
        let nested = if depth > 0 { 8 } else { 0 };
        let weights = [
            50,
            4,
            6,
            3,
            4,
            3,
            2,
            4,
            7,
            6,
            2,
            nested,
            nested,
            nested,
            nested,
            nested / 2,
            nested,
            nested,
            8,
            2,
            2,
        ];
        let stmt = match self.choices.weighted(&weights) {
            0 => self.assign(),
            1 => self.assign_undefined(),
            2 => self.copy(),
            3 => self.undefine(),
            4 => self.clear(),
            5 => Some(self.assert()),
            6 => Some(self.error()),
            7 => self.exchange(),
            8 => self.add(),
            9 => self.remove(),
            10 => Some(self.print()),
            11 => Some(self.choice(depth - 1)),
            12 => Some(self.switch(depth - 1)),
            13 => Some(self.count_up_or_down(depth - 1)),
            14 => Some(self.for_each(depth - 1)),
            15 => self.while_loop(depth - 1),
            16 => Some(self.declared(depth - 1)),
            17 => self.named(depth - 1),
            18 => self.call(),
            19 => Some(self.assume()),
            _ => Some(self.return_early()),
        };
        stmt.or_else(|| self.assign()).unwrap_or_else(|| self.print())
    }

    /// Returns the statement, guarded by a condition if there is one.
    pub(super) fn only_if(&mut self, condition: Option<Expr>, stmt: Stmt) -> Stmt {
        match condition {
            None => stmt,
            condition => self.stmt(StmtKind::If(vec![(condition, vec![stmt])])),
        }
    }

    /// Returns a place in a part, and the condition under which it exists.
    pub(super) fn target(&mut self, part: &Part) -> (Option<Expr>, Place) {
        if self.risks() || !part.is_in_multiset() {
            return (None, self.place(part, 1));
        }
        let fixed_place = self.fixed_place(part);
        (self.presence(&fixed_place), self.place_at(&fixed_place))
    }

    fn assign(&mut self) -> Option<Stmt> {
        let part = self.part(|it, part| it.scalar(part.ty).is_some() && it.may_write(part))?;
        let (condition, target) = match self.choices.weighted(&[45, 55]) {
            0 if !part.is_in_multiset() => return Some(self.advance(&part)),
            _ => self.target(&part),
        };
        let (low, high) = self.bounds(part.ty);
        let wraps = self.choices.chance(50);
        let overflow = if wraps { OverflowRule::Wraps } else { OverflowRule::Fails };
        let value = match self.choices.below(3) {
            0 if wraps || self.risks() => self.any_expr(exprs::DEPTH),
            1 if self.risks() => self.constant_near(low, high),
            _ => self.any_within(low, high, exprs::DEPTH),
        };
        let stmt = self.stmt(StmtKind::Assign { target, value, overflow });
        Some(self.only_if(condition, stmt))
    }

    /// Returns a statement that advances some scalar with several values to its next value.
    pub(super) fn advance_something(&mut self) -> Option<Stmt> {
        let part = self.part(|it, part| {
            !part.is_in_multiset()
                && it.may_write(part)
                && it.scalar(part.ty).is_some_and(|scalar| {
                    let (low, high) = it.program.bounds(&scalar.domain);
                    low < high
                })
        })?;
        Some(self.advance(&part))
    }

    /// Returns a statement that assigns the next value, or the first after the last: this leads a program through its
    /// states.
    pub(super) fn advance(&mut self, part: &Part) -> Stmt {
        let fixed_place = self.fixed_place(part);
        let (low, high) = self.bounds(part.ty);
        let step = self.choices.pick(&[1, 1, 1, 2, 3]).min(high - low);
        let condition = self.readable(&fixed_place);
        let reads: Vec<Expr> = (0..2)
            .map(|_| {
                let place = self.place_at(&fixed_place);
                self.expr(ExprKind::Read(place))
            })
            .collect();
        let [compared, added] = reads.try_into().expect("two were made");
        let last = self.constant(high.saturating_sub(step).max(low));
        let may = self.binary(BinaryOp::LessEqual, compared, last);
        let may = self.conjunction(condition, Some(may)).expect("one is given");
        let step = self.constant(step);
        let next = self.binary(BinaryOp::Add, added, step);
        let first = self.constant(low);
        let (may, next, first) = (Box::new(may), Box::new(next), Box::new(first));
        let value = self.expr(ExprKind::Conditional(may, next, first));
        let (target, overflow) = (self.place_at(&fixed_place), OverflowRule::Fails);
        self.stmt(StmtKind::Assign { target, value, overflow })
    }

    fn assign_undefined(&mut self) -> Option<Stmt> {
        let part = self.part(|it, part| it.may_be_undefined(part.ty) && it.may_write(part))?;
        let (condition, target) = self.target(&part);
        let value = self.expr(ExprKind::Undefined);
        let stmt = self.stmt(StmtKind::Assign { target, value, overflow: OverflowRule::Fails });
        Some(self.only_if(condition, stmt))
    }

    /// Returns a copy, within one variable as often as between two.
    fn copy(&mut self) -> Option<Stmt> {
        let part = self.part(|it, part| {
            it.may_write(part) && (it.scalar(part.ty).is_none() || it.choices_are_few())
        })?;
        let other = self.part(|_, other| other.ty == part.ty)?;
        let (one, target) = self.target(&part);
        let (two, source) = self.target(&other);
        let condition = self.conjunction(one, two);
        let stmt = self.stmt(StmtKind::Copy { target, source });
        Some(self.only_if(condition, stmt))
    }

    /// Returns whether there are no aggregates to copy.
    fn choices_are_few(&self) -> bool {
        self.parts.iter().all(|part| self.scalar(part.ty).is_some())
    }

    fn undefine(&mut self) -> Option<Stmt> {
        let part = self.part(|it, part| it.is_undefinable(part.ty) && it.may_write(part))?;
        let (condition, place) = self.target(&part);
        let stmt = self.stmt(StmtKind::Undefine(place));
        Some(self.only_if(condition, stmt))
    }

    fn is_undefinable(&self, ty: TypeId) -> bool {
        match &self.program.types[ty] {
            Type::Scalar(scalar) => scalar.undefined,
            Type::Array { element, .. } | Type::Multiset { element, .. } => {
                self.is_undefinable(*element)
            }
            Type::Record { fields, .. } => fields.iter().all(|(_, ty)| self.is_undefinable(*ty)),
        }
    }

    fn clear(&mut self) -> Option<Stmt> {
        let part = self.part(|it, part| it.may_write(part))?;
        let (condition, place) = self.target(&part);
        let stmt = self.stmt(StmtKind::Clear(place));
        Some(self.only_if(condition, stmt))
    }

    fn assert(&mut self) -> Stmt {
        let sometimes = self.condition();
        let condition = match self.risks() {
            true => sometimes,
            false => {
                let always = self.constant(1);
                self.binary(BinaryOp::Or, sometimes, always)
            }
        };
        // The number of actions so far decides, so that no choice is consumed.
        let asserted = match self.program.actions.len() % 4 {
            3 => AssertionKind::Event,
            _ => AssertionKind::Condition,
        };
        self.stmt(StmtKind::Assert { condition, message: "asserted".into(), asserted })
    }

    fn error(&mut self) -> Stmt {
        let condition = self.condition();
        let never = self.constant(i64::from(self.reckless));
        let condition = self.binary(BinaryOp::And, condition, never);
        let error = self.stmt(StmtKind::Error("reached".into()));
        self.only_if(Some(condition), error)
    }

    pub(super) fn print(&mut self) -> Stmt {
        let value = self.any_expr(1);
        self.stmt(StmtKind::Print { format: "value {}".into(), values: vec![value] })
    }

    fn multiset(&mut self) -> Option<(Part, u32, TypeId)> {
        let part = self.part(|it, part| {
            matches!(it.program.types[part.ty], Type::Multiset { .. })
                && !part.is_in_multiset()
                && it.may_write(part)
        })?;
        match self.program.types[part.ty] {
            Type::Multiset { capacity, element } => Some((part, capacity, element)),
            _ => unreachable!("the part is a multiset"),
        }
    }

    fn add(&mut self) -> Option<Stmt> {
        let (part, capacity, ty) = self.multiset()?;
        let fixed_place = self.fixed_place(&part);
        let place = self.place_at(&fixed_place);
        let too_many = self.has_more_than(place, i64::from(capacity) - 1);
        let room = self.expr(ExprKind::Unary(UnaryOp::Not, Box::new(too_many)));
        let (source, element) = self.element(ty)?;
        let condition = self.conjunction(Some(room), source);
        let multiset = self.place_at(&fixed_place);
        let stmt = self.stmt(StmtKind::MultisetAdd { multiset, element });
        Some(if self.risks() { stmt } else { self.only_if(condition, stmt) })
    }

    /// Returns an element for a multiset of this type, and the condition under which it exists.
    fn element(&mut self, ty: TypeId) -> Option<(Option<Expr>, CallArgument)> {
        if self.scalar(ty).is_some() && !self.choices.chance(30) {
            let (low, high) = self.bounds(ty);
            let value = match self.risks() {
                _ if self.may_be_undefined(ty) && self.choices.chance(30) => {
                    self.expr(ExprKind::Undefined)
                }
                true => self.any_expr(2),
                false => self.any_within(low, high, 2),
            };
            return Some((None, CallArgument::Value(value)));
        }
        let source = self.part(|_, part| part.ty == ty)?;
        let (condition, place) = self.target(&source);
        Some((condition, CallArgument::Copy(place)))
    }

    fn remove(&mut self) -> Option<Stmt> {
        let (part, capacity, _) = self.multiset()?;
        let fixed_place = self.fixed_place(&part);
        let at = self.choices.between(0, i64::from(capacity) - 1);
        let place = self.place_at(&fixed_place);
        let condition = self.has_element(place, at);
        let multiset = self.place_at(&fixed_place);
        let risks = self.risks();
        let position = if risks { self.any_expr(2) } else { self.constant(at) };
        let stmt = self.stmt(StmtKind::MultisetRemove { multiset, position });
        Some(if risks { stmt } else { self.only_if(Some(condition), stmt) })
    }

    fn choice(&mut self, depth: u32) -> Stmt {
        let mut branches: Vec<_> = (0..self.choices.pick(&[1, 1, 2, 3]))
            .map(|_| {
                let condition = self.condition();
                (Some(condition), self.block(depth))
            })
            .collect();
        if self.choices.chance(60) {
            branches.push((None, self.block(depth)));
        }
        self.stmt(StmtKind::If(branches))
    }

    fn switch(&mut self, depth: u32) -> Stmt {
        let subject = match self.choices.chance(50) {
            true => self.any_expr(2),
            false => self.any_within(0, 3, 2),
        };
        let mut branches: Vec<_> = (0..self.choices.pick(&[1, 2, 3]))
            .map(|_| {
                let values = 1 + self.choices.below(2);
                let values = (0..values).map(|_| self.case()).collect();
                (values, self.block(depth))
            })
            .collect();
        if self.choices.chance(60) {
            branches.push((vec![], self.block(depth)));
        }
        self.stmt(StmtKind::Switch(subject, branches))
    }

    fn case(&mut self) -> Expr {
        match self.choices.chance(20) {
            true => self.any_expr(1),
            false => {
                let value = self.choices.between(0, 3);
                self.constant(value)
            }
        }
    }
}
