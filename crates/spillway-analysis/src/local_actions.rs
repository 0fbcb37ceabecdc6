//! Local actions: actions that no other process can observe or disable.
//!
//! A local action reads nothing that others may write, writes nothing that others may read, uses no channel and
//! cannot fail. No property observes its changes. So it commutes with every action of other processes, in both
//! orders.

use super::access::{AccessSet, AccessTable, InstanceAccess};
use super::instances::{ActionInstance, InstanceId, InstanceSide};
use spillway_ir::layout::{CellId, GroupContent};
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    ActionId, ExprKind, Owner, Place, PlaceRoot, ProcessId, ProcessInstance, Program, Urgency,
};
use std::collections::{BTreeMap, BTreeSet};

/// The movers of a step: one process, two in a rendezvous, or none.
type StepMovers = [Option<ProcessInstance>; 2];

/// The movers that take part in all accesses of something.
#[derive(Clone, Copy, Debug, Default)]
struct CommonMovers(Option<StepMovers>);

impl CommonMovers {
    fn add_movers(&mut self, movers: StepMovers) {
        let common = |known: StepMovers| known.map(|it| it.filter(|_| movers.contains(&it)));
        self.0 = Some(self.0.map_or(movers, common));
    }

    /// Returns whether a process takes part in all accesses.
    fn is_only_by(self, mover: ProcessInstance) -> bool {
        self.0.is_none_or(|it| it.contains(&Some(mover)))
    }
}

/// The local actions of a program.
#[derive(Debug)]
pub struct LocalActions<'t> {
    table: &'t AccessTable<'t>,
    /// The readers and the writers of each cell.
    read: Vec<CommonMovers>,
    written: Vec<CommonMovers>,
    /// The processes that query whether a process is at a location.
    asked: BTreeMap<(CellId, u32), CommonMovers>,
    /// The processes that may read anything, and those that start and end instances.
    all: CommonMovers,
    instances: CommonMovers,
    /// The owner of each cell that belongs to a process.
    owners: Vec<Option<ProcessInstance>>,
    /// Whether some code writes cells of another instance, which does not take part in the step.
    writes_elsewhere: bool,
    /// The actions that may fail in some instance.
    failing: BTreeSet<ActionId>,
}

