//! Every transition of a program, and what each reads and writes.

use super::cells::Cells;
use super::collect::{Collector, Known, Mover};
use super::guard::{Condition, Conjunct};
use super::object::{Access, ChannelSlot, Instance, Transition};
use super::walk::{Touch, Touched};
use crate::analysis::ranges::ranges;
use crate::ir::layout::{CellId, Ranges};
use crate::ir::{
    Action, ActionId, Binary, ChannelRef, Communication, Edge, Entity, Expr, Grip, Layout, Place,
    ProcessId, Program, PropertyKind, Schedule,
};

/// What a transition waits for and what it does.
#[derive(Clone, Debug)]
pub struct TransitionAccess<'p> {
    /// All of these must hold, judged in this order.
    pub guard: Vec<Conjunct<'p>>,
    /// What the step reads and writes then.
    pub effect: Access,
}

/// What is known of a program's actions before it runs.
#[derive(Debug)]
pub struct Table<'p> {
    program: &'p Program,
    layout: &'p Layout,
    ranges: Option<Ranges>,
    /// The actions of each process from each of its locations, in order.
    pub(super) from: Vec<Vec<Vec<ActionId>>>,
    /// Whether anybody is ever at a committed location.
    has_committed: bool,
    /// Whether actions of the whole program have priorities.
    has_priorities: bool,
    /// What is read to find out whether a state is left out, if any is.
    assumed: Option<Access>,
}

