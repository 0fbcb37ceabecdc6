//! The generation of local variables, names for places, and comparisons and conversions.

use super::{Builder, Part, exprs};
use spillway::ir::{
    ConversionPiece, Expr, ExprKind, NumberConversion, PlaceRoot, Stmt, StmtKind, TypeId,
};

impl Builder<'_> {
    /// Builds something in the scope of a name for a place of this type.
    pub(super) fn placing<T>(
        &mut self,
        root: PlaceRoot,
        ty: TypeId,
        inside: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.parts.len();
        self.find_parts_of(root, ty);
        let built = inside(self);
        self.parts.truncate(before);
        built
    }

    /// Returns a type, usually that of a variable.
    pub(super) fn known_type(&mut self) -> TypeId {
        let variables: Vec<TypeId> = self.program.variables.values().map(|it| it.ty).collect();
        match variables.is_empty() || self.choices.chance(40) {
            true => self.choices.pick(&self.small),
            false => self.choices.pick(&variables),
        }
    }

    /// Returns a declaration of a local variable, and statements that may use it.
    pub(super) fn declared(&mut self, depth: u32) -> Stmt {
        let (ty, local) = (self.known_type(), self.local());
        let body = self.placing(PlaceRoot::Local(local), ty, |it| it.block_using(local, depth));
        self.stmt(StmtKind::Declare { local, name: format!("v{}", local.0), ty, body })
    }

    /// Returns a name for a place, and statements that may use it.
    pub(super) fn named(&mut self, depth: u32) -> Option<Stmt> {
        let part = self.part(|it, part| it.may_write(part))?;
        let (condition, place) = self.target(&part);
        let local = self.local();
        let body =
            self.placing(PlaceRoot::Local(local), part.ty, |it| it.block_using(local, depth));
        let name = format!("n{}", local.0);
        let stmt = self.stmt(StmtKind::Alias { local, name, place, body });
        Some(self.only_if(condition, stmt))
    }

    /// Returns statements; the first one uses the place that a name denotes, if possible.
    fn block_using(&mut self, local: spillway::ir::LocalId, depth: u32) -> Vec<Stmt> {
        let used = |it: &Self, part: &Part| {
            part.root == PlaceRoot::Local(local)
                && !part.is_in_multiset()
                && it.scalar(part.ty).is_some()
        };
        let first = self.part(used).map(|part| match self.choices.chance(50) {
            true => self.advance(&part),
            false => self.assign_to(&part),
        });
        first.into_iter().chain(self.block(depth)).collect()
    }

    /// Returns whether a part may be written here.
    pub(super) fn may_write(&self, part: &Part) -> bool {
        !self.pure || matches!(part.root, PlaceRoot::Local(_))
    }

    /// Returns an assumption. The first start always has a successor, so neither it nor most functions, which it may
    /// call, contain assumptions.
    pub(super) fn assume(&mut self) -> Stmt {
        let may = !self.pure && !self.is_lockstep() && self.recklessness > 0;
        if !may || self.in_function && !self.risks() {
            return self.print();
        }
        let condition = self.condition();
        self.stmt(StmtKind::Assume(condition))
    }

    /// Returns a conditional return.
    pub(super) fn return_early(&mut self) -> Stmt {
        let condition = self.condition();
        let stmt = self.return_now();
        self.only_if(Some(condition), stmt)
    }

    pub(super) fn return_now(&mut self) -> Stmt {
        let value = self.returns.map(|ty| self.possibly_undefined(ty));
        self.stmt(StmtKind::Return(value))
    }

    /// Returns a value of a type, or undefined if the type permits it.
    pub(super) fn possibly_undefined(&mut self, ty: TypeId) -> Expr {
        let (low, high) = self.bounds(ty);
        match self.choices.below(4) {
            0 if self.may_be_undefined(ty) => self.expr(ExprKind::Undefined),
            1 if self.may_be_undefined(ty) => {
                let part = self.part(|_, part| part.ty == ty && !part.is_in_multiset());
                match part {
                    Some(part) => {
                        let place = self.place(&part, 1);
                        self.expr(ExprKind::Read(place))
                    }
                    None => self.expr(ExprKind::Undefined),
                }
            }
            2 if self.risks() => self.any_expr(2),
            _ => self.any_within(low, high, exprs::DEPTH - 1),
        }
    }

    /// Returns whether two values are equal or both undefined, as an expression.
    pub(super) fn same(&mut self, depth: u32) -> Expr {
        let part = self.part(|it, part| it.scalar(part.ty).is_some() && !part.is_in_multiset());
        let Some(part) = part else { return self.any_constant() };
        let place = self.place(&part, depth - 1);
        let left = self.expr(ExprKind::Read(place));
        let other = self.part(|it, other| {
            other.ty == part.ty && !other.is_in_multiset() && it.scalar(other.ty).is_some()
        });
        let right = match other.filter(|_| self.choices.chance(60)) {
            Some(other) => {
                let place = self.place(&other, depth - 1);
                self.expr(ExprKind::Read(place))
            }
            None => {
                let (low, high) = self.bounds(part.ty);
                self.any_within(low, high, depth - 1)
            }
        };
        self.expr(ExprKind::Same(Box::new(left), Box::new(right)))
    }

    /// Returns a conversion to another numbering, with two pieces that are exchanged or moved.
    pub(super) fn converted(&mut self, depth: u32) -> Expr {
        let low = self.choices.between(-3, 2);
        let (one, other) = (self.choices.between(1, 4), self.choices.between(1, 4));
        let high = low + one + other - 1;
        let operand = match self.risks() {
            true => self.any_within(low - 1, high + 1, depth - 1),
            false => self.any_within(low, high, depth - 1),
        };
        let by = match self.choices.chance(50) {
            true => (other, -one),
            false => (self.choices.between(-9, 9), self.choices.between(-9, 9)),
        };
        let pieces = vec![
            ConversionPiece { low, high: low + one - 1, by: by.0 },
            ConversionPiece { low: low + one, high, by: by.1 },
        ];
        self.expr(ExprKind::Convert(Box::new(NumberConversion { operand, pieces })))
    }
}
