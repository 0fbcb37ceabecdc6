//! The cases of an action instance, found by trials.
//!
//! The first trial starts in a state whose cells are all unknown. The first cell that the instance reads is assigned
//! each of its values in turn, and so on, until all cells that it reads are known. Such a trial is a case, for all
//! values of the other cells. Of a multiset only the number of elements is known. An instance that reads an element
//! has no case there. Neither has one that clears a multiset without reading it, since the former elements are
//! unknown afterwards.
//!
//! A cell that is written and never read may have had any value before. Its case assumes the value of the first
//! initial state: a free slot is undefined, an unset flag is false. The effect of the instance for other values is
//! not a case.

use super::cases::{CaseCell, CaseMultiset, ReversibleCase};
use crate::NotApplied;
use spillway_analysis::instances::{ActionInstance, ActionInstances, InstanceId, InstanceSide};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_exec::interp::{InstanceOutcome, MultisetCells, ReadRecorder};
use spillway_ir::layout::{CellId, ScalarCell};
use spillway_ir::{Entity, Layout, Program};
use spillway_model::{StepDescription, StepOutcome, find_start};
use std::collections::{BTreeMap, BTreeSet};

/// The most trials of an instance.
const TRIES_MAX: usize = 1 << 12;

/// The most trials in total.
const ALL_TRIES_MAX: usize = 1 << 18;

/// Units of work for a transition, in addition to the cells of a state.
const EACH_TRY: u64 = 64;

/// The most positions of a multiset whose elements are counted.
const POSITIONS_MAX: u32 = 126;

/// The known part of the state of a trial.
#[derive(Clone, Debug, Default)]
struct PartialState {
    /// Codes as declared.
    cells: BTreeMap<CellId, u32>,
    /// The numbers of elements.
    sizes: BTreeMap<usize, u32>,
}

/// An instance of one action, with the values of its parameters.
#[derive(Clone, Copy)]
struct SingleInstance<'v> {
    number: InstanceId,
    side: InstanceSide,
    values: &'v [i64],
}

/// The role of a cell.
#[derive(Clone, Copy)]
enum CellRole {
    /// Whether a position of this multiset has an element.
    Count(usize),
    /// A part of an element.
    Element,
    /// In no multiset.
    Plain,
}

/// Finds the cases of action instances by trials.
pub(super) struct CaseFinder<'a> {
    program: &'a Program,
    /// The layout of the states of the search.
    layout: &'a Layout,
    recorder: ReadRecorder,
    /// The codes of the first initial state, as declared.
    initial: Vec<u32>,
    /// The multisets that are in no other.
    bags: Vec<(usize, MultisetCells)>,
    /// States with empty multisets whose other cells have code 0, or code 1 if possible.
    blank: [Vec<u8>; 2],
    tries: usize,
}

