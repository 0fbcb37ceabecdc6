//! The effect of sends and receives on the automaton of a `trace` (`trace.rs`).
//!
//! The body of a send or receive begins with an assertion that a step of the automaton accepts the event, followed by
//! that step. In a rendezvous, the receiver's action handles both events, the send first, because the sender's body
//! runs after the receiver's.
//!
//! `message_values.rs` describes how these bodies obtain the values of the message.

use super::trace::{TraceAutomaton, TraceStep};
use super::{LoweringResult, PromelaLowering};
use crate::promela::ast::PromelaStmt;
use crate::promela::graph::ControlAction;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, AssertionKind, BinaryOp, ChannelRef, OverflowRule, Place, ReceivePattern, StmtKind,
    UnaryOp,
};
use std::collections::BTreeSet;

/// A truth value that may depend on the state.
#[derive(Clone)]
enum SymbolicTruth {
    Never,
    Always,
    When(ir::Expr),
}

impl SymbolicTruth {
    fn and(self, other: SymbolicTruth) -> SymbolicTruth {
        match (self, other) {
            (SymbolicTruth::Never, _) | (_, SymbolicTruth::Never) => SymbolicTruth::Never,
            (SymbolicTruth::Always, it) | (it, SymbolicTruth::Always) => it,
            (SymbolicTruth::When(one), SymbolicTruth::When(other)) => {
                SymbolicTruth::join_conditions(BinaryOp::And, one, other)
            }
        }
    }

    fn or(self, other: SymbolicTruth) -> SymbolicTruth {
        match (self, other) {
            (SymbolicTruth::Always, _) | (_, SymbolicTruth::Always) => SymbolicTruth::Always,
            (SymbolicTruth::Never, it) | (it, SymbolicTruth::Never) => it,
            (SymbolicTruth::When(one), SymbolicTruth::When(other)) => {
                SymbolicTruth::join_conditions(BinaryOp::Or, one, other)
            }
        }
    }

    fn not(self) -> SymbolicTruth {
        match self {
            SymbolicTruth::Never => SymbolicTruth::Always,
            SymbolicTruth::Always => SymbolicTruth::Never,
            SymbolicTruth::When(it) => {
                let span = it.span;
                SymbolicTruth::When(ir::Expr::new(
                    ir::ExprKind::Unary(UnaryOp::Not, Box::new(it)),
                    span,
                ))
            }
        }
    }

    fn join_conditions(operator: BinaryOp, one: ir::Expr, other: ir::Expr) -> SymbolicTruth {
        let span = one.span;
        let kind = ir::ExprKind::Binary(operator, Box::new(one), Box::new(other));
        SymbolicTruth::When(ir::Expr::new(kind, span))
    }

    /// Returns the value as an expression, or `None` if it always holds.
    fn condition(self, span: Span) -> Option<ir::Expr> {
        match self {
            SymbolicTruth::Always => None,
            SymbolicTruth::Never => Some(ir::Expr::constant(0, span)),
            SymbolicTruth::When(it) => Some(it),
        }
    }
}

/// An event as the automaton observes it.
struct ObservedEvent<'a> {
    /// For each event of the automaton, whether it has the same channel and direction.
    same: &'a [SymbolicTruth],
    /// For each event of the automaton, the value of each compared field of the message.
    values: &'a [Vec<Option<ir::Expr>>],
    /// The source text of the event.
    text: String,
    span: Span,
}

/// The part of a receive that the automaton affects: its patterns, and the start of its body.
pub(super) struct ReceiveObservation {
    pub(super) patterns: Vec<ReceivePattern>,
    pub(super) body: Vec<ir::Stmt>,
}

/// The event of a statement that an automaton may observe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ObservedSide {
    /// A send to a buffered channel.
    BufferedSend,
    /// The send that a receive from a rendezvous channel completes.
    MeetingSend,
    /// A receive.
    Receive,
}

