//! Unrolling of recursive functions.
//!
//! The functions of a program are not recursive: each has one frame for its variables. So a recursive function is
//! lowered to a chain of copies, one for each depth of the recursion; each copy calls the next. A call at the end of
//! the chain is a run-time error, like too many rounds of a `while`. The functions outlined from its expressions are
//! copied with it.
//!
//! A procedure whose only effect is to print may call itself to print more. Printing does not affect a search, so such
//! calls are dropped.

use super::{FunctionSignature, MurphiLowering};
use spillway_ir::{Entity, Expr, Function, FunctionId, Stmt, StmtKind, renumber, walk};
use std::ops::Range;

/// The maximum depth of recursion: executors recurse on their own stack.
pub(super) const RECURSION_MAX: usize = 60;

/// The depth from which analyses treat copies as a whole. They do not follow known arguments through all copies.
const FOLLOWED_MAX: usize = 2;

impl MurphiLowering<'_, '_> {
    /// Replaces the recursive calls of a function by calls of copies, also in the functions generated while its body
    /// was lowered.
    pub(super) fn unroll_recursion(&mut self, info: &mut FunctionSignature, inner: Range<usize>) {
        let own = info.id;
        if info.only_prints {
            renumber::without_calls(&mut self.program.functions[own].body, own);
            return;
        }
        let parts: Vec<FunctionId> =
            std::iter::once(own).chain(inner.map(FunctionId::from_index)).collect();
        let originals: Vec<Function> =
            parts.iter().map(|&it| self.program.functions[it].clone()).collect();
        // The copies of each depth are adjacent, after all functions.
        let behind = self.program.functions.len();
        let copy = |depth: usize, id: FunctionId| match parts.iter().position(|&it| it == id) {
            None => id,
            Some(part) if depth == 0 => parts[part],
            Some(part) => FunctionId::from_index(behind + (depth - 1) * parts.len() + part),
        };
        for depth in 0..RECURSION_MAX {
            for (&id, original) in parts.iter().zip(&originals) {
                let mut function = original.clone();
                let called = |callee: FunctionId| copy(depth + usize::from(callee == own), callee);
                renumber::functions(&mut function.body, &called);
                function.whole |= depth >= FOLLOWED_MAX;
                match depth {
                    0 => self.program.functions[id] = function,
                    _ => drop(self.add_function(function)),
                }
            }
        }
        // The last copy calls nothing, so its generated functions are not copied.
        let last = &originals[0];
        self.add_function(Function { body: too_deep(last), whole: true, ..last.clone() });
        info.depth += RECURSION_MAX;
        info.weight = info.weight.saturating_mul(1 + RECURSION_MAX as u64);
        let variables = self.sizes_of_frames(&originals);
        self.locals = self.locals.saturating_add(variables.saturating_mul(RECURSION_MAX as u64));
    }

    /// Returns the number of scalars in the parameters by value and variables of functions.
    fn sizes_of_frames(&self, functions: &[Function]) -> u64 {
        let mut all = 0u64;
        for function in functions {
            let given = function.parameters.iter().filter(|it| !it.by_reference);
            given.for_each(|it| all += self.sizes[it.ty.0 as usize]);
            let mut add = |kind: &StmtKind| {
                if let StmtKind::Declare { ty, .. } = kind {
                    all = all.saturating_add(self.sizes[ty.0 as usize]);
                }
            };
            each_stmt(&function.body, &mut add);
        }
        all
    }

    /// Returns whether the only effect of a body is to print, so that it need not run.
    pub(super) fn only_prints(&self, body: &[Stmt], own: FunctionId) -> bool {
        !walk::any_stmt(body, &|kind| match kind {
            StmtKind::Error(_)
            | StmtKind::Assert { .. }
            | StmtKind::Assume(_)
            | StmtKind::Cover { .. }
            | StmtKind::While { .. } => true,
            StmtKind::Call { function, .. } if *function != own => {
                !self.functions.iter().any(|it| it.id == *function && it.only_prints)
            }
            _ => false,
        })
    }
}

/// Returns the body of the last copy.
fn too_deep(function: &Function) -> Vec<Stmt> {
    let message =
        format!("{} is called more than {RECURSION_MAX} times within itself", function.name);
    let span = function.span;
    let mut body = vec![Stmt { kind: StmtKind::Error(message), span }];
    // Every path through a function with a result must return one.
    if function.result.is_some() {
        let kind = StmtKind::Return(Some(Expr::new(spillway_ir::ExprKind::Undefined, span)));
        body.push(Stmt { kind, span });
    }
    body
}

fn each_stmt(body: &[Stmt], visit: &mut dyn FnMut(&StmtKind)) {
    for stmt in body {
        visit(&stmt.kind);
        stmt.kind.bodies().for_each(|inner| each_stmt(inner, visit));
    }
}