impl<'a> CaseFinder<'a> {
    pub(super) fn new(interp: &'a Interp) -> Result<CaseFinder<'a>, NotApplied> {
        let (program, layout) = (interp.program(), interp.layout());
        let recorder = ReadRecorder::new(program).ok_or(NotApplied::GuardsNotAlone)?;
        let start = first_start(interp).ok_or(NotApplied::NoInitialState)?;
        let cells = (0..layout.state_cells).map(CellId);
        let initial = cells
            .map(|cell| {
                let declared = &recorder.layout().cells[cell];
                layout.get(&start, cell).map_or(0, |value| declared.code(value) as u32)
            })
            .collect();
        let all = recorder.multisets().iter().copied().enumerate();
        let ranges: Vec<_> = all.clone().map(|(_, it)| it.cells()).collect();
        let is_inside = |at: usize| {
            let mut others = ranges.iter().enumerate().filter(|&(other, _)| other != at);
            others.any(|(_, it)| it.start <= ranges[at].start && ranges[at].end <= it.end)
        };
        let bags: Vec<_> = all.filter(|&(at, _)| !is_inside(at)).collect();
        if bags.iter().any(|(_, it)| it.capacity > POSITIONS_MAX) {
            return Err(NotApplied::LargeMultiset);
        }
        let blank = [Vec::new(), Vec::new()];
        let mut finder = CaseFinder { program, layout, recorder, initial, bags, blank, tries: 0 };
        finder.blank = [finder.blank(0), finder.blank(1)];
        Ok(finder)
    }

    /// Returns the cases of an instance that lead to a state; none if the trials are too many.
    pub(super) fn cases(
        &mut self,
        instances: &ActionInstances,
        number: InstanceId,
        budget: &AnalysisBudget,
    ) -> Result<Vec<ReversibleCase>, BudgetExceeded> {
        budget.work(EACH_TRY)?;
        let Some(ActionInstance::Alone(side)) = instances.get(number) else {
            return Ok(Vec::new());
        };
        if self.is_rendezvous(side) {
            return Ok(Vec::new());
        }
        let values = &instances.values(side)[..];
        let instance = SingleInstance { number, side, values };
        let (mut open, mut found, mut tries) = (vec![PartialState::default()], Vec::new(), 0);
        while let Some(assumed) = open.pop() {
            tries += 1;
            self.tries += 1;
            if tries > TRIES_MAX || self.tries > ALL_TRIES_MAX {
                return Ok(Vec::new());
            }
            // If a case is found, all cells are examined.
            budget.work(EACH_TRY + u64::from(self.recorder.layout().state_cells))?;
            let state = self.state(&assumed, 0);
            let (came, reads) = self.recorder.take(side, values, &state);
            let unknown = reads.iter().find(|&&cell| !self.is_known(&assumed, cell));
            match unknown {
                Some(&cell) => self.split(&assumed, cell, &mut open),
                None => found.extend(self.case(instance, &assumed, came)),
            }
        }
        Ok(joined(found))
    }

    /// Whether the action takes part in a rendezvous.
    fn is_rendezvous(&self, side: InstanceSide) -> bool {
        let communication = self.program.actions[side.action].communication.as_ref();
        communication.is_some_and(|it| it.channel().may_be_rendezvous(self.program))
    }

    fn cell_role(&self, cell: CellId) -> CellRole {
        match self.bags.iter().find(|(_, it)| it.cells().contains(&cell.0)) {
            None => CellRole::Plain,
            Some((at, it)) if (cell.0 - it.first.0).is_multiple_of(it.stride) => {
                CellRole::Count(*at)
            }
            Some(_) => CellRole::Element,
        }
    }

    fn is_known(&self, assumed: &PartialState, cell: CellId) -> bool {
        match self.cell_role(cell) {
            CellRole::Plain => assumed.cells.contains_key(&cell),
            CellRole::Count(bag) => assumed.sizes.contains_key(&bag),
            CellRole::Element => false,
        }
    }

    /// Adds the assumptions extended by each value of a cell.
    fn split(&self, assumed: &PartialState, cell: CellId, open: &mut Vec<PartialState>) {
        match self.cell_role(cell) {
            CellRole::Element => {}
            CellRole::Count(bag) => {
                let capacity = self.recorder.multisets()[bag].capacity;
                open.extend((0..=capacity).map(|size| {
                    let mut more = assumed.clone();
                    more.sizes.insert(bag, size);
                    more
                }));
            }
            CellRole::Plain => {
                let declared = &self.recorder.layout().cells[cell];
                let codes = 0..declared.count();
                let real = &self.layout.cells[cell];
                // The limit on trials rejects too many codes.
                for code in codes.filter(|&it| stored(declared, real, it).is_some()).take(TRIES_MAX)
                {
                    let mut more = assumed.clone();
                    more.cells.insert(cell, code);
                    open.push(more);
                }
            }
        }
    }

    fn blank(&self, other: u32) -> Vec<u8> {
        let layout = self.recorder.layout();
        let mut state = vec![0; self.recorder.width()];
        for cell in (0..layout.state_cells).map(CellId) {
            if matches!(self.cell_role(cell), CellRole::Plain) {
                layout.set_code(&mut state, cell, other.min(layout.cells[cell].count() - 1));
            }
        }
        state
    }

    /// Returns a state that satisfies the assumptions. All other cells have code `other`, where they have it, and
    /// unknown multisets `other` elements.
    fn state(&self, assumed: &PartialState, other: usize) -> Vec<u8> {
        let layout = self.recorder.layout();
        let mut state = self.blank[other].clone();
        assumed.cells.iter().for_each(|(&cell, &code)| layout.set_code(&mut state, cell, code));
        for &(bag, it) in &self.bags {
            let size = assumed.sizes.get(&bag).copied().unwrap_or(other as u32);
            let flags = (0..size.min(it.capacity)).map(|at| CellId(it.first.0 + at * it.stride));
            flags.for_each(|cell| layout.set_code(&mut state, cell, 1));
        }
        state
    }

    /// Whether unknown multisets are equal in two states.
    fn leaves_unknown(&self, assumed: &PartialState, before: &[u8], after: &[u8]) -> bool {
        let layout = self.recorder.layout();
        let unknown = self.bags.iter().filter(|(bag, _)| !assumed.sizes.contains_key(bag));
        let mut cells = unknown.flat_map(|(_, it)| it.cells()).map(CellId);
        cells.all(|cell| layout.code(before, cell) == layout.code(after, cell))
    }

    /// Returns the case of an instance, once all cells that it reads are known. Returns `None` if it leads to no
    /// state of the search.
    fn case(
        &self,
        instance: SingleInstance<'_>,
        assumed: &PartialState,
        came: InstanceOutcome,
    ) -> Option<ReversibleCase> {
        let SingleInstance { number, side, values } = instance;
        let InstanceOutcome::State(one) = came else { return None };
        let filled = self.state(assumed, 1);
        let (InstanceOutcome::State(other), _) = self.recorder.take(side, values, &filled) else {
            return None;
        };
        if !self.leaves_unknown(assumed, &filled, &other) {
            return None;
        }
        let layout = self.recorder.layout();
        let mut held = Vec::new();
        for cell in (0..layout.state_cells).map(CellId) {
            if !matches!(self.cell_role(cell), CellRole::Plain) {
                continue;
            }
            let (after, again) = (layout.code(&one, cell), layout.code(&other, cell));
            let before = match assumed.cells.get(&cell) {
                Some(&before) => before,
                None if after == 0 && again == 1.min(layout.cells[cell].count() - 1) => continue,
                // The cell is written, and its former value is not read.
                None => self.initial[cell.index()],
            };
            let real = &self.layout.cells[cell];
            let [before, after] =
                [before, after].map(|code| stored(&layout.cells[cell], real, code));
            held.push(CaseCell { cell, before: before?, after: after? });
        }
        let counted = self.counted(assumed, &one)?;
        let leads_on =
            held.iter().any(|it| it.changes()) || counted.iter().any(|it| it.added.is_some());
        let case = ReversibleCase { instance: number, action: side.action, held, counted };
        leads_on.then_some(case)
    }

    /// Returns the changes of multisets, whose elements were all equal.
    fn counted(&self, assumed: &PartialState, after: &[u8]) -> Option<Vec<CaseMultiset>> {
        let layout = self.recorder.layout();
        let mut counted = Vec::new();
        for &(bag, it) in &self.bags {
            let size = assumed.sizes.get(&bag).copied();
            let cells = |at: u32| {
                let first = it.first.0 + at * it.stride;
                (first..first + it.stride).map(CellId)
            };
            let codes =
                |at: u32| cells(at).map(|cell| layout.code(after, cell)).collect::<Vec<_>>();
            let there: Vec<Vec<u32>> =
                (0..it.capacity).map(codes).filter(|it| it[0] == 1).collect();
            let (others, plain): (Vec<_>, Vec<_>) =
                there.into_iter().partition(|it| it[1..].iter().any(|&code| code != 0));
            let before = size.unwrap_or_default();
            let added = match (plain.len() as u32, others.as_slice()) {
                (same, []) if same == before => None,
                (same, [one]) if same == before => Some(one[1..].to_vec()),
                (more, []) if more == before + 1 => Some(vec![0; it.stride as usize - 1]),
                _ => return None,
            };
            let stored = |(codes, cell): (u32, CellId)| {
                stored(&layout.cells[cell], &self.layout.cells[cell], codes)
            };
            let added = match added {
                None => None,
                Some(codes) => {
                    let cells = cells(0).skip(1);
                    Some(codes.into_iter().zip(cells).map(stored).collect::<Option<Vec<_>>>()?)
                }
            };
            if let Some(size) = size {
                counted.push(CaseMultiset { bag, sizes: 1 << size, added });
            }
        }
        Some(counted)
    }
}

/// Joins cases that differ only in the number of elements of one multiset.
fn joined(cases: Vec<ReversibleCase>) -> Vec<ReversibleCase> {
    let mut by_rest: BTreeMap<ReversibleCase, u128> = BTreeMap::new();
    let mut others = BTreeSet::new();
    for mut case in cases {
        match case.counted.as_mut_slice() {
            [only] => {
                let sizes = std::mem::take(&mut only.sizes);
                *by_rest.entry(case).or_default() |= sizes;
            }
            _ => {
                others.insert(case);
            }
        }
    }
    let with_sizes = |(mut case, sizes): (ReversibleCase, u128)| {
        case.counted[0].sizes = sizes;
        case
    };
    others.into_iter().chain(by_rest.into_iter().map(with_sizes)).collect()
}

/// Returns the code in states of the search for a declared code, if it is ever stored there.
fn stored(declared: &ScalarCell, real: &ScalarCell, code: u32) -> Option<u32> {
    match declared.value(code) {
        None => real.undefined.then_some(0),
        Some(value) => (real.least <= value && value <= real.most).then(|| real.code(value) as u32),
    }
}

/// Returns the first initial state.
fn first_start(interp: &Interp) -> Option<Vec<u8>> {
    let is_state = |_, step: &StepDescription| matches!(step.outcome, StepOutcome::Successor(_));
    match find_start(interp, is_state)?.1.outcome {
        StepOutcome::Successor(state) => Some(state),
        StepOutcome::Fault(_) => None,
    }
}
