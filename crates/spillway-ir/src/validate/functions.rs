//! The effects of functions on each other and on the state (rules 22 and 23).

use super::{ProgramValidator, Rule, WriteReach};
use crate::{FunctionId, Program};
use spillway_base::source::Span;

/// Facts about functions from the bodies checked so far.
pub(super) struct FunctionFacts {
    /// The callees of each function, with repetitions, and the reach of writes to the places passed to them.
    calls: Vec<Vec<(FunctionId, WriteReach)>>,
    /// The reach of the writes of each function.
    changes: Vec<WriteEffects>,
    /// The calls in expressions.
    in_expressions: Vec<(FunctionId, Span)>,
}

/// The reach of the writes of a function.
#[derive(Clone, Copy, Default)]
struct WriteEffects {
    /// Whether callers that pass places can observe them.
    given: bool,
    /// Whether all code can observe them.
    state: bool,
}

impl WriteEffects {
    fn add(&mut self, reach: WriteReach) {
        match reach {
            WriteReach::Own => {}
            WriteReach::Given => self.given = true,
            WriteReach::State => self.state = true,
        }
    }
}

impl FunctionFacts {
    pub(super) fn new(program: &Program) -> Self {
        let count = program.functions.len();
        let calls = vec![Vec::new(); count];
        Self { calls, changes: vec![WriteEffects::default(); count], in_expressions: Vec::new() }
    }

    /// Records a call, from a function or from other code.
    pub(super) fn note_call(
        &mut self,
        caller: Option<FunctionId>,
        callee: FunctionId,
        given: WriteReach,
    ) {
        if let Some(caller) = caller {
            self.calls[caller.0 as usize].push((callee, given));
        }
    }

    /// Records that a call is in an expression.
    pub(super) fn note_expression_call(&mut self, callee: FunctionId, span: Span) {
        self.in_expressions.push((callee, span));
    }

    /// Records a change by a function.
    pub(super) fn changes(&mut self, function: Option<FunctionId>, reach: WriteReach) {
        if let Some(function) = function {
            self.changes[function.0 as usize].add(reach);
        }
    }

    /// Returns every function after its callees, except functions that recurse or call one that does (Kahn, 1962).
    fn callees_first(&self) -> Vec<usize> {
        let mut callers = vec![Vec::new(); self.calls.len()];
        for (caller, callees) in self.calls.iter().enumerate() {
            callees.iter().for_each(|(callee, _)| callers[callee.0 as usize].push(caller));
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

impl ProgramValidator<'_> {
    /// Checks rules 22 and 23, after all bodies.
    pub(super) fn recursion_and_effects(&mut self) {
        let order = self.functions.callees_first();
        self.recursion(&order);
        let mut changes = self.functions.changes.clone();
        for function in order {
            for &(callee, given) in &self.functions.calls[function] {
                let callee = changes[callee.0 as usize];
                changes[function].state |= callee.state;
                changes[function].add(if callee.given { given } else { WriteReach::Own });
            }
        }
        for (function, span) in std::mem::take(&mut self.functions.in_expressions) {
            let WriteEffects { given, state } = changes[function.0 as usize];
            self.require(!given && !state, Rule::Results, span, || {
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
