//! Which actions are their process's own matter: nobody else can tell whether one was taken, nor keep it from being.
//!
//! Such an action neither reads what another may write nor writes what another may read, needs no channel, cannot
//! fail, and no property asks for what it changes. Whoever else can do something before it can do the same after it, and
//! the other way around, and both orders lead to the same state.

use super::access::{Access, InstanceAccess, Table};
use super::instances::{ActionInstance, InstanceId, Side};
use crate::ir::layout::{CellId, Content};
use crate::ir::walk::{self, Visitor};
use crate::ir::{ActionId, ExprKind, Instance, Owner, Place, ProcessId, Program, Root, Urgency};
use std::collections::{BTreeMap, BTreeSet};

/// Whose step it is: one process's, that of two who meet, or nobody's.
type Movers = [Option<Instance>; 2];

/// Who has a part in all that touches something.
#[derive(Clone, Copy, Debug, Default)]
struct Touched(Option<Movers>);

impl Touched {
    fn by(&mut self, movers: Movers) {
        let common = |known: Movers| known.map(|it| it.filter(|_| movers.contains(&it)));
        self.0 = Some(self.0.map_or(movers, common));
    }

    /// Whether nobody touches it without this one.
    fn is_left_to(self, mover: Instance) -> bool {
        self.0.is_none_or(|it| it.contains(&Some(mover)))
    }
}

/// The actions of a program that are their process's own matter.
#[derive(Debug)]
pub struct LocalActions<'t> {
    table: &'t Table<'t>,
    /// Of each cell, who reads it and who writes it.
    read: Vec<Touched>,
    written: Vec<Touched>,
    /// Who asks whether a process is somewhere.
    asked: BTreeMap<(CellId, u32), Touched>,
    /// Who may look at anything, and who starts and ends instances.
    all: Touched,
    instances: Touched,
    /// Whose each cell is, of those that are a process's.
    owners: Vec<Option<Instance>>,
    /// Whether somebody writes what is another's, who need not know.
    writes_elsewhere: bool,
    /// The actions that may fail, in some instance.
    failing: BTreeSet<ActionId>,
}

impl<'t> LocalActions<'t> {
    /// Of all action instances in a table.
    pub fn new(table: &'t Table<'t>) -> LocalActions<'t> {
        let program = table.program();
        let cells = table.layout().state_cells as usize;
        let mut found = LocalActions {
            table,
            read: vec![Touched::default(); cells],
            written: vec![Touched::default(); cells],
            asked: BTreeMap::new(),
            all: Touched::default(),
            instances: Touched::default(),
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
        // As long as somebody has an action that is possible, nobody comes to wait for that.
        let is_last = |kind: &ExprKind| *kind == ExprKind::Timeout;
        if access.certain().filter_map(|it| it.expr).any(|it| is_last(&it.kind)) {
            return;
        }
        let mover = |side: Side| {
            let process = program.actions[side.action].edge.map(|edge| edge.process);
            process.map(|process| Instance { process, slot: side.slot })
        };
        let movers = match instance {
            ActionInstance::Alone(side) => [mover(side), None],
            ActionInstance::Meeting { sender, receiver } => [mover(sender), mover(receiver)],
            ActionInstance::MayMove { process, slot } => [Some(Instance { process, slot }), None],
        };
        let mut reads = access.effect.reading();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        self.reads(movers, &reads);
        for CellId(cell) in self.table.written_cells(access).iter() {
            // What is another's is written where that one has a part in the step, or begins with it.
            let is_kept =
                |owner: Instance| !self.writes_elsewhere && !movers.contains(&Some(owner));
            let of = self.owners.get(cell as usize).copied().flatten();
            if let Some(written) = self.written.get_mut(cell as usize)
                && !of.is_some_and(is_kept)
            {
                written.by(movers);
            }
        }
        if access.effect.writes_instances {
            self.instances.by(movers);
        }
    }

    fn reads(&mut self, movers: Movers, reads: &Access) {
        for CellId(cell) in reads.reads.iter() {
            self.read.get_mut(cell as usize).into_iter().for_each(|it| it.by(movers));
        }
        for &(cell, location) in &reads.asks {
            self.asked.entry((cell, location.0)).or_default().by(movers);
        }
        if reads.reads_anything {
            self.all.by(movers);
        }
    }

