//! The generation of actions, starts and properties.

use super::{Bound, Builder, Recipe, exprs, stmts};
use spillway::ir::{
    Action, ActionControl, BinaryOp, ChannelId, ChannelRef, Communication, EndRule, Entity, Expr,
    ExprKind, LocationId, Parameter, ProcessEdge, ProcessId, ProgramProperty, PropertyKind,
    StartRule, Stmt,
};

/// The maximum number of actions of a process in lockstep.
const LOCKSTEP_MAX: usize = 5;

impl<'a> Builder<'a> {
    pub(super) fn code(&mut self, recipe: &'a Recipe) {
        for numbers in &recipe.functions {
            self.begin_part(numbers);
            self.function();
        }
        let processes: Vec<ProcessId> = self.program.processes.keys().collect();
        let most = if self.is_lockstep() { LOCKSTEP_MAX } else { usize::MAX };
        for (process, (_, actions)) in processes.into_iter().zip(&recipe.processes) {
            for (at, numbers) in actions.iter().take(most).enumerate() {
                self.begin_part(numbers);
                let edge = self.edge(process, at);
                let first = at < self.program.processes[process].locations.len();
                self.action(Some(edge), first);
            }
        }
        if !self.is_lockstep() {
            for numbers in &recipe.free {
                self.begin_part(numbers);
                self.action(None, false);
            }
        }
        for (at, numbers) in recipe.starts.iter().enumerate() {
            self.begin_part(numbers);
            self.start(at == 0);
        }
        for numbers in &recipe.properties {
            self.begin_part(numbers);
            self.property();
        }
    }

    /// Returns an edge for an action. The first edges leave distinct locations, so that every location has an exit.
    fn edge(&mut self, process: ProcessId, at: usize) -> ProcessEdge {
        let locations = self.program.processes[process].locations.len();
        let from = if at < locations { at } else { self.choices.below(locations) };
        let to = match self.choices.chance(40) {
            true => self.choices.below(locations),
            false => (from + 1) % locations,
        };
        let (from, to) = (LocationId::from_index(from), LocationId::from_index(to));
        ProcessEdge { process, from, to }
    }

    /// Adds an action; a mild one is enabled in most states.
    fn action(&mut self, edge: Option<ProcessEdge>, mild: bool) {
        let recklessness = self.recklessness;
        if mild {
            self.recklessness /= 4;
        }
        let span = self.span();
        let parameters = self.parameters(&[65, 27, 8]);
        let guard = self.guard(if mild { 15 } else { 55 });
        let communication = self.message(edge, if mild { 15 } else { 45 });
        let body = self.body();
        let name = format!("a{}", self.program.actions.len());
        let (priority, control) = (0, ActionControl::default());
        let action =
            Action { name, edge, parameters, guard, communication, body, priority, control, span };
        self.program.actions.push(action);
        self.recklessness = recklessness;
    }

    fn parameters(&mut self, weights: &[u32]) -> Vec<Parameter> {
        let count = self.choices.weighted(weights);
        (0..count)
            .map(|at| {
                let over = self.choices.pick(&self.small);
                let ((low, high), local) = (self.bounds(over), self.local());
                self.locals.push(Bound { local, low, high, position_in: None });
                Parameter { local, name: format!("p{at}"), over }
            })
            .collect()
    }

    fn guard(&mut self, percent: u64) -> Option<Expr> {
        self.choices.chance(percent).then(|| self.rooted(Self::condition))
    }

    /// Returns a condition that holds in some states.
    pub(super) fn condition(&mut self) -> Expr {
        match self.choices.below(2) {
            0 => self.comparison(),
            _ => self.any_expr(exprs::DEPTH),
        }
    }

    /// Returns a comparison of a scalar with one of its values.
    fn comparison(&mut self) -> Expr {
        let part = self.part(|it, part| {
            !part.is_in_multiset() && it.scalar(part.ty).is_some_and(|scalar| !scalar.undefined)
        });
        let Some(part) = part else { return self.any_expr(1) };
        let (low, high) = self.bounds(part.ty);
        let place = self.place(&part, 1);
        let left = self.expr(ExprKind::Read(place));
        let right = self.any_within(low, high, 1);
        let operator = self.choices.pick(&[
            BinaryOp::LessEqual,
            BinaryOp::GreaterEqual,
            BinaryOp::NotEqual,
            BinaryOp::Less,
            BinaryOp::Greater,
            BinaryOp::Equal,
        ]);
        self.binary(operator, left, right)
    }

    fn message(&mut self, edge: Option<ProcessEdge>, percent: u64) -> Option<Communication> {
        let channels: Vec<ChannelId> = match edge {
            Some(_) => self.program.channels.keys().collect(),
            None => self.buffered(),
        };
        if channels.is_empty() || !self.choices.chance(percent) {
            return None;
        }
        let channel = self.choices.pick(&channels);
        let sends = self.choices.chance(50);
        let sends = if self.choices.chance(75) { self.lacks_senders(channel) } else { sends };
        Some(self.rooted(|it| it.communication(channel, sends)))
    }

    /// Returns whether fewer actions send on a channel than receive, or none sends.
    fn lacks_senders(&self, channel: ChannelId) -> bool {
        let here = |it: &&Communication| *it.channel() == ChannelRef::Named(channel);
        let all = self.program.actions.values().filter_map(|it| it.communication.as_ref());
        let (sends, receives): (Vec<_>, Vec<_>) =
            all.filter(here).partition(|it| matches!(it, Communication::Send { .. }));
        sends.len() <= receives.len()
    }

    fn body(&mut self) -> Vec<Stmt> {
        let advance = if self.choices.chance(60) { self.advance_something() } else { None };
        advance.into_iter().chain(self.block(stmts::DEPTH)).collect()
    }

    fn start(&mut self, mild: bool) {
        let recklessness = self.recklessness;
        if mild {
            self.recklessness = 0;
        }
        let span = self.span();
        let parameters = self.parameters(&[70, 30]);
        let body = if self.choices.chance(60) { self.body() } else { vec![] };
        let name = format!("s{}", self.program.starts.len());
        self.program.starts.push(StartRule { name, parameters, body, span });
        self.recklessness = recklessness;
    }

    fn property(&mut self) {
        let name = format!("q{}", self.program.properties.len());
        let span = self.span();
        let somewhere = !self.program.processes.is_empty() && self.choices.chance(50);
        let kind = match somewhere {
            false => {
                let condition = self.rooted(Self::condition);
                // The number of properties so far decides, so that no choice is consumed.
                let is_at_end = self.program.properties.len() % 2 == 1;
                match is_at_end && self.program.end == EndRule::AllAtValidEnd {
                    true => PropertyKind::AtEnd(condition),
                    false => PropertyKind::Invariant(condition),
                }
            }
            true => {
                let process = self.choices.below(self.program.processes.len());
                let process = ProcessId::from_index(process);
                let locations = self.program.processes[process].locations.len();
                let location = LocationId::from_index(self.choices.below(locations));
                let condition = self.rooted(Self::condition);
                PropertyKind::AssertionAt { process, location, condition }
            }
        };
        self.program.properties.push(ProgramProperty { name, kind, span });
    }
}
