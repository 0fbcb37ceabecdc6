//! Facts about expressions that compilation needs: free slots, purity, the size of the frame.

use crate::resolve::ids::{DefinitionId, ExprId, Slot};
use crate::resolve::tree::{
    Argument, Bound, ExceptStep, ExprKind, OperatorValue, Pattern, Specification, StandardOperator,
};

/// Facts about every expression, by its index.
pub(super) struct Facts {
    /// The slots that it uses and does not bind, sorted.
    free: Vec<Vec<Slot>>,
    /// Whether its value depends on nothing but variables and slots, and its evaluation has no effect.
    is_pure: Vec<bool>,
    /// The number of slots of the frame in which it is evaluated.
    frame: Vec<u32>,
}

/// What an expression refers to.
enum Reference {
    /// An operand.
    Operand(ExprId),
    /// A slot that it uses itself.
    Slot(Slot),
    /// A definition that it calls.
    Definition(DefinitionId),
    /// A standard operator that it calls.
    Standard(StandardOperator),
    /// A slot that it binds. No slot has two binders, so the scope does not matter.
    Binder(Slot),
}

impl Facts {
    /// Computes the facts of every expression.
    pub fn of(specification: &Specification) -> Self {
        Self {
            free: free_slots(specification),
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

fn free_slots(specification: &Specification) -> Vec<Vec<Slot>> {
    let mut free: Vec<Vec<Slot>> = Vec::with_capacity(specification.expressions.len());
    for expr in &specification.expressions {
        let (mut used, mut bound) = (Vec::new(), Vec::new());
        references(&expr.kind, &mut |it| match it {
            Reference::Operand(id) => used.extend(&free[id.index()]),
            Reference::Slot(slot) => used.push(slot),
            Reference::Binder(slot) => bound.push(slot),
            Reference::Definition(_) | Reference::Standard(_) => {}
        });
        used.sort_unstable();
        used.dedup();
        used.retain(|it| !bound.contains(it));
        free.push(used);
    }
    free
}

fn purity(specification: &Specification) -> Vec<bool> {
    let mut definitions = vec![true; specification.definitions.len()];
    loop {
        let mut expressions: Vec<bool> = Vec::with_capacity(specification.expressions.len());
        for expr in &specification.expressions {
            let mut is_pure = true;
            references(&expr.kind, &mut |it| {
                is_pure &= match it {
                    Reference::Operand(id) => expressions[id.index()],
                    Reference::Definition(id) => definitions[id.index()],
                    Reference::Standard(it) => it.is_pure(),
                    Reference::Slot(_) | Reference::Binder(_) => true,
                }
            });
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
            references(&specification[id].kind, &mut |it| {
                if let Reference::Operand(id) = it {
                    open.push(id);
                }
            });
        }
    }
    frames
}

fn references(kind: &ExprKind, visit: &mut dyn FnMut(Reference)) {
    match kind {
        ExprKind::Local(slot) => visit(Reference::Slot(*slot)),
        ExprKind::Apply { definition, arguments } => {
            visit(Reference::Definition(*definition));
            visit_arguments(arguments, visit);
        }
        ExprKind::ApplyLocal { operator, arguments } => {
            visit(Reference::Slot(*operator));
            visit_arguments(arguments, visit);
        }
        ExprKind::Standard { operator, arguments } => {
            visit(Reference::Standard(*operator));
            visit_arguments(arguments, visit);
        }
        ExprKind::Undefined { arguments, .. } => visit_arguments(arguments, visit),
        ExprKind::Let { bindings, body } => {
            for it in bindings {
                visit(Reference::Binder(it.slot));
                visit(Reference::Operand(it.value));
            }
            visit(Reference::Operand(*body));
        }
        ExprKind::Quantified { bounds, body, .. } | ExprKind::SetMap { bounds, body } => {
            visit_bounds(bounds, visit);
            visit(Reference::Operand(*body));
        }
        ExprKind::Function { bounds, body, itself } => {
            visit_bounds(bounds, visit);
            if let Some(slot) = itself {
                visit(Reference::Binder(*slot));
            }
            visit(Reference::Operand(*body));
        }
        ExprKind::SetFilter { bound, body } => {
            visit_bounds(std::slice::from_ref(bound), visit);
            visit(Reference::Operand(*body));
        }
        ExprKind::Choose { pattern, set, body } => {
            visit_pattern(pattern, visit);
            set.iter().for_each(|it| visit(Reference::Operand(*it)));
            visit(Reference::Operand(*body));
        }
        ExprKind::Unbounded { slots, body, .. } => {
            slots.iter().for_each(|it| visit(Reference::Binder(*it)));
            visit(Reference::Operand(*body));
        }
        ExprKind::Except { function, updates } => {
            visit(Reference::Operand(*function));
            for update in updates {
                update.old.iter().for_each(|it| visit(Reference::Binder(*it)));
                for step in &update.path {
                    if let ExceptStep::Index(it) = step {
                        visit(Reference::Operand(*it));
                    }
                }
                visit(Reference::Operand(update.value));
            }
        }
        other => visit_operands(other, visit),
    }
}

/// Visits the operands of an expression that has nothing but operands.
fn visit_operands(kind: &ExprKind, visit: &mut dyn FnMut(Reference)) {
    let mut visit = |it: &ExprId| visit(Reference::Operand(*it));
    match kind {
        ExprKind::Unary { operand: it, .. } => visit(it),
        ExprKind::Binary { left: one, right: two, .. }
        | ExprKind::FunctionSet { domain: one, range: two }
        | ExprKind::ApplyFunction { function: one, argument: two }
        | ExprKind::BoxAction { action: one, subscript: two }
        | ExprKind::AngleAction { action: one, subscript: two }
        | ExprKind::WeakFairness { action: one, subscript: two }
        | ExprKind::StrongFairness { action: one, subscript: two } => {
            visit(one);
            visit(two);
        }
        ExprKind::And(all)
        | ExprKind::Or(all)
        | ExprKind::SetLiteral(all)
        | ExprKind::Tuple(all)
        | ExprKind::Product(all) => all.iter().for_each(visit),
        ExprKind::If { condition, yes, no } => [condition, yes, no].into_iter().for_each(visit),
        ExprKind::Case { arms, other } => {
            for arm in arms {
                visit(&arm.guard);
                visit(&arm.value);
            }
            other.iter().for_each(visit);
        }
        ExprKind::Field { record: it, .. } | ExprKind::TemporalQuantified { body: it, .. } => {
            visit(it);
        }
        ExprKind::Record(fields) | ExprKind::RecordSet(fields) => {
            fields.iter().for_each(|it| visit(&it.value));
        }
        _ => {}
    }
}

fn visit_bounds(bounds: &[Bound], visit: &mut dyn FnMut(Reference)) {
    for bound in bounds {
        visit_pattern(&bound.pattern, visit);
        visit(Reference::Operand(bound.set));
    }
}

fn visit_pattern(pattern: &Pattern, visit: &mut dyn FnMut(Reference)) {
    match pattern {
        Pattern::Single(slot) => visit(Reference::Binder(*slot)),
        Pattern::Tuple(slots) => slots.iter().for_each(|it| visit(Reference::Binder(*it))),
    }
}

fn visit_arguments(arguments: &[Argument], visit: &mut dyn FnMut(Reference)) {
    for argument in arguments {
        match argument {
            Argument::Expression(it) => visit(Reference::Operand(*it)),
            Argument::Operator(OperatorValue::Definition { definition, captured }) => {
                visit(Reference::Definition(*definition));
                visit_arguments(captured, visit);
            }
            Argument::Operator(OperatorValue::Local(slot)) => visit(Reference::Slot(*slot)),
            Argument::Operator(OperatorValue::Standard(it)) => visit(Reference::Standard(*it)),
            Argument::Operator(_) => {}
        }
    }
}
