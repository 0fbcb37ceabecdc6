//! The `trace` or `notrace` of a model, lowered to an automaton over sends and receives.
//!
//! A variable of the program, `trace` or `notrace`, holds the location of the automaton. The body of each send and
//! receive that the automaton may observe contains the automaton's step (`trace_events.rs`). So the automaton needs no
//! semantics of its own: executors and reductions see a variable, an assertion and stores.
//!
//! SPIN 6.5.2 is the reference:
//!
//! - The automaton observes the sends on a channel if it has a send on that channel anywhere, and the receives if it
//!   has a receive. A receive that leaves its message (`c?<x>`) and a poll (`c?[x]`) are not events.
//! - A field that is a constant or `eval(...)` is compared; `_` and variables are not.
//! - A jump that is a separate step, such as a `break` that is a whole option, accepts any event.
//! - An event that no step accepts violates a `trace`, which then keeps its location. A `notrace` stops observing: its
//!   location becomes the end. An event that leads a `notrace` to its closing bracket violates it.
//! - An event that several steps of one location accept is an error.
//! - A state without successors, in which processes remain, is a valid end only if the automaton is at its closing
//!   bracket or at an `end` label.

use super::{LoweringResult, PromelaLowering};
use crate::promela::ast::{
    ProcessRole, PromelaExpr, PromelaExprKind, PromelaProcess, PromelaReference, PromelaStmt,
    PromelaStmtKind, ReceiveField,
};
use crate::promela::graph::{self, ControlAction, ControlGraph, ControlTransition};
use crate::promela::symbols::PromelaType;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, ChannelId, ChannelRef, Domain, Owner, Place, ProgramProperty, PropertyKind,
    ScalarType, Type, VarId,
};

/// The automaton of a `trace` or `notrace`.
pub(super) struct TraceAutomaton {
    /// Whether it is a `notrace`.
    pub(super) is_negated: bool,
    /// The variable that holds its location.
    pub(super) variable: VarId,
    /// The description with its position: `trace at model.pml:4:1`.
    pub(super) title: String,
    /// The location of its closing bracket, if reachable.
    pub(super) end: Option<i64>,
    /// All sends and receives that it names, reachable or not.
    pub(super) events: Vec<TraceEvent>,
    /// The steps; those of one location are in the order in which SPIN tries them.
    pub(super) steps: Vec<TraceStep>,
}

/// A step of the automaton.
pub(super) struct TraceStep {
    pub(super) from: i64,
    pub(super) to: i64,
    /// The index of the event that it accepts; a jump accepts any event.
    pub(super) event: Option<usize>,
}

/// A send or receive that a step accepts.
pub(super) struct TraceEvent {
    pub(super) is_send: bool,
    pub(super) channel: ChannelRef,
    /// The expression with which each field of the message is compared, if any.
    pub(super) fields: Vec<Option<ir::Expr>>,
}