impl<'t> LocalActions<'t> {
    /// Computes the local actions from all action instances in a table.
    pub fn new(table: &'t AccessTable<'t>) -> LocalActions<'t> {
        let program = table.program();
        let cells = table.layout().state_cells as usize;
        let mut found = LocalActions {
            table,
            read: vec![CommonMovers::default(); cells],
            written: vec![CommonMovers::default(); cells],
            asked: BTreeMap::new(),
            all: CommonMovers::default(),
            instances: CommonMovers::default(),
            owners: owners(table),
            writes_elsewhere: writes_elsewhere(program),
            failing: BTreeSet::new(),
        };
        for number in 0..table.instances().count() {
            let number = InstanceId(number);
            let Some(instance) = table.instances().get(number) else { continue };
            found.add(instance, &table.access(number));
        }
        found.observers();
        found
    }

    fn add(&mut self, instance: ActionInstance, access: &InstanceAccess<'_>) {
        let program = self.table.program();
        if access.failures().any() {
            self.failing.extend(instance.sides().map(|it| it.action));
        }
        // An instance that waits for `timeout` is disabled while any other action is enabled.
        let is_last = |kind: &ExprKind| *kind == ExprKind::Timeout;
        if access.certain_conjuncts().filter_map(|it| it.expr).any(|it| is_last(&it.kind)) {
            return;
        }
        let mover = |side: InstanceSide| {
            let process = program.actions[side.action].edge.map(|edge| edge.process);
            process.map(|process| ProcessInstance { process, slot: side.slot })
        };
        let movers = match instance {
            ActionInstance::Alone(side) => [mover(side), None],
            ActionInstance::Meeting { sender, receiver } => [mover(sender), mover(receiver)],
            ActionInstance::MayMove { process, slot } => {
                [Some(ProcessInstance { process, slot }), None]
            }
        };
        let mut reads = access.effect.as_reads();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        self.reads(movers, &reads);
        for CellId(cell) in self.table.written_cells(access).iter() {
            // Cells of another process are written if it takes part in the step or starts in it.
            let is_kept =
                |owner: ProcessInstance| !self.writes_elsewhere && !movers.contains(&Some(owner));
            let of = self.owners.get(cell as usize).copied().flatten();
            if let Some(written) = self.written.get_mut(cell as usize)
                && !of.is_some_and(is_kept)
            {
                written.add_movers(movers);
            }
        }
        if access.effect.writes_instances {
            self.instances.add_movers(movers);
        }
    }

    fn reads(&mut self, movers: StepMovers, reads: &AccessSet) {
        for CellId(cell) in reads.reads.iter() {
            self.read.get_mut(cell as usize).into_iter().for_each(|it| it.add_movers(movers));
        }
        for &(cell, location) in &reads.asks {
            self.asked.entry((cell, location.0)).or_default().add_movers(movers);
        }
        if reads.depends_on_anything() {
            self.all.add_movers(movers);
        }
    }

    /// Adds the reads of properties.
    fn observers(&mut self) {
        let program = self.table.program();
        for property in program.properties.keys() {
            let read = self.table.read_by(property);
            self.reads([None; 2], &read);
        }
    }

    /// Returns whether an action may fail.
    pub fn may_fail(&self, action: ActionId) -> bool {
        self.failing.contains(&action)
    }

    /// Returns whether an action without a message is local, for each instance.
    pub fn is_local(&self, action: ActionId) -> bool {
        let it = &self.table.program().actions[action];
        let Some(edge) = it.edge.filter(|_| it.communication.is_none()) else { return false };
        let slots = 0..self.table.program().slots(edge.process);
        it.parameters.is_empty()
            && slots.into_iter().all(|slot| {
                let number = self.table.instances().first_alone(action, slot).map(InstanceId);
                let mover = ProcessInstance { process: edge.process, slot };
                number.is_some_and(|it| self.is_local_step(mover, &self.table.access(it)))
                    && self.is_free(edge.process, action)
            })
    }

    fn is_local_step(&self, mover: ProcessInstance, access: &InstanceAccess<'_>) -> bool {
        let effect = &access.effect;
        let mut reads = effect.as_reads();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let own_place = self.table.location_cell(mover.process, mover.slot);
        let is_unseen = |cell: CellId| {
            let at = cell.0 as usize;
            let (read, written) = (self.read.get(at), self.written.get(at));
            read.zip(written)
                .is_some_and(|(read, written)| read.is_only_by(mover) && written.is_only_by(mover))
        };
        let is_unasked = |location| {
            let asked = self.asked.get(&(own_place, location)).copied().unwrap_or_default();
            asked.is_only_by(mover)
        };
        let is_told = access.failures().any() || effect.may_drop;
        let is_plain = !(is_told || effect.writes_instances || reads.depends_on_anything())
            && reads.channels.is_empty()
            && self.all.is_only_by(mover)
            && (!reads.reads_instances || self.instances.is_only_by(mover));
        is_plain
            && reads.reads.iter().all(|CellId(cell)| {
                self.written.get(cell as usize).is_some_and(|it| it.is_only_by(mover))
            })
            && reads.asks.iter().all(|(cell, _)| *cell == own_place)
            && effect.written().iter().all(is_unseen)
            && effect.moves.iter().all(|it| {
                let ends = [it.from, it.to].into_iter().flatten();
                it.cell == own_place && ends.into_iter().all(|at| is_unasked(at.0))
            })
    }

    /// Returns whether no other process at a committed location prevents the action, and the action prevents no other
    /// process. A process at a committed location may move. If it leaves the location, others may move again, which
    /// disables nothing.
    fn is_free(&self, process: ProcessId, action: ActionId) -> bool {
        let program = self.table.program();
        let Some(edge) = program.actions[action].edge else { return false };
        let is_committed = |process: ProcessId, at| {
            program.processes[process].locations[at].urgency == Urgency::Committed
        };
        let some = |process: ProcessId| {
            let mut all = program.processes[process].locations.keys();
            all.any(|at| is_committed(process, at))
        };
        let is_other = |it: ProcessId| it != process || program.slots(it) > 1;
        is_committed(process, edge.from)
            || (!is_committed(process, edge.to)
                && !program.processes.keys().any(|it| is_other(it) && some(it)))
    }
}

/// Returns the owner of each cell of a state that belongs to a process.
fn owners(table: &AccessTable<'_>) -> Vec<Option<ProcessInstance>> {
    let (program, layout) = (table.program(), table.layout());
    let mut owners = vec![None; layout.state_cells as usize];
    for group in layout.groups.values() {
        let owner = match group.part {
            GroupContent::Location(process) => Owner::Process(process),
            GroupContent::Variable(id) => program.variables[id].owner,
            GroupContent::Channel(id) => program.channels[id].owner,
        };
        if let Owner::Process(process) = owner {
            let first = group.first.0 as usize;
            owners[first..first + group.cells as usize]
                .fill(Some(ProcessInstance { process, slot: group.slot }));
        }
    }
    owners
}

/// Returns whether any code writes cells of another instance.
fn writes_elsewhere(program: &Program) -> bool {
    struct RemoteWriteFinder<'p> {
        program: &'p Program,
        mover: Option<ProcessId>,
        found: bool,
    }
    impl CodeVisitor for RemoteWriteFinder<'_> {
        fn place(&mut self, place: &Place, access: walk::PlaceAccess) {
            let owner = match place.root {
                PlaceRoot::Variable(id) => self.program.variables[id].owner,
                PlaceRoot::Local(_) => Owner::Program,
            };
            let is_own = match owner {
                Owner::Program => true,
                Owner::Process(process) => place.slot.is_none() && self.mover == Some(process),
            };
            self.found |= access == walk::PlaceAccess::Write && !is_own;
            walk::place(self, place);
        }
    }
    let mut look = RemoteWriteFinder { program, mover: None, found: false };
    for action in program.actions.values() {
        look.mover = action.edge.map(|edge| edge.process);
        walk::action(&mut look, action);
    }
    for (id, process) in program.processes.iter() {
        look.mover = Some(id);
        walk::body(&mut look, &process.life.prologue);
    }
    look.mover = None;
    program.functions.values().for_each(|it| walk::body(&mut look, &it.body));
    look.found
}
