//! What names stand for while code is emitted.

use super::bits::At;
use super::emitter::Val;
use super::shape::Shape;
use crate::ir::{Entity, Expr, ExprKind, LocalId};

/// What a local stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// A value.
    Value(Val),
    /// A place: a local variable, a parameter of a function, an alias.
    Place(At, Shape),
}

/// What the locals of one body stand for. Each is bound anew wherever its binder is met.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<Option<Bound>>);

impl Names {
    /// What a local that is bound stands for.
    pub fn get(&self, local: LocalId) -> Bound {
        self.find(local).unwrap_or_else(|| unreachable!("locals are bound before use"))
    }

    fn find(&self, local: LocalId) -> Option<Bound> {
        self.0.get(local.index()).copied().flatten()
    }

    /// Binds a local.
    pub fn bind(&mut self, local: LocalId, to: Bound) {
        self.set(local, Some(to));
    }

    /// Forgets what a local stands for.
    pub fn unbind(&mut self, local: LocalId) {
        self.set(local, None);
    }

    fn set(&mut self, local: LocalId, to: Option<Bound>) {
        if self.0.len() <= local.index() {
            self.0.resize(local.index() + 1, None);
        }
        self.0[local.index()] = to;
    }

    /// The value of an expression, if that is known before the model runs.
    pub fn known(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Local(local) => match self.find(*local)? {
                Bound::Value(value) => value.as_known(),
                Bound::Place(..) => None,
            },
            ExprKind::Convert(convert) => {
                let value = self.known(&convert.operand)?;
                let piece = convert.pieces.iter().find(|it| it.low <= value && value <= it.high)?;
                Some(value + piece.by)
            }
            _ => expr.as_constant(),
        }
    }
}