    /// Whoever looks for something in states.
    fn observers(&mut self) {
        let program = self.table.program();
        for property in program.properties.keys() {
            let read = self.table.read_by(property);
            self.reads([None; 2], &read);
        }
    }

    /// Whether an action may fail.
    pub fn may_fail(&self, action: ActionId) -> bool {
        self.failing.contains(&action)
    }

    /// Whether an action that needs no channel is its process's own matter, whichever instance takes it.
    pub fn is_local(&self, action: ActionId) -> bool {
        let it = &self.table.program().actions[action];
        let Some(edge) = it.edge.filter(|_| it.communication.is_none()) else { return false };
        let slots = 0..self.table.program().slots(edge.process);
        it.parameters.is_empty()
            && slots.into_iter().all(|slot| {
                let number = self.table.instances().first_alone(action, slot).map(InstanceId);
                let mover = Instance { process: edge.process, slot };
                number.is_some_and(|it| self.is_own_matter(mover, &self.table.access(it)))
                    && self.is_free(edge.process, action)
            })
    }

    fn is_own_matter(&self, mover: Instance, access: &InstanceAccess<'_>) -> bool {
        let effect = &access.effect;
        let mut reads = effect.reading();
        access.guard.iter().for_each(|it| reads.extend(it.reads()));
        let own_place = self.table.location_cell(mover.process, mover.slot);
        let is_unseen = |cell: CellId| {
            let at = cell.0 as usize;
            let (read, written) = (self.read.get(at), self.written.get(at));
            read.zip(written)
                .is_some_and(|(read, written)| read.is_left_to(mover) && written.is_left_to(mover))
        };
        let is_unasked = |location| {
            let asked = self.asked.get(&(own_place, location)).copied().unwrap_or_default();
            asked.is_left_to(mover)
        };
        let is_told = access.failures().any() || effect.may_drop;
        let is_plain = !(is_told || effect.writes_instances || reads.reads_anything)
            && reads.channels.is_empty()
            && self.all.is_left_to(mover)
            && (!reads.reads_instances || self.instances.is_left_to(mover));
        is_plain
            && reads.reads.iter().all(|CellId(cell)| {
                self.written.get(cell as usize).is_some_and(|it| it.is_left_to(mover))
            })
            && reads.asks.iter().all(|(cell, _)| *cell == own_place)
            && effect.written().iter().all(is_unseen)
            && effect.moves.iter().all(|it| {
                let ends = [it.from, it.to].into_iter().flatten();
                it.cell == own_place && ends.into_iter().all(|at| is_unasked(at.0))
            })
    }

    /// Whether nobody who has committed himself keeps an action from being taken, and it keeps nobody else from
    /// moving. Who has committed himself may move; that he then lets others move again takes nothing from anybody.
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

/// Whose each cell of a state is, if it is a process's.
fn owners(table: &Table<'_>) -> Vec<Option<Instance>> {
    let (program, layout) = (table.program(), table.layout());
    let mut owners = vec![None; layout.state_cells as usize];
    for group in layout.groups.values() {
        let owner = match group.part {
            Content::Location(process) => Owner::Process(process),
            Content::Variable(id) => program.variables[id].owner,
            Content::Channel(id) => program.channels[id].owner,
        };
        if let Owner::Process(process) = owner {
            let first = group.first.0 as usize;
            owners[first..first + group.cells as usize]
                .fill(Some(Instance { process, slot: group.slot }));
        }
    }
    owners
}

/// Whether any code writes what is another instance's.
fn writes_elsewhere(program: &Program) -> bool {
    struct Writes<'p> {
        program: &'p Program,
        mover: Option<ProcessId>,
        found: bool,
    }
    impl Visitor for Writes<'_> {
        fn place(&mut self, place: &Place, access: walk::Access) {
            let owner = match place.root {
                Root::Variable(id) => self.program.variables[id].owner,
                Root::Local(_) => Owner::Program,
            };
            let is_own = match owner {
                Owner::Program => true,
                Owner::Process(process) => place.slot.is_none() && self.mover == Some(process),
            };
            self.found |= access == walk::Access::Write && !is_own;
            walk::place(self, place);
        }
    }
    let mut look = Writes { program, mover: None, found: false };
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
