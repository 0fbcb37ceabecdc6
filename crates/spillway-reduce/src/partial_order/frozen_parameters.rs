//! Parameters that cannot change after a state: those of processes that have all been started.
//!
//! Programs often pass channels to processes when these start, as in `run node(q[i], q[i + 1], i)`. If no process of
//! a kind can be started any more, the live ones keep their parameters in every run from the state. So the accesses
//! of their transitions are known exactly, and each such *configuration* can have its own relation. In SPIN the user
//! declares this by `xr` and `xs`. Parameters that do not affect accesses are ignored: they would give a relation for
//! each order in which processes are numbered, and all would be equal.

use spillway_analysis::access::{LiveProcesses, linking_parameters};
use spillway_analysis::constants::{constants, relevant_constants};
use spillway_ir::layout::{CellId, ScalarCell};
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Entity, Layout, LocationId, Owner, PidRule, ProcessId, ProcessInstance, Program, Stmt,
    StmtKind, VarId,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The most kinds of processes, so that a word has a bit for each.
const KINDS_MAX: usize = 64;

/// The most combinations of numbers of live processes, by kind. A program with more has no configurations of live
/// processes: each would need a relation of its own.
const LIVE_MAX: u64 = 1 << 12;

/// What a relation knows about the states of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FrozenConfiguration {
    /// The values that do not change as long as their processes exist.
    pub cells: BTreeMap<CellId, i64>,
    /// The processes, if more may start of a kind with linking parameters. Then the relation is about the runs from a
    /// state of the configuration. Otherwise it holds in all following states.
    pub live: Option<LiveProcesses>,
}

impl FrozenConfiguration {
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.live.is_none()
    }
}

/// Computes the configuration of a state.
#[derive(Clone, Debug)]
pub(super) struct FrozenParameters {
    /// The bits of a state that contain constants.
    mask: Vec<u8>,
    /// The processes that may start others, one for each slot.
    starters: Vec<ProcessStarter>,
    /// For each kind of process, the kinds that its instances may start, as bits.
    starts: Vec<u64>,
    slots: Vec<FrozenSlot>,
    /// The linking parameters, if configurations list the live processes.
    linking: Option<Arc<BTreeSet<VarId>>>,
    layout: Layout,
}

/// The location of a process that may start others.
#[derive(Clone, Debug)]
struct ProcessStarter {
    location: CellId,
    /// By code, the kinds that the process may start from that location on.
    by_code: Vec<u64>,
}

impl ProcessStarter {
    /// Returns the kinds that the process may start in a state or later.
    fn may_start(&self, layout: &Layout, state: &[u8]) -> u64 {
        let code = layout.code(state, self.location) as usize;
        self.by_code.get(code).copied().unwrap_or(u64::MAX)
    }
}

/// A slot of a process with constant local variables.
#[derive(Clone, Debug)]
struct FrozenSlot {
    /// The cell of the location, which shows whether the slot is free.
    location: CellId,
    kind: ProcessId,
    slot: u32,
    /// The cells of the constant local variables.
    cells: Vec<CellId>,
    /// Those of linking parameters.
    linking: Vec<CellId>,
    /// The cell of the pid, if the pid is not `first_pid`.
    pid: Option<CellId>,
    first_pid: i64,
}

impl FrozenSlot {
    fn is_free(&self, layout: &Layout, state: &[u8]) -> bool {
        layout.get(state, self.location) == Some(0)
    }
}

/// Returns whether processes start others of their kind, and partial order distinguishes those that exist from those that
/// start later.
pub fn follows_live_processes(program: &Program, layout: &Layout) -> bool {
    FrozenParameters::new(program, layout, true).is_some_and(|it| {
        let starts_own_kind = |(kind, starts): (usize, &u64)| starts >> kind & 1 != 0;
        it.linking.is_some() && it.starts.iter().enumerate().any(starts_own_kind)
    })
}

