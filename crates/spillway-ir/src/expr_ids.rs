//! Numbers of a program's expressions, and dense tables by these numbers.
//!
//! An expression is a node of a tree, so it has no identity of its own. [`Program::number_exprs`] numbers the
//! expressions of a finished or rewritten program, from 0 on without gaps. An analysis stores its results for
//! expressions in an [`ExprMap`]. Copies of an expression keep its number until the program is numbered again. So a
//! table belongs to one program and must not be used after a rewriting.

use super::walk_mut::{self, CodeMutator};
use super::{Entity, Expr, ExprId, ExprKind, Program};

impl Program {
    /// Numbers all expressions, from 0 on.
    pub fn number_exprs(&mut self) {
        walk_mut::program(&mut ExprNumbering { next: 0 }, self);
    }
}

/// A visitor that numbers expressions.
struct ExprNumbering {
    next: usize,
}

impl CodeMutator for ExprNumbering {
    /// Long chains of operations lean to the left, so the visitor follows left operands without recursion.
    fn expr(&mut self, mut expr: &mut Expr) {
        loop {
            expr.id = ExprId::from_index(self.next);
            self.next += 1;
            if !matches!(expr.kind, ExprKind::Binary(..)) {
                return walk_mut::expr(self, expr);
            }
            let ExprKind::Binary(_, left, right) = &mut expr.kind else {
                unreachable!("others have returned");
            };
            self.expr(right);
            expr = left;
        }
    }
}

/// A dense table with entries for some of a program's expressions.
#[derive(Clone, Debug)]
pub struct ExprMap<T> {
    /// The entries, by number.
    entries: Vec<Option<T>>,
}

impl<T> ExprMap<T> {
    /// Creates an empty table.
    pub fn new() -> ExprMap<T> {
        ExprMap { entries: Vec::new() }
    }

    /// Returns the entry of an expression, if it has one.
    pub fn get(&self, expr: &Expr) -> Option<&T> {
        self.entries.get(expr.id.index())?.as_ref()
    }

    /// Returns the entry of an expression. Inserts `entry` if there is none.
    ///
    /// # Panics
    /// If the expression is not numbered.
    pub fn get_or_insert(&mut self, expr: &Expr, entry: T) -> &mut T {
        assert_ne!(expr.id, ExprId::UNNUMBERED, "tables are about expressions of a program");
        let index = expr.id.index();
        if self.entries.len() <= index {
            self.entries.resize_with(index + 1, || None);
        }
        self.entries[index].get_or_insert(entry)
    }
}

impl<T> Default for ExprMap<T> {
    fn default() -> Self {
        ExprMap::new()
    }
}
