//! Bindings of names while code is emitted.

use super::code_value::CodeValue;
use super::shape::StoredType;
use super::words::BitOffset;
use crate::interp::ChannelInstance;
use spillway_ir::{ChannelId, Entity, Expr, ExprKind, LocalId, Owner, ProcessInstance, Program};

/// The binding of a local.
#[derive(Clone, Copy, Debug)]
pub(super) enum NameBinding {
    /// A value.
    Value(CodeValue),
    /// A place: a local variable, a parameter of a function, an alias.
    Place(BitOffset, StoredType),
}

/// The bindings of the locals of one body. Each local is bound again at its binder.
#[derive(Clone, Debug, Default)]
pub(super) struct LocalNames {
    bound: Vec<Option<NameBinding>>,
    /// The mover, if it is a process with slots.
    pub mover: Option<ProcessInstance>,
    /// The value of `timeout`: whether no step is possible otherwise.
    pub timeout: bool,
    /// The channel of the action's own message, if it is not named directly.
    pub channel: Option<ChannelInstance>,
}

impl LocalNames {
    /// Creates empty bindings with this mover.
    pub fn of(mover: ProcessInstance, timeout: bool) -> LocalNames {
        LocalNames { mover: Some(mover), timeout, ..LocalNames::default() }
    }

    /// Returns the same mover and channel with empty bindings, for another body.
    pub fn for_another_body(&self) -> LocalNames {
        LocalNames { bound: Vec::new(), ..*self }
    }

    /// Returns the slot that holds the owner's cells.
    pub fn slot(&self, owner: Owner) -> u32 {
        match owner {
            Owner::Program => 0,
            Owner::Process(_) => self.mover.map_or(0, |mover| mover.slot),
        }
    }

    /// Returns the channel with this name.
    pub fn named(&self, program: &Program, id: ChannelId) -> ChannelInstance {
        ChannelInstance { id, slot: self.slot(program.channels[id].owner) }
    }

    /// Returns the binding of a bound local.
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

    /// Removes the binding of a local.
    pub fn unbind(&mut self, local: LocalId) {
        self.set(local, None);
    }

    fn set(&mut self, local: LocalId, to: Option<NameBinding>) {
        if self.bound.len() <= local.index() {
            self.bound.resize(local.index() + 1, None);
        }
        self.bound[local.index()] = to;
    }

    /// Returns the value of an expression, if it is known at compile time.
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
