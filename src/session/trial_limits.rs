//! Whether a program is small enough for a trial of reductions, and why a trial ends without a result.

use super::ExecutableProgram;
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{Expr, Program, Stmt};
use crate::numbers::grouped;
use crate::reduce::NotApplied;

/// The maximum number of action instances for which partial order is tried.
const INSTANCES_MAX: u32 = 2048;

/// The maximum number of statements and expressions in actions, and in functions, whose bodies are analysed at each
/// call. In larger programs the analysis of accesses takes too long.
const NODES_MAX: [usize; 2] = [20_000, 500];

/// Returns an error for programs whose analysis for partial order takes too long.
pub(super) fn reject_large(runs: &ExecutableProgram) -> Result<(), NotApplied> {
    let instances = runs.executor.selective()?.instances().count();
    if instances > INSTANCES_MAX {
        return Err(NotApplied::ManyInstances(instances));
    }
    let is_large =
        nodes(runs.form.interp().program()).iter().zip(NODES_MAX).any(|(&it, most)| it > most);
    match is_large {
        true => Err(NotApplied::LargeProgram),
        false => Ok(()),
    }
}

/// Returns the reason for not trying reductions on all states of a model.
pub(super) fn few_states(states: usize) -> NotApplied {
    NotApplied::FewStates(match states {
        1 => "there is only one state".into(),
        states => format!("there are only {} states", grouped(states as u64)),
    })
}

/// Converts a failed trial to a reason for not using a reduction.
pub(super) fn failure_reason(error: spill::Error) -> NotApplied {
    NotApplied::TrialFailed(error.to_string())
}

/// Returns the numbers of statements and expressions in the actions and in the functions of a program.
fn nodes(program: &Program) -> [usize; 2] {
    struct NodeCounter(usize);
    impl CodeVisitor for NodeCounter {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 += 1;
            walk::stmt(self, stmt);
        }

        fn expr(&mut self, expr: &Expr) {
            self.0 += 1;
            walk::expr(self, expr);
        }
    }
    let (mut actions, mut functions) = (NodeCounter(0), NodeCounter(0));
    program.actions.values().for_each(|it| walk::action(&mut actions, it));
    program.functions.values().for_each(|it| walk::body(&mut functions, &it.body));
    [actions.0, functions.0]
}
