//! Why no action without a process is enabled in a state: the conjuncts of each guard that fail.

use super::Interp;
use super::frames::LocalEnv;
use super::step_sink::StepAction;
use spillway_ir::walk::{self, CodeVisitor, PlaceAccess};
use spillway_ir::{Action, BinaryOp, Expr, ExprKind, Place, PlaceRoot};
use spillway_model::{DisabledRuleInstance, UnmetCondition};
use std::ops::ControlFlow;

/// The maximum number of disabled instances of an action that are explained.
const INSTANCES_MAX: usize = 200;

/// The maximum number of instances that are tried.
const TRIED_MAX: usize = 20_000;

impl Interp {
    /// Returns the instances of actions without a process, in a state in which none of them is enabled.
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

    /// Returns the conjuncts of an action's guard that fail; nothing if the parameters alone rule the action out in
    /// every state.
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
                // A conjunct is evaluated only if the previous ones hold.
                Err(_) => break,
            }
        }
        Some(lacks)
    }
}

/// Returns whether the value of a condition depends on the state, not only on parameters.
fn depends_on_state(condition: &Expr) -> bool {
    struct StateReadFinder(bool);
    impl CodeVisitor for StateReadFinder {
        fn expr(&mut self, expr: &Expr) {
            // Numbers, parameters, and expressions of these.
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

/// Splits a condition into its conjuncts.
fn conjuncts<'e>(condition: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            conjuncts(left, parts);
            conjuncts(right, parts);
        }
        _ => parts.push(condition),
    }
}
