//! Facts about expressions that compilation needs: free slots, purity, the size of the frame.

use super::state_memo::VariableList;
use crate::resolve::ids::{ExprId, Slot};
use crate::resolve::operands::free_slots;
use crate::resolve::tree::{ExprKind, Specification, UnaryOperator};

/// Facts about every expression, by its index.
pub(super) struct Facts {
    /// The slots that it uses and does not bind, sorted.
    free: Vec<Vec<Slot>>,
    /// Whether its value depends on nothing but variables and slots, and its evaluation has no effect.
    is_pure: Vec<bool>,
    /// The number of slots of the frame in which it is evaluated.
    frame: Vec<u32>,
    /// The variables that it reads, or that a definition reads that it uses: a bit for each.
    reads: Vec<u128>,
}

impl Facts {
    /// Computes the facts of every expression.
    pub fn of(specification: &Specification) -> Self {
        Self {
            free: free_slots(&specification.expressions),
            is_pure: purity(specification),
            frame: frames(specification),
            reads: reads(specification),
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

    /// Returns the variables that the expression reads, or nothing if it reads one of a great index.
    pub fn reads(&self, id: ExprId) -> Option<VariableList> {
        let reads = self.reads[id.index()];
        let is_known = reads & OTHER_VARIABLES == 0;
        is_known.then(|| (0..u128::BITS).filter(|it| reads >> it & 1 == 1).collect())
    }

    /// Returns the number of slots of the frame of the expression.
    pub fn frame(&self, id: ExprId) -> u32 {
        self.frame[id.index()]
    }
}

/// The bit that stands for all variables of greater indices than the other bits.
const OTHER_VARIABLES: u128 = 1 << (u128::BITS - 1);

fn reads(specification: &Specification) -> Vec<u128> {
    let mut definitions = vec![0; specification.definitions.len()];
    loop {
        let mut expressions: Vec<u128> = Vec::with_capacity(specification.expressions.len());
        for expr in &specification.expressions {
            let mut reads = match expr.kind {
                ExprKind::Variable(it) => 1_u128.checked_shl(it.0).unwrap_or(OTHER_VARIABLES),
                _ => 0,
            };
            expr.kind.for_each_operand(&mut |it| reads |= expressions[it.index()]);
            expr.kind.for_each_definition(&mut |it| reads |= definitions[it.index()]);
            expressions.push(reads);
        }
        let next: Vec<u128> =
            specification.definitions.iter().map(|it| expressions[it.body.index()]).collect();
        if next == definitions {
            return expressions;
        }
        definitions = next;
    }
}

fn purity(specification: &Specification) -> Vec<bool> {
    let mut definitions = vec![true; specification.definitions.len()];
    loop {
        let mut expressions: Vec<bool> = Vec::with_capacity(specification.expressions.len());
        for expr in &specification.expressions {
            // ENABLED is refused in a successor, so its value in a state cannot serve there.
            let mut is_pure =
                !matches!(expr.kind, ExprKind::Unary { operator: UnaryOperator::Enabled, .. });
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