impl<'m> PromelaLowering<'m, '_> {
    /// Returns the start of the body of a send.
    pub(super) fn observe_send(
        &mut self,
        stmt: &'m PromelaStmt,
        channel: &ChannelRef,
        values: &[ir::Expr],
    ) -> LoweringResult<Vec<ir::Stmt>> {
        let Some(trace) = self.trace.clone() else { return Ok(Vec::new()) };
        let span = stmt.span;
        let same = self.match_events(&trace, channel, ObservedSide::BufferedSend, span)?;
        let mut known = Vec::new();
        for (event, same) in trace.events.iter().zip(&same) {
            known.push(match same {
                SymbolicTruth::Never => Vec::new(),
                _ => self.sent_values(channel, values, event)?,
            });
        }
        let text = format!("`{}`", self.text(&ControlAction::Do(stmt), span));
        Ok(take(&trace, &ObservedEvent { same: &same, values: &known, text, span }))
    }

    /// Returns the patterns of a receive, and the start of its body.
    pub(super) fn observe_receive(
        &mut self,
        stmt: &'m PromelaStmt,
        channel: &ChannelRef,
        patterns: Vec<ReceivePattern>,
    ) -> LoweringResult<ReceiveObservation> {
        let Some(trace) = self.trace.clone() else {
            return Ok(ReceiveObservation { patterns, body: Vec::new() });
        };
        let span = stmt.span;
        let sent = self.match_events(&trace, channel, ObservedSide::MeetingSend, span)?;
        let received = self.match_events(&trace, channel, ObservedSide::Receive, span)?;
        let asked: BTreeSet<usize> = compared_fields(&trace, &sent)
            .union(&compared_fields(&trace, &received))
            .copied()
            .collect();
        let kept = self.keep_message(&trace, channel, patterns, &asked)?;
        let text = format!("`{}`", self.text(&ControlAction::Do(stmt), span));
        let of_sender = format!("the send that {text} receives");
        let values = &vec![kept.values; trace.events.len()];
        let mut body = take(&trace, &ObservedEvent { same: &sent, values, text: of_sender, span });
        body.extend(take(&trace, &ObservedEvent { same: &received, values, text, span }));
        body.extend(kept.stores);
        Ok(ReceiveObservation { patterns: kept.patterns, body })
    }

    /// Returns, for each event of the automaton, whether a statement on this channel is that event.
    fn match_events(
        &self,
        trace: &TraceAutomaton,
        channel: &ChannelRef,
        side: ObservedSide,
        span: Span,
    ) -> LoweringResult<Vec<SymbolicTruth>> {
        use ChannelRef::{Computed, Element};
        let mut all = Vec::new();
        for event in &trace.events {
            let same = match event.is_send == (side != ObservedSide::Receive) {
                true => self.is_same_channel(channel, &event.channel, span),
                false => SymbolicTruth::Never,
            };
            if let (SymbolicTruth::When(_), Element { index: expr, .. } | Computed(expr)) =
                (&same, channel)
            {
                self.require_unchanged(expr)?;
            }
            let is_other = match (side, &same) {
                (ObservedSide::Receive, _) | (_, SymbolicTruth::Never) => false,
                _ => {
                    let meets = self.is_rendezvous_at(channel, &event.channel, span)?;
                    meets != (side == ObservedSide::MeetingSend)
                }
            };
            all.push(if is_other { SymbolicTruth::Never } else { same });
        }
        Ok(all)
    }

    /// Returns whether the channel of a statement is a channel that the automaton names.
    fn is_same_channel(&self, own: &ChannelRef, named: &ChannelRef, span: Span) -> SymbolicTruth {
        use ChannelRef::{Element, Named};
        let is_number = |channel: &ChannelRef| {
            let kind = ir::ExprKind::ChannelNumber(channel.clone());
            match channel {
                ChannelRef::Computed(number) => (**number).clone(),
                _ => ir::Expr::new(kind, span),
            }
        };
        let within = |id: &ir::ChannelId, first: &ir::ChannelId, count: u32| {
            id.0.checked_sub(first.0).filter(|at| *at < count)
        };
        match (own, named) {
            (Named(one), Named(other)) if one == other => SymbolicTruth::Always,
            (Named(_), Named(_)) => SymbolicTruth::Never,
            (Element { first, count, index }, Named(id))
            | (Named(id), Element { first, count, index }) => match within(id, first, *count) {
                None => SymbolicTruth::Never,
                Some(at) => SymbolicTruth::When(self.binary(
                    BinaryOp::Equal,
                    index.kind.clone(),
                    ir::ExprKind::Constant(at.into()),
                    span,
                )),
            },
            _ => {
                let (own, named) = (is_number(own), is_number(named));
                SymbolicTruth::When(self.binary(BinaryOp::Equal, own.kind, named.kind, span))
            }
        }
    }

    /// Returns whether a channel is a rendezvous channel, where it is one that the automaton names.
    fn is_rendezvous_at(
        &self,
        own: &ChannelRef,
        named: &ChannelRef,
        span: Span,
    ) -> LoweringResult<bool> {
        if let Some(known) =
            self.is_rendezvous_channel(own).or_else(|| self.is_rendezvous_channel(named))
        {
            return Ok(known);
        }
        let mut all = self.program.channels.values().map(|it| it.capacity == 0);
        let first = all.next().unwrap_or(false);
        if all.all(|it| it == first) {
            return Ok(first);
        }
        let error = "it is not known whether this channel, which the trace may observe, is a rendezvous channel";
        Err(Diagnostic::error(span, error)
            .help("name a channel, not a variable that holds one, in the trace"))
    }
}

