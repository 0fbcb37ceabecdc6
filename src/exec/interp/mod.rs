//! The reference semantics: a plain interpreter of programs over packed states.
//!
//! It walks expressions as trees and reads and writes the packed bits through the
//! [`Layout`], one cell at a time. Nothing is cached, reordered or specialised, so that what a
//! program means can be read off these files:
//!
//! - `eval`: the value of an expression in a state;
//! - `apply`: what a statement or a message does to a state;
//! - `steps`: which actions can be taken in a state, in which order;
//! - `turns`: the same for programs whose processes come and go, with actions that hang together;
//! - `slots`: processes that come and go; `channels`: channels as values;
//! - `masks`: which bits of a state a step can change;
//! - `describe`: a state in the user's words.

mod apply;
mod channels;
mod describe;
mod eval;
mod masks;
mod slots;
mod steps;
mod turns;

use super::{Check, Expansion, Fault, Model, Outcome, PropertyInfo, Step};
use crate::diag::Diagnostic;
use crate::ir::layout::{GroupId, NotAnOrder};
use crate::ir::{
    Action, ActionId, Entity, Expr, ExprKind, Grip, Instances, Layout, LocationId, ProcessId, Program,
    PropertyKind, Stmt, StmtKind, text,
};
use crate::source::Span;
use eval::Locals;
use slots::Instance;
use steps::Taken;

use std::fmt::Write;

/// The most bytes of a state that the store can hold.
const BYTES_MAX: usize = u16::MAX as usize;

/// A failed evaluation; boxed because it is rare and results are passed everywhere.
pub(crate) type Failure = Box<Fault>;

/// A program ready to be interpreted.
#[derive(Debug)]
pub struct Interp {
    program: Program,
    layout: Layout,
    /// The actions of each process from each of its locations, ascending.
    from: Vec<Vec<Vec<ActionId>>>,
    /// Actions that belong to no process.
    free: Vec<ActionId>,
    /// Whether any location is committed, so that the rule need not be tried in vain.
    has_committed: bool,
    /// Whether any process comes and goes.
    has_slots: bool,
    /// Whether anything asks whether nothing else can be done.
    has_timeout: bool,
    /// Properties that are judged state by state, with their numbers.
    judged: Vec<(u32, Judged)>,
    digest: [u8; 32],
}

/// A property of single states: holds unless the process is at the location and the condition is
/// false.
#[derive(Clone, Debug)]
struct Judged {
    at: Option<(ProcessId, LocationId)>,
    condition: Expr,
}

impl Interp {
    /// Prepares a valid program, or says which of its constructs are not executed yet.
    pub fn new(mut program: Program) -> Result<Interp, Diagnostic> {
        refuse_unsupported(&program)?;
        let layout = Layout::new(&program);
        if layout.bytes > BYTES_MAX {
            let message = format!(
                "a state of this model takes {} bytes, but at most {BYTES_MAX} can be stored",
                layout.bytes
            );
            return Err(Diagnostic::error(Span::default(), message)
                .help("make its arrays shorter, its channels smaller or its processes fewer"));
        }
        let digest = digest(&mut program, &layout);
        let mut from: Vec<Vec<Vec<ActionId>>> = (program.processes.values())
            .map(|process| vec![Vec::new(); process.locations.len()])
            .collect();
        let mut free = Vec::new();
        for (id, action) in program.actions.iter() {
            match action.edge {
                Some(edge) => from[edge.process.index()][edge.from.index()].push(id),
                None => free.push(id),
            }
        }
        let has_committed = (program.processes.values())
            .flat_map(|process| process.locations.values())
            .any(|location| location.grip == Grip::Committed);
        let judged = program
            .properties
            .iter()
            .filter_map(|(id, property)| match &property.kind {
                PropertyKind::Invariant(condition) => {
                    Some((id.0, Judged { at: None, condition: condition.clone() }))
                }
                PropertyKind::AssertionAt { process, location, condition } => Some((
                    id.0,
                    Judged { at: Some((*process, *location)), condition: condition.clone() },
                )),
                PropertyKind::Automaton(_) => None,
            })
            .collect();
        let has_slots = (program.processes.values()).any(|it| it.instances != Instances::One);
        let has_timeout = asks_for_timeout(&program);
        Ok(Interp {
            program,
            layout,
            from,
            free,
            has_committed,
            has_slots,
            has_timeout,
            judged,
            digest,
        })
    }

