//! What functions do to each other and to the state (rules 22 and 23).

use super::{Checker, Rule};
use crate::ir::{FunctionId, Program};
use crate::source::Span;

/// What the bodies checked so far say about functions.
pub(super) struct FunctionFacts {
    /// The functions each one calls, with repeats.
    calls: Vec<Vec<FunctionId>>,
    /// Whether each one changes the state by itself.
    changes: Vec<bool>,
    /// The calls that stand in expressions.
    in_expressions: Vec<(FunctionId, Span)>,
}

impl FunctionFacts {
    pub(super) fn new(program: &Program) -> Self {
        let count = program.functions.len();
        let calls = vec![Vec::new(); count];
        Self { calls, changes: vec![false; count], in_expressions: Vec::new() }
    }

    /// Notes a call, from a function or from elsewhere.
    pub(super) fn called(
        &mut self,
        caller: Option<FunctionId>,
        callee: FunctionId,
        span: Span,
        in_expression: bool,
    ) {
        if let Some(caller) = caller {
            self.calls[caller.0 as usize].push(callee);
        }
        if in_expression {
            self.in_expressions.push((callee, span));
        }
    }

    /// Notes that a function changes the state.
    pub(super) fn changes(&mut self, function: Option<FunctionId>) {
        if let Some(function) = function {
            self.changes[function.0 as usize] = true;
        }
    }

    /// Every function after those it calls, but for those that recurse or call one that does
    /// (Kahn, 1962).
    fn callees_first(&self) -> Vec<usize> {
        let mut callers = vec![Vec::new(); self.calls.len()];
        for (caller, callees) in self.calls.iter().enumerate() {
            callees.iter().for_each(|callee| callers[callee.0 as usize].push(caller));
        }
        let mut waits_for: Vec<usize> = self.calls.iter().map(Vec::len).collect();
        let mut order: Vec<usize> =
            (0..waits_for.len()).filter(|&function| waits_for[function] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            for &caller in &callers[order[next]] {
                waits_for[caller] -= 1;
                if waits_for[caller] == 0 {
                    order.push(caller);
                }
            }
            next += 1;
        }
        order
    }
}

impl Checker<'_> {
    /// Rules 22 and 23, once every body has been seen.
    pub(super) fn recursion_and_effects(&mut self) {
        let order = self.functions.callees_first();
        self.recursion(&order);
        let mut changes = self.functions.changes.clone();
        for function in order {
            let callees = &self.functions.calls[function];
            changes[function] |= callees.iter().any(|callee| changes[callee.0 as usize]);
        }
        for (function, span) in std::mem::take(&mut self.functions.in_expressions) {
            self.require(!changes[function.0 as usize], Rule::Results, span, || {
                let name = &self.program.functions[function].name;
                format!("{name} changes the state, and is called in an expression")
            });
        }
    }

    fn recursion(&mut self, order: &[usize]) {
        let mut ends = vec![false; self.program.functions.len()];
        order.iter().for_each(|&function| ends[function] = true);
        for (function, ends) in self.program.functions.values().zip(ends) {
            self.require(ends, Rule::Recursion, function.span, || {
                format!("{} calls itself, or one that does", function.name)
            });
        }
    }
}
