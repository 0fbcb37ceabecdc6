//! The conditions, reads and writes of each action instance of a program.

use super::access_set::{AccessSet, ChannelSlot};
use super::cell_set::CellSet;
use super::collector::{AccessCollector, MoverSlots, StaticFacts};
use super::definedness::possibly_undefined;
use super::failure_analysis::{FailureAnalysis, MessageIntervals};
use super::failure_kinds::FailureKinds;
use super::guard::{ConjunctCondition, GuardConjunct, GuardTest};
use super::instance_access::InstanceAccess;
use super::live_processes::LiveProcesses;
use super::walk::{AccessVisitor, StateTouch};
use crate::instances::{ActionInstance, ActionInstances, InstanceId, InstanceSide, NumberingError};
use crate::ranges::ranges;
use spillway_ir::interval::Interval;
use spillway_ir::layout::{CellId, GroupContent, ValueRanges};
use spillway_ir::{
    Action, ActionId, BinaryOp, ChannelRef, Communication, Entity, Expr, Layout, Place,
    ProcessEdge, ProcessId, ProcessInstance, Program, PropertyKind, ReceivePattern, Urgency,
};
use std::collections::{BTreeMap, BTreeSet};

/// The static accesses of a program's actions.
#[derive(Clone, Debug)]
pub struct AccessTable<'p> {
    program: &'p Program,
    layout: &'p Layout,
    ranges: Option<ValueRanges>,
    fixed: BTreeMap<CellId, i64>,
    /// Processes that exist in the states in question.
    present: Vec<ProcessInstance>,
    /// The processes of the state from which on the instances are executed, if they are known.
    live: Option<LiveProcesses>,
    /// The cells that may be undefined.
    undefined: CellSet,
    instances: ActionInstances,
    /// The actions of each process from each of its locations, in order.
    pub(super) from: Vec<Vec<Vec<ActionId>>>,
    /// Whether any process can be at a committed location.
    has_committed: bool,
    /// Whether actions of the whole program have priorities.
    has_priorities: bool,
    /// The reads of the assumptions on states, if there are any.
    assumed: Option<AccessSet>,
}