impl FrozenParameters {
    /// Creates the analysis of a program; `None` if it has only one configuration. With `lists_live`, configurations
    /// list the live processes if that is useful.
    pub fn new(program: &Program, layout: &Layout, lists_live: bool) -> Option<FrozenParameters> {
        let constants = relevant_constants(program, &constants(program));
        if constants.is_empty() || program.processes.len() > KINDS_MAX {
            return None;
        }
        let starts: Vec<u64> =
            program.processes.keys().map(|it| started_from(program, it, None)).collect();
        let mut fixed = FrozenParameters {
            mask: vec![0; layout.bytes],
            starters: Vec::new(),
            starts,
            slots: Vec::new(),
            linking: lists_live.then(|| linking(program)).flatten(),
            layout: layout.clone(),
        };
        for (kind, process) in program.processes.iter().filter(|(_, it)| it.has_slots()) {
            for slot in 0..program.slots(kind) {
                let location = layout.locations[kind].in_slot(slot);
                if fixed.starts[kind.index()] != 0 {
                    let from = |at: LocationId| started_from(program, kind, Some(at));
                    let by_code = std::iter::once(0).chain(process.locations.keys().map(from));
                    fixed.starters.push(ProcessStarter { location, by_code: by_code.collect() });
                }
                let own = |it: &&VarId| program.variables[**it].owner == Owner::Process(kind);
                let own = constants.iter().filter(own);
                let cells: Vec<CellId> =
                    own.map(|&it| layout.variables[it].in_slot(slot)).collect();
                if !cells.is_empty() || fixed.linking.is_some() {
                    let seen = fixed.slot(program, ProcessInstance { process: kind, slot }, cells);
                    let marked = seen.cells.iter().chain(&seen.linking).chain(&seen.pid);
                    marked.for_each(|&cell| fixed.mark(cell));
                    fixed.slots.push(seen);
                }
            }
        }
        // Processes that always exist have constants that the value ranges give.
        (!fixed.slots.is_empty()).then_some(fixed)
    }

    fn slot(&self, program: &Program, at: ProcessInstance, cells: Vec<CellId>) -> FrozenSlot {
        let ProcessInstance { process: kind, slot } = at;
        let cell = |it: VarId| self.layout.variables[it].in_slot(slot);
        let own = |it: &&VarId| program.variables[**it].owner == Owner::Process(kind);
        let linking = self.linking.iter().flat_map(|it| it.iter()).filter(own);
        let (pid, first_pid) = match program.processes[kind].life.pid {
            PidRule::None => (None, slot.into()),
            PidRule::From(first) => (None, i64::from(first + slot)),
            PidRule::In(variable) => (Some(cell(variable)), 0),
        };
        FrozenSlot {
            location: self.layout.locations[kind].in_slot(slot),
            kind,
            slot,
            cells,
            linking: linking.map(|&it| cell(it)).collect(),
            pid: pid.filter(|_| self.linking.is_some()),
            first_pid,
        }
    }

    /// Marks a cell as constant.
    fn mark(&mut self, cell: CellId) {
        let ScalarCell { bit, bits, .. } = self.layout.cells[cell];
        for bit in bit..bit + bits {
            self.mask[(bit / 8) as usize] |= 0x80 >> (bit % 8);
        }
    }

    /// Whether two states differ in the bits that determine the configuration.
    pub fn differ(&self, state: &[u8], other: &[u8]) -> bool {
        let bytes = state.iter().zip(other).zip(&self.mask);
        let started = |it: &ProcessStarter| {
            it.may_start(&self.layout, state) != it.may_start(&self.layout, other)
        };
        let lives =
            |it: &FrozenSlot| it.is_free(&self.layout, state) != it.is_free(&self.layout, other);
        bytes.fold(0, |differ, ((one, two), mask)| differ | (one ^ two) & mask) != 0
            || self.starters.iter().any(started)
            || self.slots.iter().any(lives)
    }

