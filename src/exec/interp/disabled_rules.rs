//! Why none of the actions of no process leads on from a state: which part of each guard does not hold there.

use super::Interp;
use super::frames::LocalEnv;
use super::step_sink::StepAction;
use crate::ir::walk::{self, CodeVisitor, PlaceAccess};
use crate::ir::{Action, BinaryOp, Expr, ExprKind, Place, PlaceRoot};
use crate::model::{DisabledRuleInstance, UnmetCondition};
use std::ops::ControlFlow;

/// Of so many instances of an action it is looked why.
const INSTANCES_MAX: usize = 200;

/// Among so many it is looked for them.
const TRIED_MAX: usize = 20_000;

impl Interp {
    /// The instances of the actions of no process, in a state from which none leads on.
    pub(super) fn disabled_in(&self, state: &[u8]) -> Vec<DisabledRuleInstance> {
        let mut found = Vec::new();
        for &id in &self.free {
            let action = &self.program.actions[id];
            let locals = LocalEnv::new(&self.layout.frames.actions[id]);
            let (most, mut tried) = (found.len() + INSTANCES_MAX, 0);
            let _ = self.bindings_until(&action.parameters, &locals, &mut |locals| {
                if let Some(lacks) = self.lacks_of(action, state, locals) {
                    found.push(DisabledRuleInstance {
                        name: action.name.clone(),
                        parameters: self.parameters_of(&StepAction::new(id, locals)),
                        span: action.span,
                        unmet: lacks,
                    });
                }
                tried += 1;
                match found.len() < most && tried < TRIED_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
        }
        found
    }

    /// The parts of an action's guard that do not hold; nothing where its parameters alone rule it out, whatever the state.
    fn lacks_of(
        &self,
        action: &Action,
        state: &[u8],
        locals: &LocalEnv,
    ) -> Option<Vec<UnmetCondition>> {
        let mut parts = Vec::new();
        action.guard.iter().for_each(|it| conjuncts(it, &mut parts));
        let mut lacks = Vec::new();
        for part in parts {
            match self.eval(part, state, locals) {
                Ok(0) if !depends_on_state(part) => return None,
                Ok(0) => {
                    let operands = self.operands_of_condition_with(part, state, locals);
                    lacks.push(UnmetCondition { condition: part.span, operands });
                }
                Ok(_) => {}
                // It is asked only where what stands before it holds.
                Err(_) => break,
            }
        }
        Some(lacks)
    }
}

/// Whether the value of a condition is a matter of the state, and not of parameters alone.
fn depends_on_state(condition: &Expr) -> bool {
    struct StateReadFinder(bool);
    impl CodeVisitor for StateReadFinder {
        fn expr(&mut self, expr: &Expr) {
            // Numbers and parameters, and what is computed of these.
            self.0 |= !matches!(
                expr.kind,
                ExprKind::Constant(_)
                    | ExprKind::Local(_)
                    | ExprKind::Read(_)
                    | ExprKind::Unary(..)
                    | ExprKind::Binary(..)
                    | ExprKind::Same(..)
                    | ExprKind::Conditional(..)
            );
            walk::expr(self, expr);
        }

        fn place(&mut self, place: &Place, _: PlaceAccess) {
            self.0 |= matches!(place.root, PlaceRoot::Variable(_));
            walk::place(self, place);
        }
    }
    let mut looks = StateReadFinder(false);
    looks.expr(condition);
    looks.0
}

/// What has to hold for a condition to hold, part by part.
fn conjuncts<'e>(condition: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            conjuncts(left, parts);
            conjuncts(right, parts);
        }
        _ => parts.push(condition),
    }
}