impl<'p> AccessTable<'p> {
    /// Computes the table of a valid program. Fails if its action instances cannot be numbered. Any layout of the
    /// program is suitable.
    pub fn new(
        program: &'p Program,
        layout: &'p Layout,
    ) -> Result<AccessTable<'p>, NumberingError> {
        AccessTable::with_fixed_cells(program, layout, ranges(program), BTreeMap::new())
    }

    /// Computes the table with known ranges of the variables, for states from which on the given cells never change.
    /// These cells belong to locals of existing processes.
    pub fn with_fixed_cells(
        program: &'p Program,
        layout: &'p Layout,
        ranges: Option<ValueRanges>,
        fixed: BTreeMap<CellId, i64>,
    ) -> Result<AccessTable<'p>, NumberingError> {
        let instances = ActionInstances::new(program)?;
        let mut from: Vec<Vec<Vec<ActionId>>> = (program.processes.values())
            .map(|process| vec![Vec::new(); process.locations.len()])
            .collect();
        for (id, action) in program.actions.iter() {
            if let Some(ProcessEdge { process, from: at, .. }) = action.edge {
                from[process.index()][at.index()].push(id);
            }
        }
        let mut locations = program.processes.values().flat_map(|it| it.locations.values());
        let has_committed = locations.any(|it| it.urgency == Urgency::Committed);
        let has_priorities = program.actions.values().any(|it| it.priority != 0);
        let known = StaticFacts {
            program,
            layout,
            ranges: ranges.as_ref(),
            fixed: &fixed,
            present: &[],
            live: None,
            undefined: None,
        };
        let undefined = possibly_undefined(known);
        let assumed = None;
        let mut table = AccessTable {
            program,
            layout,
            ranges,
            fixed,
            present: Vec::new(),
            live: None,
            undefined,
            instances,
            from,
            has_committed,
            has_priorities,
            assumed,
        };
        table.assumed = table.assumptions();
        Ok(table)
    }

    fn assumptions(&self) -> Option<AccessSet> {
        let properties = self.program.properties.values();
        let conditions = properties.filter_map(|property| match &property.kind {
            PropertyKind::Assumption(condition) => Some(condition),
            _ => None,
        });
        let mut assumed: Option<AccessSet> = None;
        conditions.for_each(|it| assumed.get_or_insert_default().extend(self.expression(it)));
        assumed
    }

    pub(super) fn known(&self) -> StaticFacts<'_> {
        StaticFacts {
            program: self.program,
            layout: self.layout,
            ranges: self.ranges.as_ref(),
            fixed: &self.fixed,
            present: &self.present,
            live: self.live.as_ref(),
            undefined: Some(&self.undefined),
        }
    }

    /// Returns the table for the states in which these processes exist.
    pub(crate) fn with_present(&self, present: Vec<ProcessInstance>) -> Self {
        AccessTable { present, ..self.clone() }
    }

    /// Returns the table for the runs from a state with these processes, as long as its processes exist.
    pub fn with_live_processes(self, live: LiveProcesses) -> Self {
        AccessTable { live: Some(live), ..self }
    }

    /// Returns the processes of the state from which on the instances are executed, if they are known.
    pub fn live_processes(&self) -> Option<&LiveProcesses> {
        self.live.as_ref()
    }

    /// Returns whether the table is restricted to states in which some cells never change.
    pub fn has_fixed_cells(&self) -> bool {
        !self.fixed.is_empty()
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Returns the accesses of an expression that is evaluated by no process.
    pub fn expression(&self, expr: &Expr) -> AccessSet {
        let mut collector = AccessCollector::new(self.known(), MoverSlots::nobody());
        collector.walk().expr(&mut collector, expr);
        let mut judge =
            FailureAnalysis::new(AccessCollector::new(self.known(), MoverSlots::nobody()));
        judge.expr(expr);
        AccessSet { failures: judge.take(), ..collector.take() }
    }

    /// Returns the range of an expression that is evaluated by no process.
    pub fn values(&self, expr: &Expr) -> Interval {
        AccessCollector::new(self.known(), MoverSlots::nobody()).values(expr)
    }

    /// The action instances.
    pub fn instances(&self) -> &ActionInstances {
        &self.instances
    }

    /// Returns whether a channel may be a rendezvous.
    fn may_meet(&self, channel: &ChannelRef) -> bool {
        channel.may_be_rendezvous(self.program)
    }

    /// The layout.
    pub fn layout(&self) -> &'p Layout {
        self.layout
    }

    /// Returns the range of a cell of a variable, over all reachable states. Returns `None` if the cell may be
    /// undefined or is not that of a variable.
    pub fn cell_values(&self, cell: CellId) -> Option<Interval> {
        let groups = self.layout.groups.as_slice();
        let group = groups.get(groups.partition_point(|it| it.first <= cell).checked_sub(1)?)?;
        let GroupContent::Variable(variable) = group.part else { return None };
        let about = &self.layout.cells[cell];
        let stored = (about.least, about.last());
        let ever = self.ranges.as_ref().and_then(|it| it.variables[variable]);
        let known = ever.map_or(stored, |it| (it.0.max(stored.0), it.1.min(stored.1)));
        let may_be_undefined = about.undefined && self.undefined.contains(cell);
        (!may_be_undefined).then_some(known)
    }

    /// Returns the reads of an action of an observer, such as a claim.
    pub fn observation(&self, action: &Action) -> AccessSet {
        let mut collector = AccessCollector::new(self.known(), MoverSlots::nobody());
        let walk = collector.walk();
        action.guard.iter().for_each(|it| walk.expr(&mut collector, it));
        walk.body(&mut collector, &action.body);
        collector.take()
    }

    /// Returns the ways in which an action of an observer, such as a claim, may fail.
    pub fn failures_of(&self, action: &Action) -> FailureKinds {
        let mut judge =
            FailureAnalysis::new(AccessCollector::new(self.known(), MoverSlots::nobody()));
        action.guard.iter().for_each(|it| judge.condition(it));
        judge.whole_body(&action.body);
        judge.take()
    }

    /// Returns the processes that exist wherever an instance is enabled, ascending.
    pub fn movers(&self, id: InstanceId) -> Vec<ProcessInstance> {
        let of_side = |side: InstanceSide| {
            let edge = self.program.actions[side.action].edge?;
            Some(ProcessInstance { process: edge.process, slot: side.slot })
        };
        let mut movers: Vec<ProcessInstance> = match self.instances.get(id) {
            Some(ActionInstance::MayMove { process, slot }) => {
                vec![ProcessInstance { process, slot }]
            }
            Some(instance) => instance.sides().filter_map(of_side).collect(),
            None => Vec::new(),
        };
        movers.sort();
        movers.dedup();
        movers
    }

    /// Returns a collector for the code of one side, with its parameters bound to their values.
    pub(super) fn collector(&self, side: InstanceSide) -> AccessCollector<'_> {
        let action = &self.program.actions[side.action];
        let process = action.edge.map(|edge| edge.process);
        let mover = MoverSlots { process, slots: side.slot..side.slot + 1 };
        let mut collector = AccessCollector::new(self.known(), mover);
        collector.side = Some(side);
        for (parameter, value) in action.parameters.iter().zip(self.instances.values(side)) {
            collector.bind_value(parameter.local, value);
        }
        collector
    }

    /// Returns a failure analysis of the code of one side.
    fn judge(&self, side: InstanceSide) -> FailureAnalysis<'_> {
        FailureAnalysis::new(self.collector(side))
    }

    /// Returns the guard and the effect of an action instance.
    ///
    /// # Panics
    /// If the program has no such instance.
    pub fn access(&self, number: InstanceId) -> InstanceAccess<'_> {
        let instance = self.instances.get(number);
        let instance = instance.unwrap_or_else(|| panic!("the program has no {number:?}"));
        let mut found = match instance {
            ActionInstance::Alone(side) => self.alone(side),
            ActionInstance::Meeting { sender, receiver } => self.rendezvous(sender, receiver),
            ActionInstance::MayMove { process, slot } => self.question(process, slot),
        };
        let is_never = self.only_fails(instance) || self.never_meet(instance);
        if is_never && !found.failures().any() {
            return InstanceAccess::default();
        }
        let is_free = |side: InstanceSide| self.program.actions[side.action].edge.is_none();
        if self.has_priorities && instance.sides().any(is_free) {
            found.guard.push(GuardConjunct::holds(AccessSet::of_others()));
        }
        if let Some(assumed) = self.assumed.as_ref().filter(|it| found.effect.may_change(it)) {
            let mut access = assumed.clone();
            access.extend(found.effect.as_reads());
            found.guard.push(GuardConjunct::holds(access));
        }
        if found.effect.may_drop {
            let access = AccessSet { failures: found.effect.failures, ..found.effect.as_reads() };
            found.guard.push(GuardConjunct::holds(access));
        }
        found
    }

    /// Returns whether an instance has no transitions and exists only for its errors.
    fn only_fails(&self, instance: ActionInstance) -> bool {
        let ActionInstance::Alone(side) = instance else {
            return matches!(instance, ActionInstance::MayMove { .. });
        };
        let meets = |it: &Communication| {
            let mut channels = it.channel().possible_channels(self.program);
            channels.all(|it| self.program.channels[it].capacity == 0)
        };
        self.program.actions[side.action].communication.as_ref().is_some_and(meets)
    }

    /// Returns whether two sides never meet, because they use different channels or expect different messages.
    pub(super) fn never_meet(&self, instance: ActionInstance) -> bool {
        let ActionInstance::Meeting { sender, receiver } = instance else { return false };
        let message = |side: InstanceSide| self.program.actions[side.action].communication.as_ref();
        let (
            Some(Communication::Send { channel: to, values, .. }),
            Some(Communication::Receive { channel: from, patterns, .. }),
        ) = (message(sender), message(receiver))
        else {
            return false;
        };
        let (mut sends, mut receives) = (self.collector(sender), self.collector(receiver));
        if sends.is_linked_later(to) || receives.is_linked_later(from) {
            return false;
        }
        let all = receives.channels(from);
        let mut channels = sends.channels(to);
        channels.retain(|it| all.contains(it));
        let differ = |at: usize, value: &Expr, wanted: &Expr| {
            let both = sends.known_value(value).zip(receives.known_value(wanted));
            both.is_some_and(|(value, wanted)| {
                let is_kept = |it: &ChannelSlot| self.field_holds(*it, at, value);
                value != wanted && channels.iter().all(is_kept)
            })
        };
        let mut fields = values.iter().zip(patterns).enumerate();
        fields.any(|(at, (value, pattern))| {
            matches!(pattern, ReceivePattern::Match(wanted) if differ(at, value, wanted))
        }) || channels.is_empty()
    }

    /// Returns whether a field of a channel's messages can hold a value without conversion.
    fn field_holds(&self, channel: ChannelSlot, at: usize, value: i64) -> bool {
        let field = self.program.channels[channel.id].fields.get(at);
        let bounds =
            field.map(|it| AccessCollector::new(self.known(), MoverSlots::nobody()).bounds(*it));
        bounds.is_some_and(|(low, high)| low <= value && value <= high)
    }

    /// Returns the accesses of `provided` and of the priority of a process, with whether their evaluation may fail.
    fn question(&self, process: ProcessId, slot: u32) -> InstanceAccess<'_> {
        let mover = MoverSlots { process: Some(process), slots: slot..slot + 1 };
        let mut collector = AccessCollector::new(self.known(), mover);
        let life = &self.program.processes[process].life;
        life.provided.iter().for_each(|it| collector.walk().expr(&mut collector, it));
        let mut access = collector.take();
        let mut judge = FailureAnalysis::new(collector);
        life.provided.iter().for_each(|it| judge.condition(it));
        access.failures = judge.take();
        // The evaluation of a priority examines the processes of higher priorities.
        if life.priority.is_some() {
            access.extend_optional(AccessSet::of_others());
            access.failures.other = true;
        }
        let cell = self.known().location_cell(process, slot).0;
        access.reads.insert(cell..cell + 1);
        InstanceAccess { guard: vec![GuardConjunct::holds(access)], effect: AccessSet::default() }
    }

    fn alone(&self, first: InstanceSide) -> InstanceAccess<'_> {
        let action = &self.program.actions[first.action];
        let (mut guard, mut judge) = (Vec::new(), self.judge(first));
        self.add_start_conditions(first, &mut guard);
        self.commitment(&[first], &mut guard);
        self.add_guard(first, &mut judge, &mut guard);
        let mut effect = self.effect(&[first], &guard);
        let mut waits = Vec::new();
        if let Some(communication) = &action.communication {
            judge.readiness(communication);
            let failures = judge.take();
            waits = match self.may_meet(communication.channel()) {
                false => self.collector(first).readiness(communication, failures),
                // The instance covers a send or a receive on a buffer, an erroneous send, and failures before there
                // is a receiver.
                true => vec![GuardConjunct::holds(AccessSet { failures, ..effect.as_reads() })],
            };
        }
        if !self.only_meets_senders(action) {
            judge.take_action(action);
        }
        effect.failures = judge.take();
        for mut conjunct in waits {
            if conjunct.condition == ConjunctCondition::Holds {
                conjunct.access.failures.join(effect.failures);
            }
            guard.push(conjunct);
        }
        self.extend_with_sequence(first, &mut effect);
        InstanceAccess { guard, effect }
    }

    /// Returns whether an action does nothing by itself, because it receives only by rendezvous.
    fn only_meets_senders(&self, action: &Action) -> bool {
        let Some(Communication::Receive { channel, .. }) = &action.communication else {
            return false;
        };
        channel.possible_channels(self.program).all(|it| self.program.channels[it].capacity == 0)
    }

    fn rendezvous(&self, sender: InstanceSide, receiver: InstanceSide) -> InstanceAccess<'_> {
        let (mut by_sender, mut by_receiver) = (self.judge(sender), self.judge(receiver));
        let mut guard = Vec::new();
        // Where processes start and end, the receiver's part is evaluated after the sender's statements.
        let comes_and_goes = self.program.has_dynamic_processes();
        let mut sent = MessageIntervals::new();
        self.add_start_conditions(sender, &mut guard);
        if comes_and_goes {
            self.add_guard(sender, &mut by_sender, &mut guard);
            // A failure before there is a receiver is the sender's alone.
            guard.iter_mut().for_each(|it| it.access.failures = FailureKinds::default());
            sent = self.sends(sender, &mut by_sender);
            by_sender.move_and_run(&self.program.actions[sender.action]);
            by_sender.take();
            by_receiver.set_state(by_sender.state());
        }
        let first = guard.len();
        self.add_start_conditions(receiver, &mut guard);
        self.commitment(&[sender, receiver], &mut guard);
        let judged = guard.len();
        self.add_guard(receiver, &mut by_receiver, &mut guard);
        let mut message = self.message(sender, receiver);
        if !comes_and_goes {
            if guard[judged..].iter().any(GuardConjunct::may_fail) {
                guard.insert(judged, self.other_senders(receiver));
            }
            by_sender.set_state(by_receiver.state());
            self.add_guard(sender, &mut by_sender, &mut guard);
            sent = self.sends(sender, &mut by_sender);
            message.failures = by_sender.take();
            by_receiver.set_state(by_sender.state());
        }
        self.receives(receiver, &mut by_receiver, |judge, channel, patterns| {
            judge.matches(channel, patterns);
        });
        message.failures.join(by_receiver.take());
        guard.push(GuardConjunct::holds(message));
        if comes_and_goes {
            after_another(&mut guard[first + 1..], &self.effect(&[sender], &[]));
        }
        self.receives(receiver, &mut by_receiver, |judge, channel, patterns| {
            judge.deliver(channel, patterns, &sent);
        });
        let received = &self.program.actions[receiver.action].communication;
        received.iter().for_each(|it| by_receiver.fits(it));
        by_receiver.move_and_run(&self.program.actions[receiver.action]);
        if !comes_and_goes {
            by_sender.set_state(by_receiver.state());
            by_sender.move_and_run(&self.program.actions[sender.action]);
        }
        let mut effect = self.effect(&[sender, receiver], &guard);
        effect.failures = by_receiver.take();
        effect.failures.join(by_sender.take());
        self.extend_with_sequence(receiver, &mut effect);
        InstanceAccess { guard, effect }
    }

    /// Returns the message of a sender.
    fn sends(&self, sender: InstanceSide, judge: &mut FailureAnalysis<'_>) -> MessageIntervals {
        match &self.program.actions[sender.action].communication {
            Some(sent @ Communication::Send { .. }) => judge.send(sent),
            _ => MessageIntervals::new(),
        }
    }

    /// Applies a function to the channel and the patterns of a receiver.
    fn receives(
        &self,
        receiver: InstanceSide,
        judge: &mut FailureAnalysis<'_>,
        run: impl FnOnce(&mut FailureAnalysis<'_>, &ChannelRef, &[ReceivePattern]),
    ) {
        if let Some(Communication::Receive { channel, patterns, .. }) =
            &self.program.actions[receiver.action].communication
        {
            judge.channel(channel);
            run(judge, channel, patterns);
        }
    }

    /// Returns the reads that find the other possible senders to a receiver. A failing guard of a sender is an error
    /// of the first sender.
    fn other_senders(&self, receiver: InstanceSide) -> GuardConjunct<'p> {
        let mut access = AccessSet::default();
        let received = self.program.actions[receiver.action].communication.as_ref();
        let meant = |it: &Communication| {
            it.channel().possible_channels(self.program).collect::<BTreeSet<_>>()
        };
        let channels = received.map(meant).unwrap_or_default();
        for action in self.program.actions.values() {
            if let (Some(edge), Some(sent @ Communication::Send { .. })) =
                (action.edge, &action.communication)
                && !meant(sent).is_disjoint(&channels)
            {
                access.asks.push((self.known().location_cell(edge.process, 0), edge.from));
            }
        }
        GuardConjunct::holds(access)
    }

    /// Adds the conditions that precede the guard: the mover exists, may move, and is at the location.
    fn add_start_conditions<'t>(&'t self, side: InstanceSide, guard: &mut Vec<GuardConjunct<'t>>) {
        let action = &self.program.actions[side.action];
        let Some(ProcessEdge { process, from, .. }) = action.edge else { return };
        guard
            .push(GuardConjunct::at_location(self.known().location_cell(process, side.slot), from));
        let life = &self.program.processes[process].life;
        if let Some(provided) = &life.provided {
            let mut collector = self.collector(side);
            collector.walk().expr(&mut collector, provided);
            let access = collector.take();
            let expr = Some(provided);
            guard.push(GuardConjunct { expr, ..GuardConjunct::holds(access) });
        }
        if life.priority.is_some() {
            guard.push(GuardConjunct::holds(AccessSet::of_others()));
        }
        self.add_precedence_conditions(side, guard);
    }

    /// Adds the conditions of the earlier actions that restrict this one, without their failures.
    fn add_precedence_conditions<'t>(
        &'t self,
        side: InstanceSide,
        guard: &mut Vec<GuardConjunct<'t>>,
    ) {
        let action = &self.program.actions[side.action];
        let Some(ProcessEdge { process, from, .. }) = action.edge else { return };
        let all = &self.from[process.index()][from.index()];
        let before = all.iter().copied().take_while(|&it| it != side.action);
        let before: Vec<InstanceSide> =
            before.map(|action| InstanceSide { action, slot: side.slot, combination: 0 }).collect();
        let tier = |it: &InstanceSide| self.program.actions[it.action].control.tier;
        if action.control.otherwise && before.iter().all(|it| tier(it) == 0) {
            return guard.extend(before.into_iter().map(|it| self.impossibility(it)));
        }
        let decides = |it: &InstanceSide| tier(it) != 0 && tier(it) != action.control.tier;
        if action.control.otherwise || before.iter().any(decides) {
            let mut access = AccessSet::default();
            before.into_iter().for_each(|it| access.extend(self.possibility(it)));
            guard.push(GuardConjunct::holds(access));
        }
    }

    /// Returns the condition that an action of the mover is disabled. If the evaluation of its guard may fail, the
    /// condition does not describe the queries: a failure is a step, which prevents others.
    fn impossibility(&self, side: InstanceSide) -> GuardConjunct<'_> {
        let action = &self.program.actions[side.action];
        let (mut only, mut judge) = (Vec::new(), self.judge(side));
        match (&action.guard, &action.communication) {
            (Some(guard), None) => {
                self.collector(side).conjuncts(guard, &mut judge, &mut only);
            }
            (None, Some(communication)) if !self.may_meet(communication.channel()) => {
                judge.readiness(communication);
                only = self.collector(side).readiness(communication, judge.take());
            }
            _ => {}
        }
        let is_sure = matches!(only.as_slice(), [conjunct] if !conjunct.may_fail());
        let opposite = only.first().filter(|_| is_sure).and_then(|it| it.condition.opposite());
        match (opposite, only.pop()) {
            (Some(condition), Some(conjunct)) => {
                GuardConjunct { condition, expr: None, judged: None, ..conjunct }
            }
            (None, Some(GuardConjunct { judged: Some(judged), .. }))
                if action.communication.is_none() && is_sure =>
            {
                let judged = Some(GuardTest { holds: false, ..judged });
                GuardConjunct { judged, ..GuardConjunct::holds(self.possibility(side)) }
            }
            _ => GuardConjunct::holds(self.possibility(side)),
        }
    }

    /// Returns the reads that decide whether an action of the mover is enabled.
    fn possibility(&self, side: InstanceSide) -> AccessSet {
        let action = &self.program.actions[side.action];
        let mut collector = self.collector(side);
        action.guard.iter().for_each(|it| collector.walk().expr(&mut collector, it));
        let mut access = collector.take();
        if let Some(communication) = &action.communication {
            let conjuncts = collector.readiness(communication, FailureKinds::default());
            conjuncts.iter().for_each(|it| access.extend(it.reads()));
            if self.may_meet(communication.channel()) {
                access.extend_optional(self.partner_reads(side));
            }
        }
        access
    }

    /// Adds the condition that no other process is at a committed location, if the movers are not.
    fn commitment<'t>(&'t self, movers: &[InstanceSide], guard: &mut Vec<GuardConjunct<'t>>) {
        let is_committed = |side: &InstanceSide| {
            let edge = self.program.actions[side.action].edge;
            edge.is_some_and(|ProcessEdge { process, from, .. }| {
                self.program.processes[process].locations[from].urgency == Urgency::Committed
            })
        };
        if self.has_committed && !movers.iter().all(is_committed) {
            let access = AccessSet { reads_commitment: true, ..AccessSet::default() };
            guard.push(GuardConjunct::holds(access));
        }
    }

    fn add_guard<'t>(
        &'t self,
        side: InstanceSide,
        judge: &mut FailureAnalysis<'_>,
        guard: &mut Vec<GuardConjunct<'t>>,
    ) {
        if let Some(condition) = &self.program.actions[side.action].guard {
            self.collector(side).conjuncts(condition, judge, guard);
        }
    }

    /// Returns the reads that decide whether a message is received, and on which channel.
    pub(super) fn message(&self, sender: InstanceSide, receiver: InstanceSide) -> AccessSet {
        let mut access = AccessSet::default();
        for side in [sender, receiver] {
            let mut collector = self.collector(side);
            if let Some(communication) = &self.program.actions[side.action].communication {
                collector.walk().judged(&mut collector, communication);
                match communication.channel() {
                    ChannelRef::Named(_) => {}
                    ChannelRef::Element { index: it, .. } | ChannelRef::Computed(it) => {
                        collector.walk().expr(&mut collector, it);
                    }
                }
                collector.channels(communication.channel());
            }
            access.extend(collector.take());
        }
        access
    }

    /// Returns the effect of the actions of one instance where its guard holds, without the rest of the step.
    pub(super) fn effect(&self, sides: &[InstanceSide], guard: &[GuardConjunct<'_>]) -> AccessSet {
        let effect = self.effect_where(sides, &BTreeMap::new());
        // A conjunct of the guard stays true if its cell is not written.
        let written = self.written_by(&effect);
        let certain = guard.iter().take_while(|it| !it.may_fail());
        let given = certain.filter_map(|it| match it.condition {
            ConjunctCondition::Compares(cell, BinaryOp::Equal, value) => Some((cell, value)),
            _ => None,
        });
        let given: BTreeMap<CellId, i64> = given.filter(|it| !written.contains(it.0)).collect();
        if given.is_empty() { effect } else { self.effect_where(sides, &given) }
    }

    fn effect_where(&self, sides: &[InstanceSide], given: &BTreeMap<CellId, i64>) -> AccessSet {
        let mut effect = AccessSet::default();
        for &side in sides {
            let mut collector = self.collector(side);
            collector.given = given.clone();
            self.run(&mut collector, &self.program.actions[side.action], true);
            effect.extend(collector.take());
        }
        effect
    }

    pub(super) fn run(
        &self,
        collector: &mut AccessCollector<'_>,
        action: &Action,
        is_guarded: bool,
    ) {
        let walk = collector.walk();
        action.edge.into_iter().for_each(|it| collector.touch(StateTouch::Move(it)));
        match &action.communication {
            None => {}
            Some(it) if is_guarded => collector.guarded(|to| walk.communication(to, it)),
            Some(it) => walk.communication(collector, it),
        }
        if let Some(last) = self.program.last {
            let place = Place::variable(last, self.program.variables[last].span);
            collector.touch(StateTouch::OwnPid);
            collector.touch(StateTouch::Write(&place));
        }
        walk.body(collector, &action.body);
    }

    /// Returns all cells that an effect may change.
    pub(super) fn written_by(&self, effect: &AccessSet) -> CellSet {
        let mut cells = effect.written();
        let changed = effect.channels.iter().filter(|(_, it)| it.changes());
        changed.for_each(|(channel, _)| cells.insert(self.known().channel_cells(*channel)));
        cells
    }
}

/// Turns conjuncts into conjuncts that are evaluated after the statements of the sender. The location of the receiver
/// is evaluated before them: the sender does not affect it.
fn after_another(guard: &mut [GuardConjunct<'_>], effect: &AccessSet) {
    for conjunct in guard {
        let mut access = conjunct.reads();
        access.extend(effect.as_reads());
        access.failures = conjunct.access.failures;
        *conjunct = GuardConjunct { expr: conjunct.expr, ..GuardConjunct::holds(access) };
    }
}
