//! How much code something becomes: its statements and expressions, those of the functions that it
//! calls counted at each call, since they are emitted there.
//!
//! Where all actions together are large, functions that are called more than once are compiled by
//! themselves (see `outline`): a call of one counts as one part.

use super::native_support::all_receives_compiled;
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{Action, Arena, Entity, Expr, ExprKind, FunctionId, LocationId, ProcessId};
use crate::ir::{Program, Stmt, StmtKind, TurnRule};
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

/// Smaller functions are emitted where they are called in any case.
const OUTLINED_MIN: u64 = 40;

/// Larger ones are not even if they are called once, so that no piece of code is too large.
const INLINED_ONCE_MAX: u64 = 1000;

/// Loops over values of names are unrolled as long as all copies together have no more parts than this: beyond, compiling takes more
/// time and memory than most searches win.
pub(super) const UNROLLED_MAX: u64 = 3000;

/// The sizes of a program's functions, each found when it is first asked for.
pub(super) struct CodeSizes {
    functions: RefCell<Vec<Option<u64>>>,
    outlined: Arena<FunctionId, bool>,
    /// The locations that processes are at between steps.
    resting: HashSet<(ProcessId, LocationId)>,
    meetable: OnceCell<bool>,
}

impl CodeSizes {
    /// Functions are compiled by themselves if all actions have more parts than `inlined`; if that
    /// is 0, all that are called. In programs with channels none is: what goes wrong where a sender
    /// looks for its receiver is not told at once, but kept with the action it belongs to, which a
    /// function by itself does not know. No language has both channels and functions.
    pub fn new(program: &Program, inlined: u64) -> CodeSizes {
        let whole = CodeSizes::whole(program);
        let actions = program.actions.values().map(|action| whole.action(program, action));
        let is_small = actions.fold(0, u64::saturating_add) <= inlined;
        if is_small || !program.channels.is_empty() {
            return whole;
        }
        let calls = CallCounter::of(program);
        let outlined = program.functions.keys().map(|id| match calls[id.index()] {
            _ if program.functions[id].whole => true,
            0 => false,
            _ if inlined == 0 => true,
            1 => whole.function(program, id) > INLINED_ONCE_MAX,
            _ => whole.function(program, id) >= OUTLINED_MIN,
        });
        let outlined = outlined.collect();
        CodeSizes {
            functions: RefCell::new(vec![None; program.functions.len()]),
            outlined,
            ..whole
        }
    }

    /// As if all functions were emitted where they are called.
    pub fn whole(program: &Program) -> CodeSizes {
        let outlined = program.functions.values().map(|it| it.whole).collect();
        let starts = program.processes.iter().map(|(id, process)| (id, process.start));
        let ends = program.actions.values().filter(|it| it.control.turn == TurnRule::Open);
        let ends = ends.filter_map(|it| it.edge.map(|edge| (edge.process, edge.to)));
        let functions = RefCell::new(vec![None; program.functions.len()]);
        let resting = starts.chain(ends).collect();
        CodeSizes { functions, outlined, resting, meetable: OnceCell::new() }
    }

    /// Whether every receive is compiled with its sender, if that is.
    pub fn all_receives_compiled(&self, program: &Program) -> bool {
        *self.meetable.get_or_init(|| all_receives_compiled(program))
    }

    /// Whether a process can be at a location between steps, unless it is blocked within one.
    pub fn rests(&self, process: ProcessId, at: LocationId) -> bool {
        self.resting.contains(&(process, at))
    }

    /// Whether a function is compiled by itself.
    pub fn is_outlined(&self, id: FunctionId) -> bool {
        self.outlined[id]
    }

    /// Whether any is.
    pub fn any_outlined(&self) -> bool {
        self.outlined.values().any(|&outlined| outlined)
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

    /// Of the body of a function.
    pub fn function(&self, program: &Program, id: FunctionId) -> u64 {
        let known = self.functions.borrow()[id.index()];
        known.unwrap_or_else(|| {
            let size = self.body(program, &program.functions[id].body);
            self.functions.borrow_mut()[id.index()] = Some(size);
            size
        })
    }

    fn of(&self, program: &Program, visit: impl FnOnce(&mut SizeCounter)) -> u64 {
        let mut count = SizeCounter { sizes: self, program, parts: 0 };
        visit(&mut count);
        count.parts
    }
}

struct SizeCounter<'a> {
    sizes: &'a CodeSizes,
    program: &'a Program,
    parts: u64,
}

impl SizeCounter<'_> {
    fn add(&mut self, parts: u64) {
        self.parts = self.parts.saturating_add(parts);
    }

    fn call(&mut self, function: FunctionId) {
        if !self.sizes.is_outlined(function) {
            self.add(self.sizes.function(self.program, function));
        }
    }
}

impl CodeVisitor for SizeCounter<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        self.add(1);
        if let StmtKind::Call { function, .. } = &stmt.kind {
            self.call(*function);
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        self.add(1);
        if let ExprKind::Call(function, _) = &expr.kind {
            self.call(*function);
        }
        walk::expr(self, expr);
    }
}

/// Counts in how many places each function is called.
struct CallCounter(Vec<u64>);

impl CallCounter {
    fn of(program: &Program) -> Vec<u64> {
        let mut calls = CallCounter(vec![0; program.functions.len()]);
        program.actions.values().for_each(|action| walk::action(&mut calls, action));
        program.functions.values().for_each(|function| walk::body(&mut calls, &function.body));
        calls.0
    }
}

impl CodeVisitor for CallCounter {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Call { function, .. } = &stmt.kind {
            self.0[function.index()] += 1;
        }
        walk::stmt(self, stmt);
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Call(function, _) = &expr.kind {
            self.0[function.index()] += 1;
        }
        walk::expr(self, expr);
    }
}
