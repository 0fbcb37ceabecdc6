//! Constraints. A state in which a constraint does not hold is visited and checked, but not expanded.
//!
//! A constraint is part of the guard of each action. So every analysis of the program takes it into account: an action
//! depends on what changes the constraint, and no reduction removes a variable that it reads. The property
//! [`PropertyKind::Constraint`] says in addition that states outside of it are no deadlocks.

use super::walk_mut::{self, CodeMutator};
use super::{
    Action, BinaryOp, Expr, ExprKind, LocalId, Program, ProgramProperty, PropertyKind, renumber,
};

impl Program {
    /// Adds a property. If it is a constraint, the guard of each action contains it from now on.
    pub fn add_property(&mut self, property: ProgramProperty) {
        if let PropertyKind::Constraint(condition) = &property.kind {
            self.actions.values_mut().for_each(|it| constrain(it, condition));
        }
        self.properties.push(property);
    }

    /// Returns whether a constraint bounds the search.
    pub fn has_constraint(&self) -> bool {
        self.properties.values().any(|it| matches!(it.kind, PropertyKind::Constraint(_)))
    }
}

/// Adds a condition to the guard of an action. It is evaluated first.
fn constrain(action: &mut Action, condition: &Expr) {
    let mut end = LocalsEnd(0);
    walk_mut::action(&mut end, action);
    let parameters = action.parameters.iter().map(|it| it.local.0 + 1).max().unwrap_or(0);
    let from = end.0.max(parameters);
    let mut condition = condition.clone();
    renumber::locals(&mut condition, &|LocalId(number)| LocalId(from + number));
    action.guard = Some(match action.guard.take() {
        None => condition,
        Some(guard) => {
            let span = guard.span;
            let kind = ExprKind::Binary(BinaryOp::And, Box::new(condition), Box::new(guard));
            Expr::new(kind, span)
        }
    });
}

/// The number after those of all locals.
struct LocalsEnd(u32);

impl CodeMutator for LocalsEnd {
    fn local(&mut self, local: &mut LocalId) {
        self.0 = self.0.max(local.0 + 1);
    }
}
