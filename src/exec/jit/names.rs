//! What names stand for while code is emitted.

use super::shape::Shape;
use super::val::Val;
use super::words::At;
use crate::exec::interp::ChannelAt;
use crate::ir::{ChannelId, Entity, Expr, ExprKind, Instance, LocalId, Owner, Program};

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
pub(super) struct Names {
    bound: Vec<Option<Bound>>,
    /// Who moves, if a process with slots does.
    pub mover: Option<Instance>,
    /// Whether nothing else can be done.
    pub timeout: bool,
    /// The channel that the action's own message goes through, where that is not named.
    pub channel: Option<ChannelAt>,
}

impl Names {
    /// No names, and this mover.
    pub fn of(mover: Instance, timeout: bool) -> Names {
        Names { mover: Some(mover), timeout, ..Names::default() }
    }

    /// The same mover and channel without what the locals stand for: those of another body.
    pub fn of_another_body(&self) -> Names {
        Names { bound: Vec::new(), ..*self }
    }

    /// The slot that what belongs to this owner is in.
    pub fn slot(&self, owner: Owner) -> u32 {
        match owner {
            Owner::Program => 0,
            Owner::Process(_) => self.mover.map_or(0, |mover| mover.slot),
        }
    }

    /// The channel with this name.
    pub fn named(&self, program: &Program, id: ChannelId) -> ChannelAt {
        ChannelAt { id, slot: self.slot(program.channels[id].owner) }
    }

    /// What a local that is bound stands for.
    pub fn get(&self, local: LocalId) -> Bound {
        self.find(local).unwrap_or_else(|| unreachable!("locals are bound before use"))
    }

    fn find(&self, local: LocalId) -> Option<Bound> {
        self.bound.get(local.index()).copied().flatten()
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
        if self.bound.len() <= local.index() {
            self.bound.resize(local.index() + 1, None);
        }
        self.bound[local.index()] = to;
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
