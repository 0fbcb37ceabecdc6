//! What names stand for while code is emitted.

use super::code_value::CodeValue;
use super::shape::StoredType;
use super::words::BitOffset;
use crate::exec::interp::ChannelInstance;
use crate::ir::{ChannelId, Entity, Expr, ExprKind, LocalId, Owner, ProcessInstance, Program};

/// What a local stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameBinding {
    /// A value.
    Value(CodeValue),
    /// A place: a local variable, a parameter of a function, an alias.
    Place(BitOffset, StoredType),
}

/// What the locals of one body stand for. Each is bound anew wherever its binder is met.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalNames {
    bound: Vec<Option<NameBinding>>,
    /// Who moves, if a process with slots does.
    pub mover: Option<ProcessInstance>,
    /// Whether nothing else can be done.
    pub timeout: bool,
    /// The channel that the action's own message goes through, where that is not named.
    pub channel: Option<ChannelInstance>,
}

impl LocalNames {
    /// No names, and this mover.
    pub fn of(mover: ProcessInstance, timeout: bool) -> LocalNames {
        LocalNames { mover: Some(mover), timeout, ..LocalNames::default() }
    }

    /// The same mover and channel without what the locals stand for: those of another body.
    pub fn for_another_body(&self) -> LocalNames {
        LocalNames { bound: Vec::new(), ..*self }
    }

    /// The slot that what belongs to this owner is in.
    pub fn slot(&self, owner: Owner) -> u32 {
        match owner {
            Owner::Program => 0,
            Owner::Process(_) => self.mover.map_or(0, |mover| mover.slot),
        }
    }

    /// The channel with this name.
    pub fn named(&self, program: &Program, id: ChannelId) -> ChannelInstance {
        ChannelInstance { id, slot: self.slot(program.channels[id].owner) }
    }

    /// What a local that is bound stands for.
    pub fn get(&self, local: LocalId) -> NameBinding {
        self.find(local).unwrap_or_else(|| unreachable!("locals are bound before use"))
    }

    fn find(&self, local: LocalId) -> Option<NameBinding> {
        self.bound.get(local.index()).copied().flatten()
    }

    /// Binds a local.
    pub fn bind(&mut self, local: LocalId, to: NameBinding) {
        self.set(local, Some(to));
    }

    /// Forgets what a local stands for.
    pub fn unbind(&mut self, local: LocalId) {
        self.set(local, None);
    }

    fn set(&mut self, local: LocalId, to: Option<NameBinding>) {
        if self.bound.len() <= local.index() {
            self.bound.resize(local.index() + 1, None);
        }
        self.bound[local.index()] = to;
    }

    /// The value of an expression, if that is known before the model runs.
    pub fn constant_value(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Local(local) => match self.find(*local)? {
                NameBinding::Value(value) => value.as_constant(),
                NameBinding::Place(..) => None,
            },
            ExprKind::Convert(convert) => {
                let value = self.constant_value(&convert.operand)?;
                let piece = convert.pieces.iter().find(|it| it.low <= value && value <= it.high)?;
                Some(value + piece.by)
            }
            _ => expr.as_constant(),
        }
    }
}
