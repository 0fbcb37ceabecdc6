//! Lowering of transitions to actions.

use super::trace_events::ReceiveObservation;
use super::{LoweringResult, PromelaLowering, SymbolMeaning};
use crate::promela::ast::{
    PromelaExpr, PromelaExprKind, PromelaReference, PromelaStmt, PromelaStmtKind, ReceiveField,
};
use crate::promela::graph::{ControlAction, ControlTransition};
use crate::promela::symbols::PromelaType;
use crate::quote::shorten;
use spillway_base::diag::Diagnostic;
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, Action, ActionControl, BinaryOp, Communication, Entity, LocationId, OverflowRule,
    ProcessEdge, ProcessId, UnaryOp,
};
use std::rc::Rc;

/// The maximum number of actions of a program.
const ACTIONS_MAX: usize = 1 << 22;

/// Returns the process that an action starts.
pub(super) fn started_process<'a>(act: &ControlAction<'a>) -> Option<&'a Rc<str>> {
    let ControlAction::Do(stmt) = act else { return None };
    let (PromelaStmtKind::Condition(expr) | PromelaStmtKind::Assign(_, expr)) = &stmt.kind else {
        return None;
    };
    match &expr.kind {
        PromelaExprKind::Run { process, .. } => Some(&process.text),
        _ => None,
    }
}

/// The lowered form of a statement: the condition under which it is enabled, and its effect.
#[derive(Default)]
pub(super) struct GuardedEffect {
    pub(super) guard: Option<ir::Expr>,
    communication: Option<Communication>,
    pub(super) body: Vec<ir::Stmt>,
}

/// The source of a value that is sent or passed.
pub(super) enum SentValue<'a> {
    /// An expression.
    Value(&'a PromelaExpr),
    /// A leaf of a structure.
    Leaf(PromelaType),
}