impl<'p> Table<'p> {
    /// Of a valid program. Any layout of it will do.
    pub fn new(program: &'p Program, layout: &'p Layout) -> Table<'p> {
        let mut from: Vec<Vec<Vec<ActionId>>> = (program.processes.values())
            .map(|process| vec![Vec::new(); process.locations.len()])
            .collect();
        for (id, action) in program.actions.iter() {
            if let Some(Edge { process, from: at, .. }) = action.edge {
                from[process.index()][at.index()].push(id);
            }
        }
        let mut locations = program.processes.values().flat_map(|it| it.locations.values());
        let has_committed = locations.any(|it| it.grip == Grip::Committed);
        let has_priorities = program.actions.values().any(|it| it.priority != 0);
        let ranges = ranges(program);
        let assumed = None;
        let mut table =
            Table { program, layout, ranges, from, has_committed, has_priorities, assumed };
        table.assumed = table.assumptions();
        table
    }

    fn assumptions(&self) -> Option<Access> {
        let properties = self.program.properties.values();
        let conditions = properties.filter_map(|property| match &property.kind {
            PropertyKind::Assumption(condition) => Some(condition),
            _ => None,
        });
        let mut assumed: Option<Access> = None;
        conditions.for_each(|it| assumed.get_or_insert_default().extend(self.expression(it)));
        assumed
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known { program: self.program, layout: self.layout, ranges: self.ranges.as_ref() }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// What an expression reads that nobody in particular asks.
    pub fn expression(&self, expr: &Expr) -> Access {
        let mut collector = Collector::new(self.known(), Mover::nobody());
        collector.walk().expr(&mut collector, expr);
        collector.take()
    }

    /// Every transition, or nothing if there are more than `most`.
    pub fn transitions(&self, most: usize) -> Option<Vec<Transition>> {
        let mut instances = Vec::new();
        for (id, action) in self.program.actions.iter() {
            let mut own = self.instances(id, action, most)?;
            instances.append(&mut own);
            if instances.len() > most {
                return None;
            }
        }
        let mut found = Vec::new();
        for first in &instances {
            let communication = self.program.actions[first.action].communication.as_ref();
            let meets = communication.is_some_and(|it| self.may_meet(it.channel()));
            // A rendezvous is its sender's. That may fail before there is any receiver, where
            // processes come and go.
            let is_alone = match communication {
                Some(Communication::Receive { .. }) => !meets || self.may_buffer(communication),
                Some(Communication::Send { .. }) => !meets || self.program.comes_and_goes(),
                None => true,
            };
            if is_alone {
                found.push(Transition { first: first.clone(), receiver: None });
            }
            if meets && matches!(communication, Some(Communication::Send { .. })) {
                let receivers = instances.iter().filter(|it| self.meet(first, it));
                found.extend(receivers.map(|receiver| Transition {
                    first: first.clone(),
                    receiver: Some(receiver.clone()),
                }));
            }
            if found.len() > most {
                return None;
            }
        }
        Some(found)
    }

    /// Every instance of an action, or nothing if there are more than `most`.
    fn instances(&self, id: ActionId, action: &Action, most: usize) -> Option<Vec<Instance>> {
        let slots = action.edge.map_or(1, |edge| self.program.slots(edge.process));
        let one = |slot| Instance { action: id, slot, values: Vec::new() };
        let mut all: Vec<Instance> = (0..slots).map(one).collect();
        for parameter in &action.parameters {
            let (low, high) = self.known().parameter_values(parameter.over);
            if (high - low + 1).saturating_mul(all.len() as i64) > most as i64 {
                return None;
            }
            let each = all.into_iter().flat_map(|instance| {
                (low..=high).map(move |value| {
                    let mut instance = instance.clone();
                    instance.values.push(value);
                    instance
                })
            });
            all = each.collect();
        }
        Some(all)
    }

    /// Whether a channel may be a rendezvous.
    fn may_meet(&self, channel: &ChannelRef) -> bool {
        channel.meant(self.program).any(|it| self.program.channels[it].capacity == 0)
    }

    fn may_buffer(&self, communication: Option<&Communication>) -> bool {
        let channels = communication.into_iter().flat_map(|it| it.channel().meant(self.program));
        channels.into_iter().any(|it| self.program.channels[it].capacity > 0)
    }

    /// Whether one may send what the other receives, by rendezvous.
    fn meet(&self, sender: &Instance, receiver: &Instance) -> bool {
        let actions = [sender, receiver].map(|it| &self.program.actions[it.action]);
        let [Some(Communication::Send { .. }), Some(Communication::Receive { .. })] =
            actions.map(|it| it.communication.as_ref())
        else {
            return false;
        };
        let places = [sender, receiver].map(|it| self.mover(it));
        let is_other = places[0].process != places[1].process || sender.slot != receiver.slot;
        let [theirs, ours] = [sender, receiver].map(|it| self.rendezvous_of(it));
        is_other && theirs.iter().any(|it| ours.contains(it))
    }

    /// The rendezvous that an instance may send or receive on.
    fn rendezvous_of(&self, instance: &Instance) -> Vec<ChannelSlot> {
        let action = &self.program.actions[instance.action];
        let Some(communication) = &action.communication else { return Vec::new() };
        let mut found = self.collector(instance).channels(communication.channel());
        found.retain(|it| self.program.channels[it.id].capacity == 0);
        found
    }

    /// The cell that says where an instance of a process is.
    pub fn location_cell(&self, process: ProcessId, slot: u32) -> CellId {
        self.known().location_cell(process, slot)
    }

    /// What somebody reads who takes an action without a part in the program, as claims do.
    pub fn observation(&self, action: &Action) -> Access {
        let mut collector = Collector::new(self.known(), Mover::nobody());
        let walk = collector.walk();
        action.guard.iter().for_each(|it| walk.expr(&mut collector, it));
        walk.body(&mut collector, &action.body);
        collector.take()
    }

    pub(super) fn mover(&self, instance: &Instance) -> Mover {
        let process = self.program.actions[instance.action].edge.map(|edge| edge.process);
        Mover { process, slots: instance.slot..instance.slot + 1 }
    }

    /// For the code of an instance: its parameters stand for their values.
    fn collector(&self, instance: &Instance) -> Collector<'_> {
        let mut collector = Collector::new(self.known(), self.mover(instance));
        let parameters = &self.program.actions[instance.action].parameters;
        for (parameter, &value) in parameters.iter().zip(&instance.values) {
            collector.bind_value(parameter.local, value);
        }
        collector
    }

    /// What a transition waits for and what it does.
    pub fn access(&self, transition: &Transition) -> TransitionAccess<'_> {
        let mut found = match &transition.receiver {
            None => self.alone(&transition.first),
            Some(receiver) => self.rendezvous(&transition.first, receiver),
        };
        let not_understood = self.program.schedule == Schedule::Lockstep
            || (self.has_priorities
                && self.program.actions[transition.first.action].edge.is_none());
        if not_understood {
            let access = Access { reads_anything: true, ..Access::default() };
            found.guard.push(Conjunct::holds(access));
        }
        if let Some(assumed) = self.assumed.as_ref().filter(|it| found.effect.may_change(it)) {
            let mut access = assumed.clone();
            access.extend(found.effect.reading());
            found.guard.push(Conjunct::holds(access));
        }
        if found.effect.may_drop {
            found.guard.push(Conjunct::holds(found.effect.reading()));
        }
        found
    }

    fn alone(&self, first: &Instance) -> TransitionAccess<'_> {
        let action = &self.program.actions[first.action];
        let mut guard = Vec::new();
        self.begins(first, &mut guard);
        self.commitment(&[first], &mut guard);
        self.judges(first, &mut guard);
        let effect = self.effect(first);
        if let Some(communication) = &action.communication {
            match self.may_meet(communication.channel()) {
                false => guard.push(self.collector(first).readiness(communication)),
                // It is sent, or taken from a buffer, or it is an error to send so, or what comes
                // before there is a receiver is.
                true => guard.push(Conjunct::holds(effect.reading())),
            }
        }
        let mut whole = TransitionAccess { guard, effect };
        self.go_on(first, &mut whole.effect);
        whole
    }

    fn rendezvous(&self, sender: &Instance, receiver: &Instance) -> TransitionAccess<'_> {
        let mut guard = Vec::new();
        let effect = self.effect(sender);
        // The receiver's part is judged after the sender's statements, where processes come and go.
        let comes_and_goes = self.program.comes_and_goes();
        self.begins(sender, &mut guard);
        if comes_and_goes {
            self.judges(sender, &mut guard);
        }
        let first = guard.len();
        self.begins(receiver, &mut guard);
        self.commitment(&[sender, receiver], &mut guard);
        self.judges(receiver, &mut guard);
        if !comes_and_goes {
            self.judges(sender, &mut guard);
        }
        guard.push(Conjunct::holds(self.message(sender, receiver)));
        if comes_and_goes {
            // But for where the receiver is, which the sender does not decide.
            for conjunct in &mut guard[first + 1..] {
                let mut access = conjunct.reads();
                access.extend(effect.reading());
                *conjunct = Conjunct { expr: conjunct.expr, ..Conjunct::holds(access) };
            }
        }
        let mut whole = TransitionAccess { guard, effect };
        whole.effect.extend(self.effect(receiver));
        self.go_on(receiver, &mut whole.effect);
        whole
    }

    /// That the mover is there and may move, and what decides before its guard is asked.
    fn begins<'t>(&'t self, instance: &Instance, guard: &mut Vec<Conjunct<'t>>) {
        let action = &self.program.actions[instance.action];
        let Some(Edge { process, from, .. }) = action.edge else { return };
        guard.push(Conjunct::at(self.known().location_cell(process, instance.slot), from));
        let life = &self.program.processes[process].life;
        if let Some(provided) = &life.provided {
            let mut collector = self.collector(instance);
            collector.walk().expr(&mut collector, provided);
            let access = collector.take();
            guard.push(Conjunct { expr: Some(provided), ..Conjunct::holds(access) });
        }
        if life.priority.is_some() {
            let access = Access { reads_anything: true, ..Access::default() };
            guard.push(Conjunct::holds(access));
        }
        guard.extend(self.earlier(instance).map(Conjunct::holds));
    }

    /// What is read to find out whether the actions before this one let it be taken, if they have a
    /// say.
    fn earlier(&self, instance: &Instance) -> Option<Access> {
        let action = &self.program.actions[instance.action];
        let Edge { process, from, .. } = action.edge?;
        let all = &self.from[process.index()][from.index()];
        let before: Vec<ActionId> =
            all.iter().copied().take_while(|&it| it != instance.action).collect();
        let tier = |id: &ActionId| self.program.actions[*id].control.tier;
        let decides = |id: &ActionId| tier(id) != 0 && tier(id) != action.control.tier;
        if !action.control.otherwise && !before.iter().any(decides) {
            return None;
        }
        let mut access = Access::default();
        for id in before {
            let other = Instance { action: id, slot: instance.slot, values: Vec::new() };
            access.extend(self.possibility(&other));
        }
        Some(access)
    }

    /// What is read to find out whether an action of the mover is possible.
    fn possibility(&self, instance: &Instance) -> Access {
        let action = &self.program.actions[instance.action];
        let mut collector = self.collector(instance);
        action.guard.iter().for_each(|it| collector.walk().expr(&mut collector, it));
        let mut access = collector.take();
        if let Some(communication) = &action.communication {
            access.extend(collector.readiness(communication).reads());
            // Whether anybody receives is a matter of all others.
            access.reads_anything |= self.may_meet(communication.channel());
        }
        access
    }

    /// That nobody else has committed himself, if the movers have not.
    fn commitment<'t>(&'t self, movers: &[&Instance], guard: &mut Vec<Conjunct<'t>>) {
        let is_committed = |instance: &&Instance| {
            let edge = self.program.actions[instance.action].edge;
            edge.is_some_and(|Edge { process, from, .. }| {
                self.program.processes[process].locations[from].grip == Grip::Committed
            })
        };
        if self.has_committed && !movers.iter().all(is_committed) {
            let access = Access { reads_commitment: true, ..Access::default() };
            guard.push(Conjunct { may_fail: false, ..Conjunct::holds(access) });
        }
    }

    fn judges<'t>(&'t self, instance: &Instance, guard: &mut Vec<Conjunct<'t>>) {
        if let Some(condition) = &self.program.actions[instance.action].guard {
            self.collector(instance).conjuncts(condition, guard);
        }
    }

    /// What is read to find out whether a message is received, and on which channel.
    fn message(&self, sender: &Instance, receiver: &Instance) -> Access {
        let mut access = Access::default();
        for instance in [sender, receiver] {
            let mut collector = self.collector(instance);
            if let Some(communication) = &self.program.actions[instance.action].communication {
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

    /// What taking an action does, but for what the mover does next.
    fn effect(&self, instance: &Instance) -> Access {
        let action = &self.program.actions[instance.action];
        let mut collector = self.collector(instance);
        self.run(&mut collector, action, true);
        collector.take()
    }

    pub(super) fn run(&self, collector: &mut Collector<'_>, action: &Action, is_guarded: bool) {
        let walk = collector.walk();
        action.edge.into_iter().for_each(|it| collector.touch(Touch::Move(it)));
        match &action.communication {
            None => {}
            Some(it) if is_guarded => collector.guarded(|to| walk.communication(to, it)),
            Some(it) => walk.communication(collector, it),
        }
        if let Some(last) = self.program.last {
            let place = Place::variable(last, self.program.variables[last].span);
            collector.touch(Touch::OwnPid);
            collector.touch(Touch::Write(&place));
        }
        walk.body(collector, &action.body);
    }

    /// All cells that a transition may look at, other than to find out which instances there are.
    pub fn read_cells(&self, access: &TransitionAccess<'_>) -> Cells {
        let mut reads = access.effect.reading();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let mut cells = reads.reads;
        reads.asks.iter().for_each(|(cell, _)| cells.insert(cell.0..cell.0 + 1));
        for (channel, _) in &reads.channels {
            cells.insert(self.known().channel_cells(*channel));
        }
        if reads.reads_commitment {
            for (process, slot) in self.program.instances() {
                let cell = self.known().location_cell(process, slot).0;
                cells.insert(cell..cell + 1);
            }
        }
        if reads.reads_anything {
            cells = Cells::all(self.layout.state_cells);
        }
        cells
    }

    /// All cells that a transition may change.
    pub fn written_cells(&self, access: &TransitionAccess<'_>) -> Cells {
        let mut cells = access.effect.written();
        let changed = access.effect.channels.iter().filter(|(_, it)| it.changes());
        changed.for_each(|(channel, _)| cells.insert(self.known().channel_cells(*channel)));
        cells
    }
}

impl TransitionAccess<'_> {
    /// Whether two are never possible in one state: some process would have to be in two places, or
    /// some cell to hold two values.
    pub fn excludes(&self, other: &TransitionAccess<'_>) -> bool {
        let contradicts = |one: &Conjunct, two: &Conjunct| match (&one.condition, &two.condition) {
            (Condition::At(cell, at), Condition::At(same, there)) => cell == same && at != there,
            (
                Condition::Compares(cell, Binary::Equal, value),
                Condition::Compares(same, Binary::Equal, another),
            ) => cell == same && value != another,
            _ => false,
        };
        self.certain().any(|one| other.certain().any(|two| contradicts(one, two)))
    }

    /// The conjuncts that hold wherever the transition is possible: not those after one that may fail,
    /// which is a step, too.
    fn certain(&self) -> impl Iterator<Item = &Conjunct<'_>> {
        self.guard.iter().take_while(|it| !it.may_fail)
    }
}
