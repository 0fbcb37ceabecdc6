//! What each action instance of a program waits for, reads and writes.

use super::cells::Cells;
use super::collect::{Collector, Known, Mover};
use super::guard::{Condition, Conjunct};
use super::object::Access;
use super::walk::{Touch, Touched};
use crate::analysis::instances::{ActionInstance, ActionInstances, InstanceId, NotNumbered, Side};
use crate::analysis::ranges::ranges;
use crate::ir::layout::{CellId, Ranges};
use crate::ir::{
    Action, ActionId, Binary, ChannelRef, Communication, Edge, Entity, Expr, Instance, Layout,
    Place, ProcessId, Program, PropertyKind, Urgency,
};
use std::collections::{BTreeMap, BTreeSet};

/// What an action instance waits for and what it does.
#[derive(Clone, Debug)]
pub struct InstanceAccess<'p> {
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
    fixed: BTreeMap<CellId, i64>,
    instances: ActionInstances,
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
    /// Of a valid program, or why its action instances are not numbered. Any layout of it will do.
    pub fn new(program: &'p Program, layout: &'p Layout) -> Result<Table<'p>, NotNumbered> {
        Table::where_fixed(program, layout, BTreeMap::new())
    }

    /// The same, about states from which on these cells, of locals of processes that are there, never
    /// change.
    pub fn where_fixed(
        program: &'p Program,
        layout: &'p Layout,
        fixed: BTreeMap<CellId, i64>,
    ) -> Result<Table<'p>, NotNumbered> {
        let instances = ActionInstances::new(program)?;
        let mut from: Vec<Vec<Vec<ActionId>>> = (program.processes.values())
            .map(|process| vec![Vec::new(); process.locations.len()])
            .collect();
        for (id, action) in program.actions.iter() {
            if let Some(Edge { process, from: at, .. }) = action.edge {
                from[process.index()][at.index()].push(id);
            }
        }
        let mut locations = program.processes.values().flat_map(|it| it.locations.values());
        let has_committed = locations.any(|it| it.urgency == Urgency::Committed);
        let has_priorities = program.actions.values().any(|it| it.priority != 0);
        let ranges = ranges(program);
        let assumed = None;
        let mut table = Table {
            program,
            layout,
            ranges,
            fixed,
            instances,
            from,
            has_committed,
            has_priorities,
            assumed,
        };
        table.assumed = table.assumptions();
        Ok(table)
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
        Known {
            program: self.program,
            layout: self.layout,
            ranges: self.ranges.as_ref(),
            fixed: &self.fixed,
        }
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

    /// The action instances.
    pub fn instances(&self) -> &ActionInstances {
        &self.instances
    }

    /// Whether a channel may be a rendezvous.
    fn may_meet(&self, channel: &ChannelRef) -> bool {
        channel.meant(self.program).any(|it| self.program.channels[it].capacity == 0)
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

    /// For the code of one side: its parameters stand for their values.
    fn collector(&self, side: Side) -> Collector<'_> {
        let action = &self.program.actions[side.action];
        let process = action.edge.map(|edge| edge.process);
        let mover = Mover { process, slots: side.slot..side.slot + 1 };
        let mut collector = Collector::new(self.known(), mover);
        for (parameter, value) in action.parameters.iter().zip(self.instances.values(side)) {
            collector.bind_value(parameter.local, value);
        }
        collector
    }

    /// What an action instance waits for and what it does.
    ///
    /// # Panics
    /// If the program has no such instance.
    pub fn access(&self, number: InstanceId) -> InstanceAccess<'_> {
        let instance = self.instances.get(number);
        let instance = instance.unwrap_or_else(|| panic!("the program has no {number:?}"));
        let mut found = match instance {
            ActionInstance::Alone(side) => self.alone(side),
            ActionInstance::Meeting { sender, receiver } => self.rendezvous(sender, receiver),
            ActionInstance::MayMove { process, slot } => return self.question(process, slot),
        };
        let is_free = |side: Side| self.program.actions[side.action].edge.is_none();
        if self.has_priorities && instance.sides().any(is_free) {
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

    /// What a process is asked before it moves: whether asking fails.
    fn question(&self, process: ProcessId, slot: u32) -> InstanceAccess<'_> {
        let mover = Mover { process: Some(process), slots: slot..slot + 1 };
        let mut collector = Collector::new(self.known(), mover);
        let life = &self.program.processes[process].life;
        life.provided.iter().for_each(|it| collector.walk().expr(&mut collector, it));
        let mut access = collector.take();
        access.reads_anything |= life.priority.is_some();
        let cell = self.known().location_cell(process, slot).0;
        access.reads.insert(cell..cell + 1);
        InstanceAccess { guard: vec![Conjunct::holds(access)], effect: Access::default() }
    }

    fn alone(&self, first: Side) -> InstanceAccess<'_> {
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
        let mut whole = InstanceAccess { guard, effect };
        self.go_on(first, &mut whole.effect);
        whole
    }

    fn rendezvous(&self, sender: Side, receiver: Side) -> InstanceAccess<'_> {
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
        let judged = guard.len();
        self.judges(receiver, &mut guard);
        if !comes_and_goes {
            if guard[judged..].iter().any(|it| it.may_fail) {
                guard.insert(judged, self.other_senders(receiver));
            }
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
        let mut whole = InstanceAccess { guard, effect };
        whole.effect.extend(self.effect(receiver));
        self.go_on(receiver, &mut whole.effect);
        whole
    }

    /// Who else is where he could send to a receiver: a guard of that which fails is an error of the
    /// first who is.
    fn other_senders(&self, receiver: Side) -> Conjunct<'p> {
        let mut access = Access::default();
        let received = self.program.actions[receiver.action].communication.as_ref();
        let meant = |it: &Communication| it.channel().meant(self.program).collect::<BTreeSet<_>>();
        let channels = received.map(meant).unwrap_or_default();
        for action in self.program.actions.values() {
            if let (Some(edge), Some(sent @ Communication::Send { .. })) =
                (action.edge, &action.communication)
                && !meant(sent).is_disjoint(&channels)
            {
                access.asks.push((self.known().location_cell(edge.process, 0), edge.from));
            }
        }
        Conjunct::holds(access)
    }

    /// That the mover is there and may move, and what decides before its guard is asked.
    fn begins<'t>(&'t self, side: Side, guard: &mut Vec<Conjunct<'t>>) {
        let action = &self.program.actions[side.action];
        let Some(Edge { process, from, .. }) = action.edge else { return };
        guard.push(Conjunct::at(self.known().location_cell(process, side.slot), from));
        let life = &self.program.processes[process].life;
        if let Some(provided) = &life.provided {
            let mut collector = self.collector(side);
            collector.walk().expr(&mut collector, provided);
            let access = collector.take();
            guard.push(Conjunct { expr: Some(provided), ..Conjunct::holds(access) });
        }
        if life.priority.is_some() {
            let access = Access { reads_anything: true, ..Access::default() };
            guard.push(Conjunct::holds(access));
        }
        guard.extend(self.earlier(side).map(Conjunct::holds));
    }

    /// What is read to find out whether the actions before this one let it be taken, if they have a
    /// say.
    fn earlier(&self, side: Side) -> Option<Access> {
        let action = &self.program.actions[side.action];
        let Edge { process, from, .. } = action.edge?;
        let all = &self.from[process.index()][from.index()];
        let before: Vec<ActionId> =
            all.iter().copied().take_while(|&it| it != side.action).collect();
        let tier = |id: &ActionId| self.program.actions[*id].control.tier;
        let decides = |id: &ActionId| tier(id) != 0 && tier(id) != action.control.tier;
        if !action.control.otherwise && !before.iter().any(decides) {
            return None;
        }
        let mut access = Access::default();
        for id in before {
            let other = Side { action: id, slot: side.slot, combination: 0 };
            access.extend(self.possibility(other));
        }
        Some(access)
    }

    /// What is read to find out whether an action of the mover is possible.
    fn possibility(&self, side: Side) -> Access {
        let action = &self.program.actions[side.action];
        let mut collector = self.collector(side);
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
    fn commitment<'t>(&'t self, movers: &[Side], guard: &mut Vec<Conjunct<'t>>) {
        let is_committed = |side: &Side| {
            let edge = self.program.actions[side.action].edge;
            edge.is_some_and(|Edge { process, from, .. }| {
                self.program.processes[process].locations[from].urgency == Urgency::Committed
            })
        };
        if self.has_committed && !movers.iter().all(is_committed) {
            let access = Access { reads_commitment: true, ..Access::default() };
            guard.push(Conjunct { may_fail: false, ..Conjunct::holds(access) });
        }
    }

    fn judges<'t>(&'t self, side: Side, guard: &mut Vec<Conjunct<'t>>) {
        if let Some(condition) = &self.program.actions[side.action].guard {
            self.collector(side).conjuncts(condition, guard);
        }
    }

    /// What is read to find out whether a message is received, and on which channel.
    fn message(&self, sender: Side, receiver: Side) -> Access {
        let mut access = Access::default();
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

    /// What taking an action does, but for what the mover does next.
    fn effect(&self, side: Side) -> Access {
        let action = &self.program.actions[side.action];
        let mut collector = self.collector(side);
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

    /// All cells that an action instance may look at, other than to find out which instances there are.
    pub fn read_cells(&self, access: &InstanceAccess<'_>) -> Cells {
        let mut reads = access.effect.reading();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let mut cells = reads.reads;
        reads.asks.iter().for_each(|(cell, _)| cells.insert(cell.0..cell.0 + 1));
        for (channel, _) in &reads.channels {
            cells.insert(self.known().channel_cells(*channel));
        }
        if reads.reads_commitment {
            for Instance { process, slot } in self.program.instances() {
                let cell = self.known().location_cell(process, slot).0;
                cells.insert(cell..cell + 1);
            }
        }
        if reads.reads_anything {
            cells = Cells::all(self.layout.state_cells);
        }
        cells
    }

    /// All cells that an action instance may change.
    pub fn written_cells(&self, access: &InstanceAccess<'_>) -> Cells {
        let mut cells = access.effect.written();
        let changed = access.effect.channels.iter().filter(|(_, it)| it.changes());
        changed.for_each(|(channel, _)| cells.insert(self.known().channel_cells(*channel)));
        cells
    }
}

impl InstanceAccess<'_> {
    /// Whether two are never possible in one state: some process would have to be in two places, or
    /// some cell to hold two values.
    pub fn excludes(&self, other: &InstanceAccess<'_>) -> bool {
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

    /// The conjuncts that hold wherever the instance is possible: not those after one that may fail,
    /// which is a step, too.
    fn certain(&self) -> impl Iterator<Item = &Conjunct<'_>> {
        self.guard.iter().take_while(|it| !it.may_fail)
    }
}
