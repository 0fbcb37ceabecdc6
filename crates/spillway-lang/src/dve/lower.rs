//! Lowering of transitions to actions.
//!
//! Actions follow the order of processes and of their transitions in the source. A process of a family is lowered once
//! for each member. The transitions of a property process are checked, but do not become actions.
//!
//! The number of fields of an untyped channel is the number of values in its uses; all uses that have values must
//! agree. A receive without variables discards the message.

use super::ast::{DveExpr, DveModel, DveProcess, DveSync, DveTransition};
use super::check::DiagnosticSink;
use super::declare::DeclarationBuilder;
use super::scope::{DveProcessInstance, DveScope, DveSymbols};
use crate::quote::{QUOTE_MAX, quote, shorten};
use spillway_base::source::Span;
use spillway_ir::{
    self as ir, Action, ActionControl, ActionId, ChannelId, ChannelRef, Communication, Entity,
    OverflowRule, ProcessEdge, ProcessId, Program, ProgramProperty, PropertyKind, ReceivePattern,
    Schedule, StartRule, Stmt, StmtKind, TypeId, UncheckedKind, UncheckedRequirement,
};

/// The maximum number of actions of a program.
const ACTIONS_MAX: usize = 1 << 22;

/// Propositions about a model.
pub(super) struct DvePropositions<'p, 'a> {
    /// The conditions.
    pub(super) conditions: &'p [DveExpr<'a>],
    /// Whether they are the guards of the model's property process, and are resolved in its scope.
    pub(super) are_of_property: bool,
}

/// Lowers the transitions of a model, and propositions about it; `declarations` holds its declarations.
pub(super) fn lower<'a>(
    model: &DveModel<'a>,
    propositions: &DvePropositions<'_, 'a>,
    mut declarations: DeclarationBuilder<'_, 'a>,
    overflow: OverflowRule,
    report: &DiagnosticSink<'a>,
) -> (Program, Vec<ir::Expr>) {
    let any_value = declarations.any_value();
    let DeclarationBuilder { program, world, .. } = declarations;
    let &DvePropositions { conditions, are_of_property } = propositions;
    let mut lowering = DveLowering { program, report, overflow, uses: Vec::new() };
    lowering.system(model, &world);
    let property = lowering.property(model, &world, are_of_property);
    for member in &world.members {
        let process = &model.processes[member.template];
        let scope = DveScope { world: &world, member: Some(member), report };
        lowering.process(scope, member, process, property == Some(member.id));
    }
    lowering.untyped_channels(&world, any_value);
    let member = world.members.iter().find(|it| are_of_property && property == Some(it.id));
    let about = DveScope { world: &world, member, report };
    let conditions = conditions.iter().map(|it| about.lower(it)).collect();
    (lowering.program, conditions)
}

struct DveLowering<'r, 'a> {
    program: Program,
    report: &'r DiagnosticSink<'a>,
    overflow: OverflowRule,
    /// The uses of untyped channels.
    uses: Vec<UntypedChannelUse>,
}

/// A use of an untyped channel.
struct UntypedChannelUse {
    channel: ChannelId,
    action: ActionId,
    arity: usize,
    span: Span,
}

