//! Functions that call themselves, which become several.
//!
//! A program's functions do not call themselves: each has one frame for its variables. So a function
//! that does is lowered to a chain of copies, one for each depth of the recursion, and each copy calls
//! the next. A call at the end of the chain is a run-time error, as are too many rounds of a `while`.
//! What an expression of the function was enclosed in (see `enclosed`) is copied with it.
//!
//! A procedure that does nothing but print calls itself to print more. Prints have no effect on a
//! search, so such calls are left out.

use super::{FunctionSignature, MurphiLowering};
use crate::ir::{Entity, Expr, Function, FunctionId, Stmt, StmtKind, renumber, walk};
use std::ops::Range;

/// A function calls itself fewer times than this in a row: whatever runs a model keeps each call on its own stack.
pub(super) const RECURSION_MAX: usize = 60;

/// Copies from this depth on are taken as a whole by analyses: what is known of the arguments is not
/// followed through all of them.
const FOLLOWED_MAX: usize = 2;

impl MurphiLowering<'_, '_> {
    /// Makes a function, with those made while its body was lowered, call copies instead of itself.
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
        // The copies of each depth lie side by side, behind all functions.
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
        // The last one is alone: it calls nothing.
        let last = &originals[0];
        self.add_function(Function { body: too_deep(last), whole: true, ..last.clone() });
        info.depth += RECURSION_MAX;
        info.weight = info.weight.saturating_mul(1 + RECURSION_MAX as u64);
        let variables = self.sizes_of_frames(&originals);
        self.locals = self.locals.saturating_add(variables.saturating_mul(RECURSION_MAX as u64));
    }

    /// The scalars of what functions are given by value, and of their variables.
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

    /// Whether a body does nothing but print, and so need not run.
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

/// What the last copy does.
fn too_deep(function: &Function) -> Vec<Stmt> {
    let message =
        format!("{} is called more than {RECURSION_MAX} times within itself", function.name);
    let span = function.span;
    let mut body = vec![Stmt { kind: StmtKind::Error(message), span }];
    // Every way through a function with a result gives one.
    if function.result.is_some() {
        let kind = StmtKind::Return(Some(Expr::new(crate::ir::ExprKind::Undefined, span)));
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
