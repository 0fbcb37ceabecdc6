//! Validation of actions, functions, starts, properties and their statements (rules 14 and 18 to 32).

use super::{CodeScope, LocalBinding, ProgramValidator, Rule, WriteReach};
use crate::{
    Action, CallArgument, ChannelRef, Claim, ClaimMove, Communication, Entity, Expr, Function,
    FunctionId, LocalId, Parameter, Place, Process, ProcessId, ProgramProperty, PropertyId,
    PropertyKind, Schedule, StartRule, Stmt, StmtKind, TurnRule, TypeId,
};
use spillway_base::source::Span;

impl ProgramValidator<'_> {
    pub(super) fn code(&mut self) {
        let program = self.program;
        program.processes.iter().for_each(|(id, process)| self.life(id, process));
        program.actions.values().for_each(|action| self.action(action));
        program.functions.iter().for_each(|(id, function)| self.function(id, function));
        program.starts.iter().for_each(|start| self.start(start));
        program.properties.values().for_each(|property| self.property(property));
        self.recursion_and_effects();
    }

    fn enter(&mut self, mover: Option<ProcessId>, function: Option<FunctionId>) {
        self.scope.locals.clear();
        self.scope = CodeScope { mover, function, locals: std::mem::take(&mut self.scope.locals) };
    }

    fn action(&mut self, action: &Action) {
        if let Some(edge) = action.edge {
            let known = self.known_location(edge.process, edge.from, action.span)
                && self.known_location(edge.process, edge.to, action.span);
            if !known {
                return;
            }
        }
        let in_step = action.edge.is_some() || self.program.schedule == Schedule::Interleaved;
        self.require(in_step, Rule::Lockstep, action.span, || {
            format!("action {} belongs to no process, in a program in lockstep", action.name)
        });
        self.enter(action.edge.map(|edge| edge.process), None);
        self.parameters(&action.parameters, action.span);
        if let Some(guard) = &action.guard {
            self.expr(guard);
        }
        if let Some(communication) = &action.communication {
            self.communication(communication);
            self.rendezvous(communication);
        }
        self.body(&action.body);
    }

    fn life(&mut self, id: ProcessId, process: &Process) {
        self.enter(Some(id), None);
        if let Some(provided) = &process.life.provided {
            self.expr(provided);
        }
        self.body(&process.life.prologue);
    }

    fn parameters(&mut self, parameters: &[Parameter], span: Span) {
        for parameter in parameters {
            self.ranges(parameter.over, span);
            self.bind(parameter.local, LocalBinding::Value, span);
        }
    }

    fn function(&mut self, id: FunctionId, function: &Function) {
        self.enter(None, Some(id));
        for parameter in &function.parameters {
            self.bind(parameter.local, LocalBinding::Place(parameter.ty), function.span);
            if parameter.by_reference {
                self.stands_for(parameter.local, WriteReach::Given);
            }
        }
        self.body(&function.body);
    }

    fn start(&mut self, start: &StartRule) {
        self.enter(None, None);
        self.parameters(&start.parameters, start.span);
        self.body(&start.body);
    }

    fn property(&mut self, property: &ProgramProperty) {
        match &property.kind {
            PropertyKind::Invariant(condition)
            | PropertyKind::Cover(condition)
            | PropertyKind::AtEnd(condition)
            | PropertyKind::Constraint(condition)
            | PropertyKind::Assumption(condition) => {
                self.enter(None, None);
                self.expr(condition);
            }
            PropertyKind::AssertionAt { process, location, condition } => {
                if self.known_location(*process, *location, property.span) {
                    self.enter(Some(*process), None);
                    self.expr(condition);
                }
            }
            PropertyKind::Automaton(_) | PropertyKind::Reached => {}
            PropertyKind::Claim(claim) => self.claim(claim, property),
        }
    }

    /// Checks rule 35.
    fn claim(&mut self, claim: &Claim, property: &ProgramProperty) {
        let count = claim.locations.len();
        self.require(count > 0 && claim.start.index() < count, Rule::Claims, property.span, || {
            format!("the claim {} begins nowhere", property.name)
        });
        for ClaimMove { from, to, action } in &claim.moves {
            let inside = from.index() < count && to.index() < count;
            let plain = action.edge.is_none()
                && action.parameters.is_empty()
                && action.communication.is_none()
                && action.control.turn != TurnRule::First;
            let only_says =
                |stmt: &Stmt| matches!(stmt.kind, StmtKind::Assert { .. } | StmtKind::Print { .. });
            let watches = inside && plain && action.body.iter().all(only_says);
            self.require(watches, Rule::Claims, action.span, || {
                format!("the claim {} does more than watch", property.name)
            });
            self.enter(None, None);
            action.guard.iter().for_each(|guard| self.expr(guard));
            self.body(&action.body);
        }
    }

    fn communication(&mut self, communication: &Communication) {
        let span = communication.span();
        match communication {
            Communication::Send { channel, values, sorted, .. } => {
                self.message(channel, values, span);
                if *sorted {
                    self.buffered(channel, span, "sent to in order");
                }
            }
            Communication::Receive { channel, patterns, anywhere, peek, .. } => {
                self.patterns(channel, patterns, span);
                if *anywhere || *peek {
                    self.buffered(channel, span, "searched or peeked into");
                }
            }
        }
    }

    fn message(&mut self, channel: &ChannelRef, values: &[Expr], span: Span) {
        self.channel_ref(channel, span);
        let fields = self.fields(channel, values.len(), span);
        for (at, value) in values.iter().enumerate() {
            self.value(value, fields.and_then(|fields| fields.get(at)).copied());
        }
    }

    /// Checks rule 20.
    fn rendezvous(&mut self, communication: &Communication) {
        let between = self.scope.mover.is_some() || !self.is_rendezvous(communication.channel());
        self.require(between, Rule::Rendezvous, communication.span(), || {
            "a rendezvous is met by an action of no process".into()
        });
    }

    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::If(branches) => self.branches(branches, span),
            StmtKind::Switch(subject, cases) => self.switch(subject, cases, span),
            StmtKind::For { local, first, last, step, body } => {
                [first, last, step].into_iter().for_each(|bound| self.expr(bound));
                self.require(step.as_constant() != Some(0), Rule::Loops, step.span, || {
                    "a loop goes on in steps of 0".into()
                });
                self.binding(*local, LocalBinding::Value, span, |checker| checker.body(body));
            }
            StmtKind::ForEach { local, over, body } => {
                self.ranges(*over, span);
                self.binding(*local, LocalBinding::Value, span, |checker| checker.body(body));
            }
            StmtKind::Declare { local, ty, body, .. } => {
                if self.known_type(*ty, span) {
                    let place = LocalBinding::Place(*ty);
                    self.binding(*local, place, span, |checker| checker.body(body));
                }
            }
            StmtKind::While { condition, body, limit } => {
                self.expr(condition);
                self.require(*limit > 0, Rule::Loops, span, || {
                    "a loop is limited to no rounds".into()
                });
                self.body(body);
            }
            StmtKind::Alias { local, place, body, .. } => self.alias(*local, place, body, span),
            StmtKind::Call { function, arguments, into } => {
                let reach = into.as_ref().map_or(WriteReach::Own, |place| self.reach_of(place));
                self.functions.changes(self.scope.function, reach);
                self.call(*function, arguments, into.as_ref(), span);
            }
            StmtKind::Return(value) => self.return_(value.as_ref(), span),
            StmtKind::Assume(condition) => {
                // Cancelling the step is a change that an expression cannot make.
                self.functions.changes(self.scope.function, WriteReach::State);
                self.expr(condition);
            }
            StmtKind::Assert { condition, .. } => self.expr(condition),
            StmtKind::Cover { property, condition } => self.cover(*property, condition, span),
            StmtKind::Error(_) => {}
            StmtKind::Print { format, values } => self.print(format, values, span),
            _ => {
                let reach = written(&stmt.kind).map_or(WriteReach::State, |it| self.reach_of(it));
                self.functions.changes(self.scope.function, reach);
                self.effect(&stmt.kind, span);
            }
        }
    }

    /// Checks rule 36.
    fn cover(&mut self, property: PropertyId, condition: &Expr, span: Span) {
        let met = self.program.properties.get(property).map(|it| &it.kind);
        let is_met = matches!(met, Some(PropertyKind::Reached));
        self.require(is_met, Rule::Covers, span, || {
            format!("a statement meets {property:?}, which no statement can meet")
        });
        self.expr(condition);
    }

    fn alias(&mut self, local: LocalId, place: &Place, body: &[Stmt], span: Span) {
        let reach = self.reach_of(place);
        let Some(ty) = self.place(place) else { return };
        self.binding(local, LocalBinding::Place(ty), span, |checker| {
            checker.stands_for(local, reach);
            checker.body(body);
        });
    }

    /// Checks statements that change the state.
    fn effect(&mut self, kind: &StmtKind, span: Span) {
        match kind {
            StmtKind::Assign { target, value, .. } => self.assign(target, value),
            StmtKind::Copy { target, source } => self.copy(target, source, span),
            StmtKind::Undefine(place) => self.undefine(place),
            StmtKind::Clear(place) => {
                self.place(place);
            }
            StmtKind::Communicate(communication) => {
                self.communication(communication);
                self.buffered(communication.channel(), span, "used inside a body");
            }
            StmtKind::Run { process, arguments, into } => {
                self.run(*process, arguments, span);
                if let Some(place) = into {
                    self.scalar_place(place);
                }
            }
            StmtKind::Exit => {
                let right = self.scope.mover.is_some_and(|process| self.has_slots(process));
                self.require(right, Rule::Instances, span, || {
                    "what exits here is no process with slots".into()
                });
            }
            StmtKind::MultisetAdd { multiset, element } => self.add(multiset, element, span),
            StmtKind::MultisetRemove { multiset, position } => {
                self.multiset(multiset);
                self.expr(position);
            }
            _ => unreachable!("the other statements are checked above"),
        }
    }

    /// Checks rule 26.
    fn branches(&mut self, branches: &[(Option<Expr>, Vec<Stmt>)], span: Span) {
        for (at, (condition, body)) in branches.iter().enumerate() {
            match condition {
                Some(condition) => self.expr(condition),
                None => self.last(at, branches.len(), span),
            }
            self.body(body);
        }
    }

    /// Checks rule 26.
    fn switch(&mut self, subject: &Expr, cases: &[(Vec<Expr>, Vec<Stmt>)], span: Span) {
        self.expr(subject);
        for (at, (values, body)) in cases.iter().enumerate() {
            values.iter().for_each(|value| self.expr(value));
            if values.is_empty() {
                self.last(at, cases.len(), span);
            }
            self.body(body);
        }
    }

    fn last(&mut self, at: usize, count: usize, span: Span) {
        self.require(at + 1 == count, Rule::Branches, span, || {
            format!("branch {} of {count} has no condition and is not the last", at + 1)
        });
    }

    /// Checks rule 24.
    fn return_(&mut self, value: Option<&Expr>, span: Span) {
        let result = self.scope.function.and_then(|it| self.program.functions[it].result);
        self.require(value.is_some() == result.is_some(), Rule::Returns, span, || match result {
            Some(_) => "a function with a result returns none".into(),
            None => "a value is returned where there is no result".into(),
        });
        if let Some(value) = value {
            self.value(value, result);
        }
    }

    /// Checks rule 31.
    fn print(&mut self, format: &str, values: &[Expr], span: Span) {
        let places = format.matches("{}").count();
        self.require(places == values.len(), Rule::Prints, span, || {
            format!("{} values for the {places} places of a print", values.len())
        });
        values.iter().for_each(|value| self.expr(value));
    }

    fn assign(&mut self, target: &Place, value: &Expr) {
        let ty = self.scalar_place(target);
        self.value(value, ty);
    }

    /// Checks rule 28.
    fn copy(&mut self, target: &Place, source: &Place, span: Span) {
        let (Some(target), Some(source)) = (self.place(target), self.place(source)) else {
            return;
        };
        self.require(self.types.have_same_shape(target, source), Rule::Copies, span, || {
            "a copy is between different shapes".into()
        });
    }

    /// Checks rule 27.
    fn undefine(&mut self, place: &Place) {
        let Some(ty) = self.place(place) else { return };
        self.require(self.types.may_be_undefined(ty), Rule::Undefined, place.span, || {
            "what is made undefined may not be".into()
        });
    }

    /// Checks rule 29.
    fn run(&mut self, process: ProcessId, arguments: &[Expr], span: Span) {
        if !self.known_process(process, span) {
            return arguments.iter().for_each(|argument| self.expr(argument));
        }
        let template = &self.program.processes[process];
        let expected = template.parameters.len();
        self.require(self.has_slots(process), Rule::Instances, span, || {
            format!("process {} is run, but is always there", template.name)
        });
        self.require(arguments.len() == expected, Rule::Instances, span, || {
            format!(
                "{} values for process {}, which takes {expected}",
                arguments.len(),
                template.name
            )
        });
        for (at, argument) in arguments.iter().enumerate() {
            let parameter = template.parameters.get(at);
            self.value(argument, parameter.map(|&id| self.program.variables[id].ty));
        }
    }

    /// Checks rule 14.
    fn add(&mut self, multiset: &Place, element: &CallArgument, span: Span) {
        let expected = self.multiset(multiset);
        let given = match element {
            CallArgument::Value(value) => {
                self.value(value, expected);
                return self.fits_as_value(expected, span);
            }
            CallArgument::Copy(place) | CallArgument::Reference(place) => self.place(place),
        };
        let (Some(expected), Some(given)) = (expected, given) else { return };
        self.require(self.types.have_same_shape(expected, given), Rule::Multisets, span, || {
            "what is added has another shape than the multiset's elements".into()
        });
    }

    fn fits_as_value(&mut self, element: Option<TypeId>, span: Span) {
        let Some(element) = element else { return };
        self.require(self.is_scalar(element), Rule::Multisets, span, || {
            "a single value is added to a multiset of aggregates".into()
        });
    }
}

/// Returns the place that a statement writes, if it writes exactly one.
fn written(kind: &StmtKind) -> Option<&Place> {
    match kind {
        StmtKind::Assign { target: place, .. }
        | StmtKind::Copy { target: place, .. }
        | StmtKind::Undefine(place)
        | StmtKind::Clear(place)
        | StmtKind::MultisetAdd { multiset: place, .. }
        | StmtKind::MultisetRemove { multiset: place, .. } => Some(place),
        _ => None,
    }
}
