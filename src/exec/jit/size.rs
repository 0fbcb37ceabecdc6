//! How much code something becomes: its statements and expressions, those of the functions that it
//! calls counted at each call, since they are emitted there.

use crate::ir::walk::{self, Visitor};
use crate::ir::{Action, Entity, Expr, ExprKind, FunctionId, Program, Stmt, StmtKind};
use std::cell::RefCell;

/// The sizes of a program's functions, each found when it is first asked for.
pub(super) struct Sizes {
    functions: RefCell<Vec<Option<u64>>>,
}

impl Sizes {
    pub fn new(program: &Program) -> Sizes {
        Sizes { functions: RefCell::new(vec![None; program.functions.len()]) }
    }

    /// Of guard, communication and body.
    pub fn action(&self, program: &Program, action: &Action) -> u64 {
        self.of(program, |count| walk::action(count, action))
    }

    /// Of statements.
    pub fn body(&self, program: &Program, body: &[Stmt]) -> u64 {
        self.of(program, |count| walk::body(count, body))
    }

    /// Of an expression.
    pub fn expr(&self, program: &Program, expr: &Expr) -> u64 {
        self.of(program, |count| count.expr(expr))
    }

    fn of(&self, program: &Program, visit: impl FnOnce(&mut Count)) -> u64 {
        let mut count = Count { sizes: self, program, parts: 0 };
        visit(&mut count);
        count.parts
    }

    fn function(&self, program: &Program, id: FunctionId) -> u64 {
        let known = self.functions.borrow()[id.index()];
        known.unwrap_or_else(|| {
            let size = self.body(program, &program.functions[id].body);
            self.functions.borrow_mut()[id.index()] = Some(size);
            size
        })
    }
}

struct Count<'a> {
    sizes: &'a Sizes,
    program: &'a Program,
    parts: u64,
}

impl Count<'_> {
    fn add(&mut self, parts: u64) {
        self.parts = self.parts.saturating_add(parts);
    }
}

impl Visitor for Count<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.add(1);
        if let StmtKind::Call { function, .. } = &stmt.kind {
            self.add(self.sizes.function(self.program, *function));
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        self.add(1);
        if let ExprKind::Call(function, _) = &expr.kind {
            self.add(self.sizes.function(self.program, *function));
        }
        walk::expr(self, expr);
    }
}
