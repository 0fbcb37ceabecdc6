//! The arena of expressions, and the frame of the definition that is being built.

use super::expr::{Expr, ExprKind};
use super::ids::{ExprId, Slot};
use super::names::LocalId;
use crate::level::Level;
use spillway_base::source::Span;
use std::collections::HashMap;

/// The greatest height of a resolved expression.
pub const HEIGHT_MAX: u32 = 1000;

/// The expressions so far.
#[derive(Default)]
pub(super) struct ExpressionArena {
    pub(super) expressions: Vec<Expr>,
    heights: Vec<u32>,
}

impl ExpressionArena {
    /// Adds an expression. Returns it with its height.
    pub(super) fn push(&mut self, kind: ExprKind, span: Span) -> PushedExpression {
        let mut height = 0;
        kind.for_each_operand(&mut |it| height = height.max(self.heights[it.index()]));
        self.heights.push(height + 1);
        self.expressions.push(Expr { kind, span, level: Level::Constant, uses_frame: false });
        let id = ExprId((self.expressions.len() - 1) as u32);
        PushedExpression { id, is_too_high: height + 1 == HEIGHT_MAX }
    }
}

/// An expression that was added.
pub(super) struct PushedExpression {
    pub(super) id: ExprId,
    /// Whether it is the first one on its path that is too high.
    pub(super) is_too_high: bool,
}

/// The slots of a definition.
#[derive(Default)]
pub(super) struct Frame {
    slots: HashMap<LocalId, Slot>,
    /// The local name of each slot.
    locals: Vec<LocalId>,
}

impl Frame {
    /// Gives a local name a slot of its own.
    pub(super) fn bind(&mut self, local: LocalId) -> Slot {
        let slot = Slot(self.locals.len() as u32);
        self.locals.push(local);
        self.slots.insert(local, slot);
        slot
    }

    pub(super) fn slot(&self, local: LocalId) -> Option<Slot> {
        self.slots.get(&local).copied()
    }

    /// Returns the local name of each slot.
    pub(super) fn locals(&self) -> &[LocalId] {
        &self.locals
    }
}
