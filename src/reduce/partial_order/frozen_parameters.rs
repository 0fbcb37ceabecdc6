//! What never changes any more from a state on, though it may have before: the parameters of processes
//! that have all been started.
//!
//! Which channels are whose is often said when processes are started, `run node(q[i], q[i + 1], i)`.
//! Where no process of a kind can be started any more, those that live keep their parameters until they
//! end, in every run out of the state. So what their steps touch is known exactly there, and the
//! relation can be one of its own for each such *configuration*. This finds what SPIN is told by `xr`
//! and `xs`. Parameters that tell nothing of that are left out: there would be a relation for each order in which
//! processes are numbered, and all of them alike.

use crate::analysis::constants::{constants, relevant_constants};
use crate::ir::layout::{CellId, ScalarCell};
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{Entity, Layout, LocationId, Owner, ProcessId, Program, Stmt, StmtKind, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// Processes whose parameters may be known: as many as a word has bits.
const KINDS_MAX: usize = 64;

/// Values that never change any more.
pub(super) type FrozenConfiguration = BTreeMap<CellId, i64>;

/// What tells the configuration of a state.
#[derive(Debug)]
pub(super) struct FrozenParameters {
    /// The bits of a state in which constants are.
    mask: Vec<u8>,
    /// Of each process that may start others, in each slot.
    starters: Vec<ProcessStarter>,
    /// Of each process that may be started, those that its instances may start, by kind.
    starts: Vec<u64>,
    slots: Vec<FrozenSlot>,
    layout: Layout,
}

/// The location of a process that may start others.
#[derive(Debug)]
struct ProcessStarter {
    location: CellId,
    /// By code, the kinds that it may start from there on.
    by_code: Vec<u64>,
}

impl ProcessStarter {
    /// The kinds that it may start in a state and later.
    fn may_start(&self, layout: &Layout, state: &[u8]) -> u64 {
        let code = layout.code(state, self.location) as usize;
        self.by_code.get(code).copied().unwrap_or(u64::MAX)
    }
}

/// A slot of a process with locals that are constants.
#[derive(Debug)]
struct FrozenSlot {
    /// Tells whether it is free.
    location: CellId,
    kind: ProcessId,
    /// Those of the locals.
    cells: Vec<CellId>,
}

impl FrozenSlot {
    fn is_free(&self, layout: &Layout, state: &[u8]) -> bool {
        layout.get(state, self.location) == Some(0)
    }
}

impl FrozenParameters {
    /// What tells the configurations of a program; nothing if there is only one.
    pub fn new(program: &Program, layout: &Layout) -> Option<FrozenParameters> {
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
                cells.iter().for_each(|&cell| fixed.mark(cell));
                if !cells.is_empty() {
                    fixed.slots.push(FrozenSlot { location, kind, cells });
                }
            }
        }
        // Of processes that are always there constants are known from their ranges.
        (!fixed.slots.is_empty()).then_some(fixed)
    }

    /// Notes that a cell is a constant's.
    fn mark(&mut self, cell: CellId) {
        let ScalarCell { bit, bits, .. } = self.layout.cells[cell];
        for bit in bit..bit + bits {
            self.mask[(bit / 8) as usize] |= 0x80 >> (bit % 8);
        }
    }

    /// Whether two states differ in what the configuration depends on.
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

    /// That of a state.
    pub fn of(&self, state: &[u8]) -> FrozenConfiguration {
        let layout = &self.layout;
        let now = self.starters.iter().fold(0, |all, it| all | it.may_start(layout, state));
        let started = self.spread(now);
        let is_settled = |kind: ProcessId| started >> kind.index() & 1 == 0;
        let known = |it: &&FrozenSlot| is_settled(it.kind) && !it.is_free(layout, state);
        let cells = self.slots.iter().filter(known).flat_map(|it| &it.cells);
        cells.filter_map(|&cell| Some((cell, layout.get(state, cell)?))).collect()
    }

    /// The kinds that may be started if these may be.
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

/// The kinds of processes that an instance may start, from a location on or from anywhere.
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

/// The kinds of processes that code starts.
struct StartedKinds(u64);

impl CodeVisitor for StartedKinds {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Run { process, .. } = &stmt.kind {
            self.0 |= 1 << process.index();
        }
        walk::stmt(self, stmt);
    }
}