impl<'m> PromelaLowering<'m, '_> {
    /// Lowers the model's `trace` or `notrace`, if it has one. `stores` holds the initial values of globals.
    pub(super) fn trace_automaton(&mut self, stores: &[ir::Stmt]) -> LoweringResult<()> {
        let model = self.model;
        let is_trace =
            |it: &&PromelaProcess| matches!(it.role, ProcessRole::Trace | ProcessRole::NoTrace);
        let Some(declared) = model.processes.iter().find(is_trace) else { return Ok(()) };
        let mut named = Vec::new();
        statements(&declared.body, &mut named)?;
        let control = graph::control_graph(declared, &[])?;
        let is_negated = declared.role == ProcessRole::NoTrace;
        let span = declared.name.span;
        let ends = control
            .transitions
            .iter()
            .find(|it| matches!(it.act, ControlAction::End))
            .map(|it| it.from);
        // A `notrace` that stops observing needs a location.
        let given_up = (ends.is_none() && is_negated).then_some(control.locations.len());
        let variable = self.trace_variable(declared, &control, given_up);
        let mut events = Vec::new();
        for stmt in &named {
            events.push(self.trace_event(stmt, stores)?);
        }
        let moves = control.transitions.iter().filter(|it| !matches!(it.act, ControlAction::End));
        let steps = moves.map(|it| self.trace_step(it, &named)).collect();
        let place = self.sources.locate(span).unwrap_or_default();
        let end = ends.or(given_up).map(|it| it as i64);
        let title = format!("{} at {place}", declared.name.text);
        self.trace =
            Some(TraceAutomaton { is_negated, variable, title, end, events, steps }.into());
        self.trace_end(declared, &control, given_up, variable);
        Ok(())
    }

    /// Declares the variable that holds the location.
    fn trace_variable(
        &mut self,
        declared: &PromelaProcess,
        control: &ControlGraph<'_>,
        given_up: Option<usize>,
    ) -> VarId {
        let name = declared.name.text.to_string();
        let mut values = self.location_names(control);
        values.extend(given_up.map(|_| "given up".to_owned()));
        let id = self.program.enums.push(ir::EnumType { name: name.clone(), values });
        let ty = Type::Scalar(ScalarType::defined(Domain::Enum(id)));
        let ty = self.program.types.push(ty);
        self.program.variables.push(ir::Variable {
            name,
            ty,
            owner: Owner::Program,
            initial: vec![Some(control.start as i64)],
            span: declared.name.span,
        })
    }

    /// Adds the condition on states without successors.
    fn trace_end(
        &mut self,
        declared: &PromelaProcess,
        control: &ControlGraph<'_>,
        given_up: Option<usize>,
        variable: VarId,
    ) {
        let span = declared.name.span;
        let all = control.locations.len() + given_up.iter().count();
        let ends = control.locations.iter().enumerate().filter(|(_, it)| it.marks.end);
        let ends: Vec<usize> = ends.map(|(at, _)| at).chain(given_up).collect();
        if ends.len() == all {
            return;
        }
        let is_at = |at: usize| {
            let read = ir::ExprKind::Read(Place::variable(variable, span));
            self.binary(ir::BinaryOp::Equal, read, ir::ExprKind::Constant(at as i64), span)
        };
        let any = ends.into_iter().map(is_at).reduce(|one, other| {
            self.binary(ir::BinaryOp::Or, one.kind.clone(), other.kind.clone(), span)
        });
        self.program.properties.push(ProgramProperty {
            name: "completion".to_owned(),
            kind: PropertyKind::AtEnd(any.unwrap_or_else(|| ir::Expr::constant(0, span))),
            span,
        });
    }

    fn trace_step(&mut self, it: &ControlTransition<'m>, named: &[&'m PromelaStmt]) -> TraceStep {
        let event = match &it.act {
            ControlAction::Do(stmt) => named.iter().position(|named| std::ptr::eq(*named, *stmt)),
            _ => None,
        };
        if event.is_none() {
            let text = "this jump takes any event of the trace, as it does in SPIN";
            self.advise(it.span, text, "put an event before it");
        }
        let to = it.to.unwrap_or(it.from) as i64;
        TraceStep { from: it.from as i64, to, event }
    }

    /// Records a warning with a help text, once.
    fn advise(&mut self, span: Span, text: &str, help: &str) {
        if self.warnings.iter().all(|known| known.span != span) {
            self.warnings.push(Diagnostic::warning(span, text).help(help));
        }
    }

    /// Returns the event that a statement of the automaton accepts.
    fn trace_event(
        &mut self,
        stmt: &'m PromelaStmt,
        stores: &[ir::Stmt],
    ) -> LoweringResult<TraceEvent> {
        let mut fields = Vec::new();
        match &stmt.kind {
            PromelaStmtKind::Send { channel, values, .. } => {
                for value in values {
                    match &value.kind {
                        PromelaExprKind::Scratch => fields.push(None),
                        PromelaExprKind::Variable(it) => {
                            self.warn_of_uncompared_field(it, &mut fields)?
                        }
                        _ => fields.push(Some(self.lower_comparison(value)?)),
                    }
                }
                let channel = self.traced_channel(channel, stores)?;
                self.fitting(TraceEvent { is_send: true, channel, fields }, stmt.span)
            }
            PromelaStmtKind::Receive { channel, fields: given, .. } => {
                for field in given {
                    match field {
                        ReceiveField::Any(_) => fields.push(None),
                        ReceiveField::Into(it) => self.warn_of_uncompared_field(it, &mut fields)?,
                        ReceiveField::Match(value) => {
                            fields.push(Some(self.lower_comparison(value)?))
                        }
                    }
                }
                let channel = self.traced_channel(channel, stores)?;
                self.fitting(TraceEvent { is_send: false, channel, fields }, stmt.span)
            }
            _ => Err(no_event(stmt.span)),
        }
    }

    /// Warns of a variable as a field: it matches any value, as in SPIN.
    fn warn_of_uncompared_field(
        &mut self,
        reference: &PromelaReference,
        fields: &mut Vec<Option<ir::Expr>>,
    ) -> LoweringResult<()> {
        let basic = self.part(reference)?.0;
        fields.extend(self.model.symbols.leaves(basic).iter().map(|_| None));
        let text = "a variable in a trace stands for any value, as it does in SPIN";
        let help = "write `_` for that, or `eval(...)` to compare with its value";
        self.advise(reference.span, text, help);
        Ok(())
    }

    /// Lowers the expression with which a field is compared.
    fn lower_comparison(&mut self, value: &PromelaExpr) -> LoweringResult<ir::Expr> {
        let made = self.expr(value, None)?;
        match self.is_unchanged_by_action(&made) && !matches!(made.kind, ir::ExprKind::Self_) {
            true => Ok(made),
            false => {
                let error = "a trace compares fields with constants and global variables only";
                Err(Diagnostic::error(value.span, error))
            }
        }
    }

    /// Returns a channel that the automaton names.
    fn traced_channel(
        &mut self,
        name: &'m PromelaReference,
        stores: &[ir::Stmt],
    ) -> LoweringResult<ChannelRef> {
        let symbol = &self.model.symbols.all[name.symbol];
        if symbol.owner.is_some() {
            let error = format!("{} is declared inside the trace", symbol.name.text);
            return Err(Diagnostic::error(name.span, error)
                .help("a trace observes channels that are declared outside all processes"));
        }
        let channel = self.channel(name, None)?;
        Ok(self.initial_channel(name, channel, stores))
    }

    /// Adjusts an event to the number of fields of its channel, if that is known.
    fn fitting(&self, mut event: TraceEvent, span: Span) -> LoweringResult<TraceEvent> {
        let Some(expected) = self.fields_of_channel(&event.channel).map(<[_]>::len) else {
            return Ok(event);
        };
        if event.fields.len() > expected {
            let given = event.fields.len();
            let error =
                format!("this has {given} fields, but messages of the channel have {expected}");
            return Err(Diagnostic::error(span, error));
        }
        event.fields.resize(expected, None);
        Ok(event)
    }

    /// Returns the channel that a field of a global structure always holds, if the structure is never assigned.
    fn initial_channel(
        &self,
        name: &PromelaReference,
        channel: ChannelRef,
        stores: &[ir::Stmt],
    ) -> ChannelRef {
        let ChannelRef::Computed(number) = &channel else { return channel };
        let ir::ExprKind::Read(place) = &number.kind else { return channel };
        let symbol = &self.model.symbols.all[name.symbol];
        if symbol.assigned || !matches!(symbol.basic, PromelaType::Struct(_)) {
            return channel;
        }
        let found = stores.iter().find_map(|store| match &store.kind {
            ir::StmtKind::Assign { target, value, .. } if is_same_place(target, place) => {
                match &value.kind {
                    ir::ExprKind::ChannelNumber(made) => Some(made.clone()),
                    _ => None,
                }
            }
            _ => None,
        });
        found.unwrap_or(channel)
    }

    /// Returns the types of the fields of a known channel, or of one of several channels with the same types.
    pub(super) fn fields_of_channel(&self, channel: &ChannelRef) -> Option<&[ir::TypeId]> {
        self.one_of(channel).map(|id| self.program.channels[id].fields.as_slice())
    }

    /// Returns whether a known channel is a rendezvous channel.
    pub(super) fn is_rendezvous_channel(&self, channel: &ChannelRef) -> Option<bool> {
        self.one_of(channel).map(|id| self.program.channels[id].capacity == 0)
    }

    fn one_of(&self, channel: &ChannelRef) -> Option<ChannelId> {
        match channel {
            ChannelRef::Named(id) | ChannelRef::Element { first: id, .. } => Some(*id),
            ChannelRef::Computed(_) => None,
        }
    }
}