    /// The same model with the groups of its states' cells in the order given: the same states
    /// and steps, as other keys.
    pub fn with_order(self, order: &[GroupId]) -> Result<Interp, NotAnOrder> {
        let Interp { mut program, layout, .. } = self;
        let layout = layout.reordered(order)?;
        let digest = digest(&mut program, &layout);
        Ok(Interp { program, layout, digest, ..self })
    }

    /// The program that is run.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Where its variables live in a state.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn location(&self, state: &[u8], process: ProcessId) -> LocationId {
        let cell = self.layout.locations[process].first;
        let code = self.layout.get(state, cell).unwrap_or_default();
        LocationId(code as u32)
    }

    /// The properties that do not hold in `state`. One that cannot be evaluated does not hold.
    fn broken_properties(&self, state: &[u8], mut report: impl FnMut(u32)) {
        for (number, judged) in &self.judged {
            let concerned =
                judged.at.is_none_or(|(process, at)| self.location(state, process) == at);
            if concerned
                && !matches!(self.eval(&judged.condition, state, &Locals::default()), Ok(value) if value != 0)
            {
                report(*number);
            }
        }
    }

    fn is_valid_end(&self, state: &[u8]) -> bool {
        match self.program.end {
            crate::ir::EndRule::Never => false,
            crate::ir::EndRule::AllAtValidEnd => self.all_at_end(state),
        }
    }

    /// The action that stands for a step: the last of several is the one at fault.
    fn told(&self, taken: &[Taken], is_fault: bool) -> ActionId {
        let at = if self.has_slots && is_fault { taken.last() } else { taken.first() };
        at.map_or(ActionId(0), |it| it.action)
    }

    fn step(&self, state: &[u8], taken: &[Taken], outcome: Outcome) -> Step {
        let pid = |it: &Taken| {
            let process = self.program.actions[it.action].edge?.process;
            let pid = self.pid(state, Instance { process, slot: it.slot });
            Some((it.action.0, u32::try_from(pid).ok()?))
        };
        let with_pids = if self.has_slots { taken } else { &[] };
        let action = self.told(taken, matches!(outcome, Outcome::Fault(_)));
        let actions: Vec<&Action> =
            taken.iter().map(|it| &self.program.actions[it.action]).collect();
        Step {
            action: action.0,
            name: actions.iter().map(|action| action.name.as_str()).collect::<Vec<_>>().join(" + "),
            spans: actions.iter().map(|action| action.span).collect(),
            actions: with_pids.iter().filter_map(pid).collect(),
            outcome,
        }
    }
}

impl Model for Interp {
    fn width(&self) -> usize {
        self.layout.bytes
    }

    fn bits(&self) -> u32 {
        self.layout.bits
    }

    fn initial(&self, out: &mut Expansion) {
        let zero = vec![0; self.width()];
        self.each_start(|number, result| match result {
            Ok(state) => out.candidate(state),
            Err(fault) => out.finding(Check::Fault(fault.kind, number), &zero),
        });
    }

    fn expand(&self, states: &[u8], out: &mut Expansion) {
        let mut work = Vec::with_capacity(self.width());
        for state in states.chunks_exact(self.width()) {
            let mut stuck = true;
            self.each_step(state, &mut work, &mut |taken, result| {
                stuck = false;
                match result {
                    Ok(successor) => out.candidate(successor),
                    Err(fault) => {
                        let action = self.told(taken, true);
                        out.finding(Check::Fault(fault.kind, action.0), state);
                    }
                }
            });
            if stuck && !self.is_valid_end(state) {
                out.finding(Check::Deadlock, state);
            }
            self.broken_properties(state, |number| out.finding(Check::Property(number), state));
        }
    }