/// Returns the fields that the possibly matching events compare.
fn compared_fields(trace: &TraceAutomaton, same: &[SymbolicTruth]) -> BTreeSet<usize> {
    let possible =
        trace.events.iter().zip(same).filter(|(_, it)| !matches!(it, SymbolicTruth::Never));
    let fields = possible.flat_map(|(event, _)| event.fields.iter().enumerate());
    fields.filter(|(_, it)| it.is_some()).map(|(at, _)| at).collect()
}

/// Returns the statements for an event: the assertion that the automaton accepts it, and the step.
fn take(trace: &TraceAutomaton, seen: &ObservedEvent<'_>) -> Vec<ir::Stmt> {
    let scope = seen.same.iter().fold(SymbolicTruth::Never, |any, same| any.or(same.clone()));
    if matches!(scope, SymbolicTruth::Never) {
        return Vec::new();
    }
    let mut stmts = Vec::new();
    if let Some(condition) = allowed_condition(trace, seen, scope.clone()).condition(seen.span) {
        let message = match trace.is_negated {
            false => format!("{} is no event that the {} allows here", seen.text, trace.title),
            true => format!("{} completes the {}", seen.text, trace.title),
        };
        let kind = StmtKind::Assert { condition, message, asserted: AssertionKind::Event };
        stmts.push(ir::Stmt { kind, span: seen.span });
    }
    let step = step(trace, seen);
    match scope {
        SymbolicTruth::When(condition) => {
            let kind = StmtKind::If(vec![(Some(condition), vec![step])]);
            stmts.push(ir::Stmt { kind, span: seen.span });
        }
        _ => stmts.push(step),
    }
    stmts
}

/// Returns whether a step of the automaton accepts an event.
fn takes(trace: &TraceAutomaton, step: &TraceStep, seen: &ObservedEvent<'_>) -> SymbolicTruth {
    let Some(event) = step.event else { return SymbolicTruth::Always };
    let fields = trace.events[event].fields.iter().zip(&seen.values[event]);
    fields.fold(seen.same[event].clone(), |all, pair| match pair {
        (Some(expected), Some(value)) => all.and(equal(value, expected)),
        _ => all,
    })
}

fn equal(value: &ir::Expr, expected: &ir::Expr) -> SymbolicTruth {
    match (value.as_constant(), expected.as_constant()) {
        (Some(one), Some(other)) if one == other => SymbolicTruth::Always,
        (Some(_), Some(_)) => SymbolicTruth::Never,
        _ => SymbolicTruth::join_conditions(BinaryOp::Equal, value.clone(), expected.clone()),
    }
}

/// Returns the steps from a location, each with whether it accepts the event.
fn steps_from<'t>(
    trace: &'t TraceAutomaton,
    seen: &ObservedEvent<'_>,
    from: i64,
) -> Vec<(&'t TraceStep, SymbolicTruth)> {
    let here = trace.steps.iter().filter(|step| step.from == from);
    here.map(|step| (step, takes(trace, step, seen))).collect()
}

fn locations(trace: &TraceAutomaton) -> BTreeSet<i64> {
    trace.steps.iter().map(|it| it.from).collect()
}