/// Collects the sends and receives in a body; rejects anything else except jumps.
fn statements<'m>(body: &'m [PromelaStmt], found: &mut Vec<&'m PromelaStmt>) -> LoweringResult<()> {
    for stmt in body {
        match &stmt.kind {
            PromelaStmtKind::Send { sorted: false, .. }
            | PromelaStmtKind::Receive { anywhere: false, peek: false, .. } => found.push(stmt),
            PromelaStmtKind::Goto(_) | PromelaStmtKind::Break => {}
            PromelaStmtKind::If(options) | PromelaStmtKind::Do(options) => {
                options.iter().try_for_each(|option| statements(option, found))?;
            }
            PromelaStmtKind::Block(body) => statements(body, found)?,
            PromelaStmtKind::Labelled(_, inner) => statements(std::slice::from_ref(inner), found)?,
            _ => return Err(no_event(stmt.span)),
        }
    }
    Ok(())
}

fn no_event(span: Span) -> Diagnostic {
    let error = "a trace has sends and receives only: this is no event";
    Diagnostic::error(span, error).help(
        "`!!`, `??`, `?<...>`, conditions, `else`, `atomic`, `d_step` and `unless` have no place in a trace",
    )
}

/// Returns whether two places are the same part of one variable, with the same constant indices.
fn is_same_place(one: &Place, other: &Place) -> bool {
    use ir::PlaceSelector::{Field, Index};
    let same = |pair: (&ir::PlaceSelector, &ir::PlaceSelector)| match pair {
        (Field(one), Field(other)) => one == other,
        (Index(one), Index(other)) => {
            one.as_constant().is_some() && one.as_constant() == other.as_constant()
        }
        _ => false,
    };
    one.root == other.root
        && one.path.len() == other.path.len()
        && one.path.iter().zip(&other.path).all(same)
}
