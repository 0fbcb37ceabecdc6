//! Facts about expressions that compilation needs: free slots, purity, the size of the frame.

use crate::resolve::ids::{ExprId, Slot};
use crate::resolve::operands::free_slots;
use crate::resolve::tree::Specification;

/// Facts about every expression, by its index.
pub(super) struct Facts {
    /// The slots that it uses and does not bind, sorted.
    free: Vec<Vec<Slot>>,
    /// Whether its value depends on nothing but variables and slots, and its evaluation has no effect.
    is_pure: Vec<bool>,
    /// The number of slots of the frame in which it is evaluated.
    frame: Vec<u32>,
}

impl Facts {
    /// Computes the facts of every expression.
    pub fn of(specification: &Specification) -> Self {
        Self {
            free: free_slots(&specification.expressions),
            is_pure: purity(specification),
            frame: frames(specification),
        }
    }

    /// Returns the slots that the expression uses and does not bind.
    pub fn free(&self, id: ExprId) -> &[Slot] {
        &self.free[id.index()]
    }

    /// Returns whether the expression may be evaluated once only.
    pub fn is_pure(&self, id: ExprId) -> bool {
        self.is_pure[id.index()]
    }

    /// Returns the number of slots of the frame of the expression.
    pub fn frame(&self, id: ExprId) -> u32 {
        self.frame[id.index()]
    }
}

fn purity(specification: &Specification) -> Vec<bool> {
    let mut definitions = vec![true; specification.definitions.len()];
    loop {
        let mut expressions: Vec<bool> = Vec::with_capacity(specification.expressions.len());
        for expr in &specification.expressions {
            let mut is_pure = true;
            let kind = &expr.kind;
            kind.for_each_operand(&mut |it| is_pure &= expressions[it.index()]);
            kind.for_each_definition(&mut |it| is_pure &= definitions[it.index()]);
            kind.for_each_standard(&mut |it| is_pure &= it.is_pure());
            expressions.push(is_pure);
        }
        let next: Vec<bool> =
            specification.definitions.iter().map(|it| expressions[it.body.index()]).collect();
        if next == definitions {
            return expressions;
        }
        definitions = next;
    }
}

fn frames(specification: &Specification) -> Vec<u32> {
    let mut frames = vec![0; specification.expressions.len()];
    for definition in &specification.definitions {
        let mut open = vec![definition.body];
        while let Some(id) = open.pop() {
            frames[id.index()] = definition.slots;
            specification[id].kind.for_each_operand(&mut |it| open.push(it));
        }
    }
    frames
}
