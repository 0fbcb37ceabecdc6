//! What never changes any more from a state on, though it may have before: the parameters of processes
//! that have all been started.
//!
//! Which channels are whose is often said when processes are started, `run node(q[i], q[i + 1], i)`.
//! Where no process of a kind can be started any more, those that live keep their parameters until they
//! end, in every run out of the state. So what their steps touch is known exactly there, and the
//! relation can be one of its own for each such *configuration*. This finds what SPIN is told by `xr`
//! and `xs`.

use crate::analysis::constants::constants;
use crate::ir::layout::{Cell, CellId};
use crate::ir::walk::{self, Visitor};
use crate::ir::{Entity, Layout, LocationId, Owner, ProcessId, Program, Stmt, StmtKind};
use std::collections::{BTreeMap, BTreeSet};

/// Processes whose parameters may be known: as many as a word has bits.
const KINDS_MAX: usize = 64;

/// Values that never change any more.
pub(super) type Configuration = BTreeMap<CellId, i64>;

/// What tells the configuration of a state.
#[derive(Debug)]
pub(super) struct Fixed {
    /// The bits of a state that it depends on.
    mask: Vec<u8>,
    /// Of each process that may start others, in each slot.
    starters: Vec<Starter>,
    /// Of each process that may be started, those that its instances may start, by kind.
    starts: Vec<u64>,
    locals: Vec<Local>,
    layout: Layout,
}

/// The location of a process that may start others.
#[derive(Debug)]
struct Starter {
    location: CellId,
    /// By code, the kinds that it may start from there on.
    by_code: Vec<u64>,
}

/// A local that is a constant.
#[derive(Debug)]
struct Local {
    cell: CellId,
    /// The location of its process in its slot, which tells whether it is free.
    location: CellId,
    kind: ProcessId,
}

impl Fixed {
    /// What tells the configurations of a program; nothing if there is only one.
    pub fn new(program: &Program, layout: &Layout) -> Option<Fixed> {
        let constants = constants(program);
        if constants.is_empty() || program.processes.len() > KINDS_MAX {
            return None;
        }
        let starts: Vec<u64> =
            program.processes.keys().map(|it| started_from(program, it, None)).collect();
        let mut fixed = Fixed {
            mask: vec![0; layout.bytes],
            starters: Vec::new(),
            starts,
            locals: Vec::new(),
            layout: layout.clone(),
        };
        for (kind, process) in program.processes.iter().filter(|(_, it)| it.has_slots()) {
            for slot in 0..program.slots(kind) {
                let location =
                    at(layout.locations[kind].first, layout.locations[kind].stride, slot);
                if fixed.starts[kind.index()] != 0 {
                    let from = |at: LocationId| started_from(program, kind, Some(at));
                    let by_code = std::iter::once(0).chain(process.locations.keys().map(from));
                    fixed.read(location);
                    fixed.starters.push(Starter { location, by_code: by_code.collect() });
                }
                for &variable in &constants {
                    if program.variables[variable].owner == Owner::Process(kind) {
                        let placement = layout.variables[variable];
                        let cell = at(placement.first, placement.stride, slot);
                        fixed.locals.push(Local { cell, location, kind });
                        fixed.read(cell);
                        fixed.read(location);
                    }
                }
            }
        }
        // Of processes that are always there constants are known from their ranges.
        (!fixed.locals.is_empty()).then_some(fixed)
    }

    /// Notes that a cell matters.
    fn read(&mut self, cell: CellId) {
        let Cell { bit, bits, .. } = self.layout.cells[cell];
        for bit in bit..bit + bits {
            self.mask[(bit / 8) as usize] |= 0x80 >> (bit % 8);
        }
    }

    /// Whether two states differ in what the configuration depends on.
    pub fn differ(&self, state: &[u8], other: &[u8]) -> bool {
        let bytes = state.iter().zip(other).zip(&self.mask);
        bytes.fold(0, |differ, ((one, two), mask)| differ | (one ^ two) & mask) != 0
    }

    /// That of a state.
    pub fn of(&self, state: &[u8]) -> Configuration {
        let by_code = |it: &Starter| {
            let code = self.layout.code(state, it.location) as usize;
            it.by_code.get(code).copied().unwrap_or(u64::MAX)
        };
        let now = self.starters.iter().fold(0, |all, it| all | by_code(it));
        let started = self.spread(now);
        let is_settled = |kind: ProcessId| started >> kind.index() & 1 == 0;
        let lives = |it: &Local| self.layout.get(state, it.location) != Some(0);
        let known = self.locals.iter().filter(|it| is_settled(it.kind) && lives(it));
        known.filter_map(|it| Some((it.cell, self.layout.get(state, it.cell)?))).collect()
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

fn at(first: CellId, stride: u32, slot: u32) -> CellId {
    CellId(first.0 + slot * stride)
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
    let mut runs = Runs(0);
    let taken = edges().filter(|(edge, _)| reached.contains(&edge.from));
    taken.for_each(|(_, action)| walk::action(&mut runs, action));
    walk::body(&mut runs, &program.processes[kind].life.prologue);
    runs.0
}

/// The kinds of processes that code starts.
struct Runs(u64);

impl Visitor for Runs {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Run { process, .. } = &stmt.kind {
            self.0 |= 1 << process.index();
        }
        walk::stmt(self, stmt);
    }
}