    /// Returns the configuration of a state.
    pub fn of(&self, state: &[u8]) -> FrozenConfiguration {
        let layout = &self.layout;
        let now = self.starters.iter().fold(0, |all, it| all | it.may_start(layout, state));
        let started = self.spread(now);
        let is_open = |kind: ProcessId| started >> kind.index() & 1 != 0;
        let live = self.live(state, &is_open);
        let lists_live = live.is_some();
        let known = |it: &FrozenSlot| match is_open(it.kind) {
            false => it.cells.clone(),
            true if lists_live => it.linking.clone(),
            true => Vec::new(),
        };
        let present = self.slots.iter().filter(|it| !it.is_free(layout, state));
        let cells = present.flat_map(known);
        let cells = cells.filter_map(|cell| Some((cell, layout.get(state, cell)?))).collect();
        FrozenConfiguration { cells, live }
    }

    /// Returns the live processes, if more processes with linking parameters may start.
    fn live(&self, state: &[u8], is_open: &impl Fn(ProcessId) -> bool) -> Option<LiveProcesses> {
        let linking = self.linking.as_ref()?;
        if !self.slots.iter().any(|it| is_open(it.kind) && !it.linking.is_empty()) {
            return None;
        }
        let present = self.slots.iter().filter(|it| !it.is_free(&self.layout, state));
        let mut stack: Vec<(i64, ProcessInstance)> = present
            .map(|it| {
                let pid = it.pid.and_then(|cell| self.layout.get(state, cell));
                let instance = ProcessInstance { process: it.kind, slot: it.slot };
                (pid.unwrap_or(it.first_pid), instance)
            })
            .collect();
        stack.sort();
        let kinds = (0..self.starts.len() as u32).map(ProcessId);
        Some(LiveProcesses {
            stack: stack.into_iter().map(|(_, it)| it).collect(),
            open: kinds.filter(|&it| is_open(it)).collect(),
            linking: linking.clone(),
        })
    }

    /// Returns the transitive closure of kinds under `starts`.
    fn spread(&self, mut kinds: u64) -> u64 {
        loop {
            let more = self.starts.iter().enumerate();
            let more = more.filter(|(kind, _)| kinds >> kind & 1 != 0);
            let all = more.fold(kinds, |all, (_, starts)| all | starts);
            if all == kinds {
                return all;
            }
            kinds = all;
        }
    }
}

/// Returns the linking parameters of a program, if it has any and not too many combinations of live processes.
fn linking(program: &Program) -> Option<Arc<BTreeSet<VarId>>> {
    let dynamic = program.processes.iter().filter(|(_, it)| it.has_slots());
    let numbers = dynamic.map(|(kind, _)| u64::from(program.slots(kind)) + 1);
    let combinations = numbers.fold(1, u64::saturating_mul);
    let found = linking_parameters(program);
    (!found.is_empty() && combinations <= LIVE_MAX).then(|| Arc::new(found))
}

/// Returns the kinds that an instance may start, from a location on or from any.
fn started_from(program: &Program, kind: ProcessId, from: Option<LocationId>) -> u64 {
    let edges = || {
        let all = program.actions.values();
        all.filter_map(|it| it.edge.filter(|edge| edge.process == kind).map(|edge| (edge, it)))
    };
    let mut reached: BTreeSet<LocationId> = match from {
        Some(from) => BTreeSet::from([from]),
        None => program.processes[kind].locations.keys().collect(),
    };
    loop {
        let next = edges().filter(|(edge, _)| reached.contains(&edge.from));
        let next: Vec<LocationId> = next.map(|(edge, _)| edge.to).collect();
        let before = reached.len();
        reached.extend(next);
        if reached.len() == before {
            break;
        }
    }
    let mut runs = StartedKinds(0);
    let taken = edges().filter(|(edge, _)| reached.contains(&edge.from));
    taken.for_each(|(_, action)| walk::action(&mut runs, action));
    walk::body(&mut runs, &program.processes[kind].life.prologue);
    runs.0
}

/// The kinds that some code starts.
struct StartedKinds(u64);

impl CodeVisitor for StartedKinds {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Run { process, .. } = &stmt.kind {
            self.0 |= 1 << process.index();
        }
        walk::stmt(self, stmt);
    }
}