impl<'m> PromelaLowering<'m, '_> {
    pub(super) fn actions(&mut self, number: usize) -> LoweringResult<()> {
        let bodies = self.bodies;
        for it in &bodies[number].1.transitions {
            if self.program.actions.len() >= ACTIONS_MAX {
                let error = format!("with this, the model has more than {ACTIONS_MAX} actions");
                return Err(Diagnostic::error(it.span, error));
            }
            self.action(number, it)?;
        }
        Ok(())
    }

    fn action(&mut self, number: usize, it: &ControlTransition<'m>) -> LoweringResult<()> {
        let effect = self.effect(&it.act, it.span, number)?;
        let from = LocationId::from_index(it.from);
        let edge = ProcessEdge {
            process: ProcessId::from_index(number),
            from,
            to: it.to.map_or(from, LocationId::from_index),
        };
        let process = super::process_name(self.bodies[number].0);
        let name = format!("{process}: {}", self.text(&it.act, it.span));
        self.program.actions.push(Action {
            name,
            edge: Some(edge),
            parameters: Vec::new(),
            guard: effect.guard,
            communication: effect.communication,
            body: effect.body,
            priority: 0,
            control: ActionControl {
                turn: it.turn,
                tier: it.tier,
                otherwise: matches!(it.act, ControlAction::Otherwise),
            },
            span: it.span,
        });
        Ok(())
    }

    /// Returns the source text on one line, shortened if it is long.
    pub(super) fn text(&self, act: &ControlAction, span: Span) -> String {
        match act {
            ControlAction::Skip => "goto".to_owned(),
            ControlAction::Otherwise => "else".to_owned(),
            ControlAction::Enter(_) => "d_step".to_owned(),
            ControlAction::End => "end".to_owned(),
            ControlAction::Lose(stmt) => {
                format!("{} (lost)", self.text(&ControlAction::Do(stmt), span))
            }
            ControlAction::Do(PromelaStmt { expanded_text: Some(made), .. }) => {
                shorten(made).into_owned()
            }
            ControlAction::Do(_) => {
                let start: String = self.sources.text(span).chars().take(600).collect();
                let words: Vec<&str> = start.split_whitespace().collect();
                shorten(&words.join(" ")).into_owned()
            }
        }
    }

    fn effect(
        &mut self,
        act: &ControlAction<'m>,
        span: Span,
        number: usize,
    ) -> LoweringResult<GuardedEffect> {
        match act {
            ControlAction::Do(stmt) => self.statement(stmt, Some(number)),
            ControlAction::Lose(stmt) => self.loss(stmt, number),
            ControlAction::Skip | ControlAction::Otherwise => Ok(GuardedEffect::default()),
            ControlAction::Enter(options) => self.enter(options, span, number),
            ControlAction::End => {
                // Only the youngest process can end.
                let newest = self.binary(
                    BinaryOp::Subtract,
                    ir::ExprKind::Processes,
                    ir::ExprKind::Constant(1),
                    span,
                );
                let guard = self.binary(BinaryOp::Equal, ir::ExprKind::Self_, newest.kind, span);
                let body = vec![ir::Stmt { kind: ir::StmtKind::Exit, span }];
                Ok(GuardedEffect { guard: Some(guard), body, ..GuardedEffect::default() })
            }
        }
    }

    /// Lowers a send whose message is lost because the channel is full. A rendezvous channel loses no message.
    fn loss(&mut self, stmt: &'m PromelaStmt, number: usize) -> LoweringResult<GuardedEffect> {
        let span = stmt.span;
        let Some(Communication::Send { channel, .. }) =
            self.statement(stmt, Some(number))?.communication
        else {
            return Ok(GuardedEffect::default());
        };
        let meets = || self.program.channels.values().any(|it| it.capacity == 0);
        if matches!(channel, ir::ChannelRef::Computed(_)) && meets() {
            let error =
                "it is not known whether this channel, which is held in a variable, loses messages";
            return Err(Diagnostic::error(span, error)
                .help("with --lossy, send by the channel's own name where there are rendezvous channels, too"));
        }
        let kind = match self.is_rendezvous(&channel) {
            true => ir::ExprKind::Constant(0),
            false => ir::ExprKind::IsFull(channel),
        };
        Ok(GuardedEffect { guard: Some(ir::Expr::new(kind, span)), ..GuardedEffect::default() })
    }

    /// Lowers the entry of a `d_step` that begins with a choice: it is enabled if one of the options is enabled.
    fn enter(
        &mut self,
        options: &[ControlAction<'m>],
        span: Span,
        number: usize,
    ) -> LoweringResult<GuardedEffect> {
        let mut any: Option<ir::Expr> = None;
        for option in options {
            let effect = self.effect(option, span, number)?;
            let Some(possible) = self.possible(effect, span)? else {
                return Ok(GuardedEffect::default());
            };
            any = Some(match any {
                None => possible,
                Some(others) => self.binary(BinaryOp::Or, others.kind, possible.kind, span),
            });
        }
        Ok(GuardedEffect { guard: any, ..GuardedEffect::default() })
    }

    /// Returns the condition under which an action is enabled; `None` means always.
    fn possible(&self, effect: GuardedEffect, span: Span) -> LoweringResult<Option<ir::Expr>> {
        let ready = match effect.communication {
            None => None,
            Some(it) if self.is_rendezvous(it.channel()) => {
                return Err(Diagnostic::error(
                    span,
                    "this d_step begins with a choice of rendezvous",
                )
                .help("put the rendezvous before the d_step"));
            }
            Some(Communication::Send { channel, .. }) => {
                let full = Box::new(ir::Expr::new(ir::ExprKind::IsFull(channel), span));
                Some(ir::ExprKind::Unary(UnaryOp::Not, full))
            }
            Some(Communication::Receive { channel, patterns, anywhere, .. }) => {
                let patterns = patterns.into_iter().map(|pattern| match pattern {
                    ir::ReceivePattern::Into(_) => ir::ReceivePattern::Any,
                    other => other,
                });
                Some(ir::ExprKind::CanReceive(channel, patterns.collect(), anywhere))
            }
        };
        Ok(match (effect.guard, ready) {
            (guard, None) => guard,
            (None, Some(kind)) => Some(ir::Expr::new(kind, span)),
            (Some(guard), Some(kind)) => Some(self.binary(BinaryOp::And, guard.kind, kind, span)),
        })
    }

    /// Lowers a statement of a process or of a claim.
    pub(super) fn statement(
        &mut self,
        stmt: &'m PromelaStmt,
        inside: Option<usize>,
    ) -> LoweringResult<GuardedEffect> {
        let span = stmt.span;
        // The statements of a claim do not use the number.
        let number = inside.unwrap_or_default();
        let mut effect = GuardedEffect::default();
        match &stmt.kind {
            PromelaStmtKind::Condition(PromelaExpr {
                kind: PromelaExprKind::Run { .. }, ..
            }) => {
                let PromelaStmtKind::Condition(run) = &stmt.kind else { return Ok(effect) };
                effect.body = self.run(run, None, number)?;
            }
            PromelaStmtKind::Condition(condition) => {
                let condition = self.expr(condition, inside)?;
                if condition.as_constant().is_none_or(|value| value == 0) {
                    effect.guard = Some(condition);
                }
            }
            PromelaStmtKind::Assign(target, value) => {
                effect.body = self.assign(target, value, number)?
            }
            PromelaStmtKind::Fill(target, values) => {
                for (at, value) in values.iter().enumerate() {
                    let index = PromelaExpr { kind: PromelaExprKind::Number(at as i64), span };
                    let target =
                        PromelaReference { index: Some(Box::new(index)), ..target.clone() };
                    effect.body.extend(self.assign(&target, value, number)?);
                }
            }
            PromelaStmtKind::Send { channel, values, sorted } => {
                let to = self.channel(channel, inside)?;
                let sent = self.message(channel, values, span, inside)?;
                let sorted = *sorted && !self.is_rendezvous(&to);
                let sent = Communication::Send { channel: to, values: sent, sorted, span };
                self.warn_of_misfit(channel, &sent);
                if let Communication::Send { channel, values, .. } = &sent {
                    effect.body = self.observe_send(stmt, channel, values)?;
                }
                effect.communication = Some(sent);
            }
            PromelaStmtKind::Receive { channel: name, fields, anywhere, peek } => {
                let channel = self.channel(name, inside)?;
                let patterns = self.patterns(name, fields, false, inside)?;
                self.note_receive(name, fields)?;
                let meets = self.is_rendezvous(&channel);
                if meets && *peek {
                    self.warn(span, "a rendezvous channel holds no message, so this never happens");
                    effect.guard = Some(ir::Expr::constant(0, span));
                    return Ok(effect);
                }
                let observed = match peek {
                    true => ReceiveObservation { patterns, body: Vec::new() },
                    false => self.observe_receive(stmt, &channel, patterns)?,
                };
                effect.body = observed.body;
                let communication = Communication::Receive {
                    channel,
                    patterns: observed.patterns,
                    anywhere: *anywhere && !meets,
                    peek: *peek,
                    span,
                };
                self.warn_of_misfit(name, &communication);
                effect.communication = Some(communication);
            }
            PromelaStmtKind::Assert(condition) => {
                let message = match self.text(&ControlAction::Do(stmt), condition.span) {
                    made if stmt.expanded_text.is_some() => {
                        made.trim_start_matches("assert").trim().to_owned()
                    }
                    text => text,
                };
                let condition = self.expr(condition, inside)?;
                let asserted = ir::AssertionKind::Condition;
                let kind = ir::StmtKind::Assert { condition, message, asserted };
                effect.body.push(ir::Stmt { kind, span });
            }
            PromelaStmtKind::Print(text, values) => {
                let values: LoweringResult<Vec<ir::Expr>> =
                    values.iter().map(|value| self.expr(value, inside)).collect();
                let values = values?;
                let format = format_of(text, values.len());
                let kind = ir::StmtKind::Print { format, values };
                effect.body.push(ir::Stmt { kind, span });
            }
            PromelaStmtKind::SetPriority(pid, priority) => {
                effect.body = self.set_priority(pid, priority, number, span)?;
            }
            _ => {}
        }
        Ok(effect)
    }

    /// Records the received values that are stored to variables of `mtype` sets.
    fn note_receive(
        &mut self,
        name: &PromelaReference,
        fields: &[ReceiveField],
    ) -> LoweringResult<()> {
        let mut leaves = Vec::new();
        for field in fields {
            match field {
                ReceiveField::Into(reference) => {
                    let basic = self.part(reference)?.0;
                    leaves.extend(self.model.symbols.leaves(basic).into_iter().map(Some));
                }
                ReceiveField::Match(_) | ReceiveField::Any(_) => leaves.push(None),
            }
        }
        let sent = self.fields_of(name, leaves.len());
        for (at, leaf) in leaves.into_iter().enumerate() {
            let from = sent.as_ref().and_then(|fields| fields.get(at).copied());
            if let Some(into) = leaf {
                self.note_copy(into, from);
            }
        }
        Ok(())
    }

    fn assign(
        &mut self,
        target: &PromelaReference,
        value: &PromelaExpr,
        number: usize,
    ) -> LoweringResult<Vec<ir::Stmt>> {
        let span = target.span;
        let inside = Some(number);
        if matches!(self.meanings.get(&target.symbol), Some(SymbolMeaning::Nothing)) {
            return Ok(Vec::new());
        }
        if let PromelaExprKind::Run { .. } = value.kind {
            let place = self.place(target, inside)?;
            return self.run(value, Some(place), number);
        }
        let (basic, _) = self.part(target)?;
        if let PromelaType::Struct(_) = basic {
            // The initial value of a structure that is declared between statements.
            let PromelaExprKind::Variable(source) = &value.kind else { return Ok(Vec::new()) };
            return self.copy_structure(target, source, number);
        }
        let place = self.place(target, inside)?;
        self.note_store(basic, value);
        let value = self.expr(value, inside)?;
        let kind = ir::StmtKind::Assign { target: place, value, overflow: OverflowRule::Wraps };
        Ok(vec![ir::Stmt { kind, span }])
    }

    /// Returns the leaf values of a message that is sent to the channel `name`.
    fn message(
        &mut self,
        name: &PromelaReference,
        values: &[PromelaExpr],
        span: Span,
        inside: Option<usize>,
    ) -> LoweringResult<Vec<ir::Expr>> {
        let mut given = Vec::new();
        for value in values {
            self.argument_values(value, inside, &mut given)?;
        }
        let (sent, sources): (Vec<_>, Vec<_>) = given.into_iter().unzip();
        self.has_room(sent.len(), span)?;
        if let Some(fields) = self.fields_of(name, sent.len()) {
            for (&field, source) in fields.iter().zip(&sources) {
                self.note_transfer(field, source);
            }
        } else {
            // The channel is unknown, so names of any set may mix with numbers.
            self.bytes.extend(0..self.model.symbols.sets.len());
        }
        Ok(sent)
    }

    /// Rejects a message with more values than the messages of every channel, as SPIN does.
    fn has_room(&self, given: usize, span: Span) -> LoweringResult<()> {
        let most = self.model.symbols.messages().map(|it| it.len()).max().unwrap_or_default();
        if given <= most {
            return Ok(());
        }
        let error = format!(
            "too many parameters in send: this sends {given} values, but messages have at most {most}"
        );
        Err(Diagnostic::error(span, error))
    }

    fn run(
        &mut self,
        expr: &PromelaExpr,
        into: Option<ir::Place>,
        number: usize,
    ) -> LoweringResult<Vec<ir::Stmt>> {
        let PromelaExprKind::Run { process, arguments, priority } = &expr.kind else {
            return Ok(Vec::new());
        };
        let span = expr.span;
        let started = self.process_named(process)?;
        let values = self.run_arguments(started, arguments, span, number)?;
        let id = ProcessId::from_index(started);
        let kind = ir::StmtKind::Run { process: id, arguments: values, into };
        let mut body = vec![ir::Stmt { kind, span }];
        if let Some(variable) = self.program.processes[id].life.priority {
            let value = ir::Expr::constant(priority.unwrap_or(1), span);
            body.push(self.set_newest_priority(id, variable, value, span));
        }
        Ok(body)
    }

    /// Stores the priority of the process that has the pid.
    fn set_priority(
        &mut self,
        pid: &PromelaExpr,
        priority: &PromelaExpr,
        number: usize,
        span: Span,
    ) -> LoweringResult<Vec<ir::Stmt>> {
        let pid = self.expr(pid, Some(number))?;
        let value = self.expr(priority, Some(number))?;
        let mut body = Vec::new();
        for id in self.program.processes.keys() {
            let Some(variable) = self.program.processes[id].life.priority else { continue };
            let slot = ir::Expr::new(ir::ExprKind::SlotOf(id, Box::new(pid.clone())), span);
            let slots = i64::from(self.program.slots(id));
            let there =
                self.binary(BinaryOp::Less, slot.kind.clone(), ir::ExprKind::Constant(slots), span);
            let target =
                ir::Place { slot: Some(Box::new(slot)), ..ir::Place::variable(variable, span) };
            let kind = ir::StmtKind::Assign {
                target,
                value: value.clone(),
                overflow: OverflowRule::Wraps,
            };
            let store = ir::Stmt { kind, span };
            let kind = ir::StmtKind::If(vec![(Some(there), vec![store])]);
            body.push(ir::Stmt { kind, span });
        }
        Ok(body)
    }
}

/// Converts a format string of C to a text with `{}` for each value.
fn format_of(text: &str, values: usize) -> String {
    let mut format = String::new();
    let mut left = values;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '%' if characters.peek() == Some(&'%') => {
                characters.next();
                format.push('%');
            }
            '%' if left > 0 && characters.peek().is_some() => {
                characters.next();
                left -= 1;
                format.push_str("{}");
            }
            '{' | '}' => format.push(if character == '{' { '(' } else { ')' }),
            other => format.push(other),
        }
    }
    (0..left).for_each(|_| format.push_str(" {}"));
    format
}
