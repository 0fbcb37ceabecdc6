//! Code size estimates: the number of statements and expressions. A function's parts are counted at each call, since
//! it is emitted there.
//!
//! If all actions together are large, functions that are called more than once are compiled separately (see
//! `outline`). A call of such a function counts as one part.

use super::native_support::all_receives_compiled;
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{Action, Arena, Entity, Expr, ExprKind, FunctionId, LocationId, ProcessId};
use spillway_ir::{Program, Stmt, StmtKind, TurnRule};
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

/// Smaller functions are always emitted at their calls.
const OUTLINED_MIN: u64 = 40;

/// Larger functions are compiled separately even if they are called once, so that no piece of code is too large.
const INLINED_ONCE_MAX: u64 = 1000;

/// The maximum number of parts of all copies of an unrolled loop over values of names. Beyond this, compiling takes
/// more time and memory than most searches save.
pub(super) const UNROLLED_MAX: u64 = 3000;

/// The sizes of a program's functions, each computed at the first request.
pub(super) struct CodeSizes {
    functions: RefCell<Vec<Option<u64>>>,
    outlined: Arena<FunctionId, bool>,
    /// The locations that processes can be at between steps.
    resting: HashSet<(ProcessId, LocationId)>,
    meetable: OnceCell<bool>,
}

impl CodeSizes {
    /// Computes the sizes. Functions are compiled separately if all actions have more than `inlined` parts; if that is
    /// 0, all called functions are. In programs with channels no function is compiled separately. The reason is that a
    /// fault during the search for a receiver is kept with its action, and a separate function does not know that
    /// action. No language has both channels and functions.
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

    /// Computes the sizes with all functions emitted at their calls.
    pub fn whole(program: &Program) -> CodeSizes {
        let outlined = program.functions.values().map(|it| it.whole).collect();
        let starts = program.processes.iter().map(|(id, process)| (id, process.start));
        let ends = program.actions.values().filter(|it| it.control.turn == TurnRule::Open);
        let ends = ends.filter_map(|it| it.edge.map(|edge| (edge.process, edge.to)));
        let functions = RefCell::new(vec![None; program.functions.len()]);
        let resting = starts.chain(ends).collect();
        CodeSizes { functions, outlined, resting, meetable: OnceCell::new() }
    }

    /// Returns whether every receive can be compiled together with its sender.
    pub fn all_receives_compiled(&self, program: &Program) -> bool {
        *self.meetable.get_or_init(|| all_receives_compiled(program))
    }

    /// Returns whether a process can be at a location between steps, apart from blocking there within a step.
    pub fn rests(&self, process: ProcessId, at: LocationId) -> bool {
        self.resting.contains(&(process, at))
    }

    /// Returns whether a function is compiled separately.
    pub fn is_outlined(&self, id: FunctionId) -> bool {
        self.outlined[id]
    }

    /// Returns whether any function is compiled separately.
    pub fn any_outlined(&self) -> bool {
        self.outlined.values().any(|&outlined| outlined)
    }

    /// Returns the size of an action: guard, communication and body.
    pub fn action(&self, program: &Program, action: &Action) -> u64 {
        self.of(program, |count| walk::action(count, action))
    }

    /// Returns the size of statements.
    pub fn body(&self, program: &Program, body: &[Stmt]) -> u64 {
        self.of(program, |count| walk::body(count, body))
    }

    /// Returns the size of an expression.
    pub fn expr(&self, program: &Program, expr: &Expr) -> u64 {
        self.of(program, |count| count.expr(expr))
    }

    /// Returns the size of a function's body.
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

/// Counts the calls of each function.
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
