//! Facts about expressions that compilation needs: free slots, purity, the size of the frame, functions that are applied
//! lazily.

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
    /// Whether it or an operand binds names.
    binds: Vec<bool>,
    /// How many arguments its value takes before the body of a function constructor is evaluated.
    constructor_depths: Vec<u8>,
}

impl Facts {
    /// Computes the facts of every expression.
    pub fn of(specification: &Specification) -> Self {
        Self {
            free: free_slots(&specification.expressions),
            is_pure: purity(specification),
            frame: frames(specification),
            reads: reads(specification),
            binds: binders(specification),
            constructor_depths: constructor_depths(specification),
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

    /// Returns whether the expression or an operand binds names.
    pub fn binds(&self, id: ExprId) -> bool {
        self.binds[id.index()]
    }

    /// Returns the constructor depth of each expression. This is the number of arguments that the value takes before the
    /// body of a function constructor is evaluated. It is 1 for `[x \in S |-> x]`, and for an expression that selects,
    /// names or changes such a value. It is 0 for other expressions.
    pub fn into_constructor_depths(self) -> Vec<u8> {
        self.constructor_depths
    }

    /// Returns the number of slots of the frame of the expression.
    pub fn frame(&self, id: ExprId) -> u32 {
        self.frame[id.index()]
    }
}

/// The bit for all variables with indices beyond those of the other bits.
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

fn binders(specification: &Specification) -> Vec<bool> {
    let mut binders: Vec<bool> = Vec::with_capacity(specification.expressions.len());
    for expr in &specification.expressions {
        let mut binds = !expr.kind.bound_slots().is_empty();
        expr.kind.for_each_operand(&mut |it| binds |= binders[it.index()]);
        binders.push(binds);
    }
    binders
}

/// Constructors that are nested more deeply are evaluated as values.
const CONSTRUCTOR_DEPTH_MAX: u8 = 8;

fn constructor_depths(specification: &Specification) -> Vec<u8> {
    let mut definitions = vec![0; specification.definitions.len()];
    loop {
        let mut depths: Vec<u8> = Vec::with_capacity(specification.expressions.len());
        for expr in &specification.expressions {
            depths.push(constructor_depth(&expr.kind, &depths, &definitions));
        }
        let next: Vec<u8> =
            specification.definitions.iter().map(|it| depths[it.body.index()]).collect();
        if next == definitions {
            return depths;
        }
        definitions = next;
    }
}

/// Returns the depth of an expression from those of its operands and of the definitions. A recursive function is a value
/// that is evaluated where it is applied.
fn constructor_depth(kind: &ExprKind, depths: &[u8], definitions: &[u8]) -> u8 {
    let of = |id: &ExprId| depths[id.index()];
    match kind {
        ExprKind::Function { body, itself: None, .. } => (of(body) + 1).min(CONSTRUCTOR_DEPTH_MAX),
        ExprKind::Apply { definition, .. } => definitions[definition.index()],
        ExprKind::Let { body, .. } => of(body),
        ExprKind::If { yes, no, .. } => of(yes).max(of(no)),
        ExprKind::Case { arms, other } => {
            arms.iter().map(|it| of(&it.value)).chain(other.iter().map(of)).max().unwrap_or(0)
        }
        ExprKind::Except { function, .. } => of(function),
        ExprKind::Unary { operator: UnaryOperator::Prime, operand } => of(operand),
        ExprKind::ApplyFunction { function, .. } => of(function).saturating_sub(1),
        _ => 0,
    }
}