    fn steps(&self, state: &[u8]) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut work = Vec::with_capacity(self.width());
        self.each_step(state, &mut work, &mut |taken, result| {
            let outcome = match result {
                Ok(successor) => Outcome::Successor(successor.to_vec()),
                Err(fault) => Outcome::Fault(*fault),
            };
            steps.push(self.step(state, taken, outcome));
        });
        steps
    }

    fn starts(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        self.each_start(|number, result| {
            let start = &self.program.starts[number as usize];
            let outcome = match result {
                Ok(state) => Outcome::Successor(state.to_vec()),
                Err(fault) => Outcome::Fault(*fault),
            };
            let (name, spans) = (start.name.clone(), vec![start.span]);
            let actions = Vec::new();
            steps.push(Step { action: number, name, spans, actions, outcome });
        });
        steps
    }

    fn properties(&self) -> Vec<PropertyInfo> {
        let kind = |kind: &PropertyKind| match kind {
            PropertyKind::Invariant(_) => "invariant",
            PropertyKind::AssertionAt { .. } => "assert",
            PropertyKind::Automaton(_) => "automaton",
        };
        (self.program.properties.values())
            .map(|property| PropertyInfo {
                kind: kind(&property.kind),
                name: property.name.clone(),
                span: property.span,
            })
            .collect()
    }

    fn action_name(&self, action: u32) -> String {
        self.program.actions.get(ActionId(action)).map_or(String::new(), |it| it.name.clone())
    }

    fn violations(&self, state: &[u8]) -> Vec<Check> {
        let mut found = Vec::new();
        let mut stuck = true;
        self.each_step(state, &mut Vec::new(), &mut |_, _| stuck = false);
        if stuck && !self.is_valid_end(state) {
            found.push(Check::Deadlock);
        }
        self.broken_properties(state, |number| found.push(Check::Property(number)));
        found
    }

    fn describe(&self, state: &[u8]) -> Vec<(String, String)> {
        self.describe_state(state)
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        self.find_write_masks()
    }

    fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

/// Digests the printed program and where its cells are. The model's name does not matter.
fn digest(program: &mut Program, layout: &Layout) -> [u8; 32] {
    struct Feed(blake3::Hasher);
    impl std::fmt::Write for Feed {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            self.0.update(text.as_bytes());
            Ok(())
        }
    }
    let name = std::mem::take(&mut program.name);
    let mut feed = Feed(blake3::Hasher::new());
    // Feeding a hasher does not fail.
    let _ = write!(feed, "{}", text::print(program));
    program.name = name;
    for cell in layout.cells.values() {
        feed.0.update(&cell.bit.to_le_bytes());
    }
    *feed.0.finalize().as_bytes()
}

/// Names the first construct that no front end produces yet and the interpreter does not run.
fn refuse_unsupported(program: &Program) -> Result<(), Diagnostic> {
    let refuse = |span, what: &str| {
        Err(Diagnostic::error(span, format!("{what} cannot be executed by this version"))
            .help("rewrite the model without it"))
    };
    for process in program.processes.values() {
        if let Some(atomic) = process.locations.values().find(|at| at.grip == Grip::Atomic) {
            return refuse(atomic.span, "an atomic location");
        }
    }
    if let Some(function) = program.functions.values().next() {
        return refuse(function.span, "a function");
    }
    for action in program.actions.values() {
        if action.priority != 0 {
            return refuse(action.span, "a priority");
        }
    }
    let bodies = program.actions.values().map(|action| &action.body);
    for body in bodies.chain(program.starts.iter().map(|start| &start.body)) {
        if let Some((span, what)) = find_unsupported(body) {
            return refuse(span, what);
        }
    }
    Ok(())
}

/// The first statement that is not executed, at any depth.
fn find_unsupported(body: &[Stmt]) -> Option<(Span, &'static str)> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Call(..) | StmtKind::Return(_) => Some((stmt.span, "a call")),
        StmtKind::Declare { .. } => Some((stmt.span, "a local variable")),
        StmtKind::If(branches) => branches.iter().find_map(|(_, body)| find_unsupported(body)),
        StmtKind::Switch(_, branches) => {
            branches.iter().find_map(|(_, body)| find_unsupported(body))
        }
        StmtKind::For { body, .. } | StmtKind::ForEach { body, .. } => find_unsupported(body),
        StmtKind::While { body, .. } => find_unsupported(body),
        _ => None,
    })
}

/// Whether any action's guard asks for `timeout`.
fn asks_for_timeout(program: &Program) -> bool {
    fn asks(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Timeout => true,
            ExprKind::Unary(_, operand) => asks(operand),
            ExprKind::Binary(_, left, right) => asks(left) || asks(right),
            ExprKind::Conditional(condition, then, otherwise) => {
                asks(condition) || asks(then) || asks(otherwise)
            }
            _ => false,
        }
    }
    program.actions.values().any(|action| action.guard.as_ref().is_some_and(asks))
}