impl<'a> DveLowering<'_, 'a> {
    fn system(&mut self, model: &DveModel<'a>, world: &DveSymbols<'a>) {
        self.program.schedule = match model.system.lockstep {
            true => Schedule::Lockstep,
            false => Schedule::Interleaved,
        };
        if model.system.lockstep {
            self.no_rendezvous();
        }
        if world.members.is_empty() {
            self.report.error(Span::default(), "the model has no process");
        }
        self.program.starts.push(StartRule {
            name: "init".to_owned(),
            parameters: Vec::new(),
            body: Vec::new(),
            span: Span::default(),
        });
    }

    /// Reports rendezvous channels, each family once: in lockstep, no process can wait for another.
    fn no_rendezvous(&self) {
        let mut told = None;
        for channel in self.program.channels.values().filter(|it| it.capacity == 0) {
            if told.replace(channel.span) == Some(channel.span) {
                continue;
            }
            let name = quote(self.report.text(channel.span));
            let error = format!("{name} is a rendezvous, which a `system sync` cannot have");
            let help = "give it room, as in `channel {int} c[1];`, or write `system async;`";
            self.report.error_with(channel.span, error, help);
        }
    }

    /// Declares the property process, if there is one. `is_asked` is whether it is the property to check.
    fn property(
        &mut self,
        model: &DveModel<'a>,
        world: &DveSymbols<'a>,
        is_asked: bool,
    ) -> Option<ProcessId> {
        let name = model.system.property?;
        let scope = DveScope { world, member: None, report: self.report };
        let found = super::ast::DveProcessUse { name, member: None };
        let id = scope.process(&found)?.id;
        self.program.properties.push(ProgramProperty {
            name: name.text.to_owned(),
            kind: PropertyKind::Automaton(id),
            span: name.span,
        });
        if !is_asked {
            self.program.unchecked.push(UncheckedRequirement {
                kind: UncheckedKind::PropertyProcess,
                name: name.text.to_owned(),
                span: name.span,
            });
        }
        Some(id)
    }

    fn process(
        &mut self,
        scope: DveScope<'_, 'a>,
        member: &DveProcessInstance<'a>,
        process: &DveProcess<'a>,
        is_property: bool,
    ) {
        for state in process.accepts.iter().filter(|_| !is_property) {
            let (name, span) = (format!("{}.{}", process.name.text, state.text), state.span);
            let kind = UncheckedKind::AcceptingState;
            // The members of a family share one text.
            if self.program.unchecked.iter().all(|known| known.span != span) {
                self.program.unchecked.push(UncheckedRequirement { kind, name, span });
            }
        }
        for (state, condition) in &process.asserts {
            let (location, lowered) = (scope.state(member, *state), scope.lower(condition));
            if let Some(location) = location.filter(|_| !is_property) {
                let kind =
                    PropertyKind::AssertionAt { process: member.id, location, condition: lowered };
                let name = self.one_line(condition);
                self.program.properties.push(ProgramProperty { name, kind, span: condition.span });
            }
        }
        for transition in &process.transitions {
            if self.report.is_full() {
                return;
            }
            if is_property {
                self.check_only(scope, member, transition);
            } else {
                self.transition(scope, member, transition);
            }
        }
    }

    /// Returns the source of an assertion on one line, shortened if it is long.
    fn one_line(&self, expr: &DveExpr<'a>) -> String {
        let start = self.report.text(expr.span).chars().take(10 * QUOTE_MAX).collect::<String>();
        shorten(&start.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
    }

    /// Lowers a transition of a property process for its error messages only.
    fn check_only(
        &mut self,
        scope: DveScope<'_, 'a>,
        member: &DveProcessInstance<'a>,
        transition: &DveTransition<'a>,
    ) {
        if let Some(sync) = &transition.sync {
            self.report.error(sync.span, "a property process cannot synchronize");
        }
        self.edge(scope, member, transition);
        transition.guard.iter().for_each(|guard| drop(scope.lower(guard)));
        self.body(scope, transition);
    }

    fn transition(
        &mut self,
        scope: DveScope<'_, 'a>,
        member: &DveProcessInstance<'a>,
        transition: &DveTransition<'a>,
    ) {
        if self.program.actions.len() >= ACTIONS_MAX {
            let error = format!("with this, the model has more than {ACTIONS_MAX} actions");
            return self.report.error(transition.span, error);
        }
        let edge = self.edge(scope, member, transition);
        let guard = transition.guard.as_ref().map(|guard| scope.lower(guard));
        let communication = transition.sync.as_ref().and_then(|sync| self.sync(scope, sync));
        let body = self.body(scope, transition);
        let name = self.name(member, transition, communication.as_ref());
        self.program.actions.push(Action {
            name,
            edge,
            parameters: Vec::new(),
            guard,
            communication,
            body,
            priority: 0,
            control: ActionControl::default(),
            span: transition.span,
        });
    }

    /// Returns the name `P.from -> to`, with the channel if there is one.
    fn name(
        &self,
        member: &DveProcessInstance<'a>,
        transition: &DveTransition<'a>,
        communication: Option<&Communication>,
    ) -> String {
        let (process, from, to) = (&member.name, transition.from.text, transition.to.text);
        let (channel, sign) = match communication.map(|side| (side, side.channel())) {
            Some((Communication::Send { .. }, ChannelRef::Named(channel))) => (channel, '!'),
            Some((Communication::Receive { .. }, ChannelRef::Named(channel))) => (channel, '?'),
            _ => return format!("{process}.{from} -> {to}"),
        };
        let channel = &self.program.channels[*channel].name;
        format!("{process}.{from} -> {to} ({channel}{sign})")
    }

    fn edge(
        &self,
        scope: DveScope<'_, 'a>,
        member: &DveProcessInstance<'a>,
        transition: &DveTransition<'a>,
    ) -> Option<ProcessEdge> {
        let from = scope.state(member, transition.from);
        let to = scope.state(member, transition.to);
        Some(ProcessEdge { process: member.id, from: from?, to: to? })
    }

    fn body(&self, scope: DveScope<'_, 'a>, transition: &DveTransition<'a>) -> Vec<Stmt> {
        let assign = |effect: &super::ast::DveEffect<'a>| {
            let (target, value) = (scope.target(&effect.target), scope.lower(&effect.value));
            let span = effect.target.span.to(effect.value.span);
            let kind = StmtKind::Assign { target: target?, value, overflow: self.overflow };
            Some(Stmt { kind, span })
        };
        transition.effects.iter().filter_map(assign).collect()
    }

    fn sync(&mut self, scope: DveScope<'_, 'a>, sync: &DveSync<'a>) -> Option<Communication> {
        let channel = scope.channel(&sync.channel);
        let communication = match (sync.sends, channel.unwrap_or(ChannelId(0))) {
            (true, channel) => Communication::Send {
                channel: ChannelRef::Named(channel),
                values: sync.values.iter().map(|value| scope.lower(value)).collect(),
                sorted: false,
                span: sync.span,
            },
            (false, channel) => Communication::Receive {
                channel: ChannelRef::Named(channel),
                patterns: self.patterns(scope, sync),
                anywhere: false,
                peek: false,
                span: sync.span,
            },
        };
        self.check_arity(scope.world, channel?, sync);
        Some(communication)
    }

    fn patterns(&self, scope: DveScope<'_, 'a>, sync: &DveSync<'a>) -> Vec<ReceivePattern> {
        let targets = sync.values.iter().filter_map(|value| scope.target(value));
        targets.map(ReceivePattern::Into).collect()
    }

    /// Checks that the number of values is that of the channel, if declared; otherwise records the use.
    fn check_arity(&mut self, world: &DveSymbols<'a>, channel: ChannelId, sync: &DveSync<'a>) {
        let arity = sync.values.len();
        let action = ActionId::from_index(self.program.actions.len());
        match world.channels[channel.index()].arity {
            None => self.uses.push(UntypedChannelUse { channel, action, arity, span: sync.span }),
            Some(declared) if declared == arity => {}
            Some(declared) => {
                let name = quote(sync.channel.name.text);
                let declared = plural(declared);
                let error = format!("{name} carries {declared}, but {arity} given here");
                self.report.error(sync.span, error);
            }
        }
    }

    /// Infers the number of fields of each untyped channel, and makes its uses agree.
    fn untyped_channels(&mut self, world: &DveSymbols<'a>, any_value: TypeId) {
        let mut arities: Vec<Option<(usize, Span)>> = vec![None; world.channels.len()];
        for used in self.uses.iter().filter(|used| used.arity > 0) {
            let (arity, first) =
                *arities[used.channel.index()].get_or_insert((used.arity, used.span));
            if arity != used.arity {
                self.disagree(used, arity, first);
            }
        }
        for used in std::mem::take(&mut self.uses).iter().filter(|used| used.arity == 0) {
            if let Some((arity, first)) = arities[used.channel.index()] {
                self.fill(used, arity, first);
            }
        }
        for (id, arity) in arities.iter().enumerate() {
            if let Some((arity, _)) = arity {
                self.program.channels[ChannelId::from_index(id)].fields = vec![any_value; *arity];
            }
        }
    }

    /// Completes a use without values of a channel that has fields.
    fn fill(&mut self, used: &UntypedChannelUse, arity: usize, first: Span) {
        match &mut self.program.actions[used.action].communication {
            Some(Communication::Receive { patterns, .. }) => {
                *patterns = vec![ReceivePattern::Any; arity]
            }
            _ => self.disagree(used, arity, first),
        }
    }

    fn disagree(&self, used: &UntypedChannelUse, arity: usize, first: Span) {
        let name = quote(&self.program.channels[used.channel].name);
        let (carries, line) = (plural(arity), self.report.line(first));
        let error = format!("{name} carries {carries} on line {line}, but {} here", used.arity);
        let help = "all uses of an untyped channel give the same number of values";
        self.report.error_with(used.span, error, help);
    }
}

fn plural(values: usize) -> String {
    match values {
        1 => "1 value".to_owned(),
        _ => format!("{values} values"),
    }
}
