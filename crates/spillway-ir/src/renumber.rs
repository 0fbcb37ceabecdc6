//! Renumbering of code. A copy of a function has its own number, and joined expressions need different locals,
//! because each local is bound once.

use super::walk_mut::{self, CodeMutator};
use super::{Expr, FunctionId, LocalId, Stmt, StmtKind};

/// Replaces the functions that statements call, at any depth.
pub fn functions(body: &mut [Stmt], by: &dyn Fn(FunctionId) -> FunctionId) {
    walk_mut::body(&mut Renumbering { functions: by, locals: &|it| it }, body);
}

/// Replaces the locals of an expression, where they are bound and where they are used.
pub fn locals(of: &mut Expr, by: &dyn Fn(LocalId) -> LocalId) {
    Renumbering { functions: &|it| it, locals: by }.expr(of);
}

/// Removes the statements, at any depth, that call a function.
pub fn without_calls(body: &mut Vec<Stmt>, called: FunctionId) {
    body.retain(|it| !matches!(&it.kind, StmtKind::Call { function, .. } if *function == called));
    for stmt in body {
        walk_mut::bodies(&mut stmt.kind, &mut |inner| without_calls(inner, called));
    }
}

/// The new numbers.
struct Renumbering<'n> {
    functions: &'n dyn Fn(FunctionId) -> FunctionId,
    locals: &'n dyn Fn(LocalId) -> LocalId,
}

impl CodeMutator for Renumbering<'_> {
    fn function(&mut self, function: &mut FunctionId) {
        *function = (self.functions)(*function);
    }

    fn local(&mut self, local: &mut LocalId) {
        *local = (self.locals)(*local);
    }
}