/// Returns the condition that an event does not violate the declaration.
fn allowed_condition(
    trace: &TraceAutomaton,
    seen: &ObservedEvent<'_>,
    scope: SymbolicTruth,
) -> SymbolicTruth {
    let mut met = SymbolicTruth::Never;
    for from in locations(trace) {
        let mut any = SymbolicTruth::Never;
        let mut earlier = SymbolicTruth::Never;
        for (step, takes) in steps_from(trace, seen, from) {
            let is_met = match trace.is_negated {
                false => takes.clone(),
                true if Some(step.to) == trace.end => takes.clone().and(earlier.clone().not()),
                true => SymbolicTruth::Never,
            };
            any = any.or(is_met);
            earlier = earlier.or(takes);
        }
        met = met.or(SymbolicTruth::When(is_at(trace, from, seen.span)).and(any));
    }
    match trace.is_negated {
        false => scope.not().or(met),
        true => scope.and(met).not(),
    }
}

fn is_at(trace: &TraceAutomaton, location: i64, span: Span) -> ir::Expr {
    let read = ir::Expr::new(ir::ExprKind::Read(Place::variable(trace.variable, span)), span);
    let location = ir::Expr::constant(location, span);
    let kind = ir::ExprKind::Binary(BinaryOp::Equal, Box::new(read), Box::new(location));
    ir::Expr::new(kind, span)
}

/// Returns the statement that advances the automaton.
fn step(trace: &TraceAutomaton, seen: &ObservedEvent<'_>) -> ir::Stmt {
    let span = seen.span;
    let go = |to: i64| {
        let target = Place::variable(trace.variable, span);
        let value = ir::Expr::constant(to, span);
        let kind = StmtKind::Assign { target, value, overflow: OverflowRule::Wraps };
        ir::Stmt { kind, span }
    };
    let give_up: Vec<ir::Stmt> =
        trace.end.filter(|_| trace.is_negated).map(go).into_iter().collect();
    let mut branches = Vec::new();
    for from in locations(trace) {
        let steps = steps_from(trace, seen, from);
        let mut ways: Vec<(Option<ir::Expr>, Vec<ir::Stmt>)> = Vec::new();
        for (at, (step, takes)) in steps.iter().enumerate() {
            let later = steps[at + 1..]
                .iter()
                .fold(SymbolicTruth::Never, |any, (_, it)| any.or(it.clone()));
            let is_last = trace.is_negated && Some(step.to) == trace.end;
            let mut body = Vec::new();
            match later {
                SymbolicTruth::Never => {}
                _ if is_last => {}
                later => body.push(several(trace, seen, later)),
            }
            body.push(go(step.to));
            match takes.clone() {
                SymbolicTruth::Never => continue,
                takes => ways.push((takes.condition(span), body)),
            }
            if ways.last().is_some_and(|(condition, _)| condition.is_none()) {
                break;
            }
        }
        if ways.last().is_none_or(|(condition, _)| condition.is_some()) && !give_up.is_empty() {
            ways.push((None, give_up.clone()));
        }
        let body = match ways.as_slice() {
            [] => continue,
            [(None, body)] => body.clone(),
            _ => vec![ir::Stmt { kind: StmtKind::If(ways), span }],
        };
        branches.push((vec![ir::Expr::constant(from, span)], body));
    }
    if !give_up.is_empty() {
        branches.push((Vec::new(), give_up));
    }
    let subject = ir::Expr::new(ir::ExprKind::Read(Place::variable(trace.variable, span)), span);
    ir::Stmt { kind: StmtKind::Switch(subject, branches), span }
}

/// Returns the error statement for an event that several steps accept.
fn several(trace: &TraceAutomaton, seen: &ObservedEvent<'_>, when: SymbolicTruth) -> ir::Stmt {
    let span = seen.span;
    let text = format!(
        "{} is taken by several steps of the {}, which must be deterministic",
        seen.text, trace.title
    );
    let error = ir::Stmt { kind: StmtKind::Error(text), span };
    match when.condition(span) {
        None => error,
        Some(when) => ir::Stmt { kind: StmtKind::If(vec![(Some(when), vec![error])]), span },
    }
}
