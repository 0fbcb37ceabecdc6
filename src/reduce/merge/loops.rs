//! Loops that surely end, so that nobody has to stop in them: counting up to a bound, clearing an array.
//!
//! How such a loop goes on is decided by its guards: by the cells that these read, by what else is read by whoever writes
//! those, and so on. All values of these cells are tried, in each location of the loop. If no values come again at the same
//! location the loop ends, whatever else there is, as all actions in it are their process's own matter and nobody changes
//! what they read. That holds of counters that wrap around, too, and of loops inside loops.
//!
//! ```text
//! l -> m { guard i < 3; }        decided by i alone: at l and m the values 0 to 255 are tried;
//! m -> l { x[i] := 0; i += 1; }  from (l, 0) they lead to (l, 3), where only the way out is possible,
//! l -> d { guard i >= 3; }       from (l, 3) to (l, 255) out at once: no circle
//! ```

use crate::analysis::access::{AccessTable, CellSet};
use crate::analysis::instances::InstanceId;
use crate::exec::Interp;
use crate::ir::components::components;
use crate::ir::interval::Interval;
use crate::ir::layout::CellId;
use crate::ir::{
    ActionId, ActionsByLocation, Entity as _, LocationId, ProcessId, ProcessInstance, TurnRule,
};
use crate::model::{StepOutcome, SystemDescription as _};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// So many places and values together are tried at most.
const TRIED_MAX: u64 = 1 << 12;

/// Finds out which loops of a program end.
pub(super) struct LoopAnalysis<'t> {
    table: &'t AccessTable<'t>,
    leaving: &'t ActionsByLocation,
    written: &'t Interp,
    /// Runs the program of the table, which passes before this one may have rewritten.
    runs: OnceCell<Option<Interp>>,
}

/// How a loop is gone through, from anywhere in it to where it is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopBounds {
    /// The most steps.
    pub steps: u64,
    /// The most ways.
    pub ways: u64,
}

/// A loop that surely ends.
#[derive(Clone, Debug)]
pub(super) struct TerminatingLoop {
    pub process: ProcessId,
    pub at: BTreeSet<LocationId>,
    pub rounds: LoopBounds,
    /// Its places, for an instance in each slot.
    places: Rc<[LoopGraph]>,
}

impl TerminatingLoop {
    pub fn has(&self, process: ProcessId, at: LocationId) -> bool {
        self.process == process && self.at.contains(&at)
    }
}

/// How many paths through a loop there may be, and how long each may be.
#[derive(Clone, Copy)]
pub struct LoopPathLimits {
    /// The most paths.
    pub count: usize,
    /// The most actions of a path.
    pub length: usize,
}

/// The places in a loop of one instance, each with values of what decides, and the steps between them.
#[derive(Debug)]
struct LoopGraph {
    /// The cells that decide, and the values of each.
    cells: Vec<(CellId, Interval)>,
    /// The steps of each place: the action, and where it leads, if that is in the loop.
    steps: Vec<Vec<(ActionId, Option<usize>)>>,
}

impl<'t> LoopAnalysis<'t> {
    pub fn new(
        table: &'t AccessTable<'t>,
        leaving: &'t ActionsByLocation,
        written: &'t Interp,
    ) -> LoopAnalysis<'t> {
        LoopAnalysis { table, leaving, written, runs: OnceCell::new() }
    }

    /// The loop of these locations of a process, at which it always goes on by itself; nothing if it may go round for ever, or
    /// that is not found out.
    pub fn ring(&self, process: ProcessId, at: BTreeSet<LocationId>) -> Option<TerminatingLoop> {
        let (mut all, mut rounds) = (Vec::new(), LoopBounds { steps: 0, ways: 0 });
        for slot in 0..self.table.program().slots(process) {
            let places = self.places(ProcessInstance { process, slot }, &at)?;
            let LoopBounds { steps, ways } = places.rounds()?;
            rounds = LoopBounds { steps: rounds.steps.max(steps), ways: rounds.ways.max(ways) };
            all.push(places);
        }
        (!all.is_empty()).then(|| TerminatingLoop { process, at, rounds, places: all.into() })
    }

    /// The ways through a loop from one of its locations, come to by the last of some actions: what is done in turn, to where
    /// it is left. Nothing if the limits are exceeded, or that is not found out.
    pub fn through(
        &self,
        ring: &TerminatingLoop,
        from: LocationId,
        before: &[ActionId],
        limits: LoopPathLimits,
    ) -> Option<BTreeSet<Vec<ActionId>>> {
        let mut found = BTreeSet::new();
        for (places, slot) in ring.places.iter().zip(0..) {
            let known = self.known(before, slot);
            let starts = places.starting(&ring.at, from, &known);
            let mut open: Vec<(usize, Vec<ActionId>)> =
                starts.map(|place| (place, Vec::new())).collect();
            while let Some((place, way)) = open.pop() {
                for &(action, to) in &places.steps[place] {
                    let mut way = way.clone();
                    way.push(action);
                    match to {
                        _ if way.len() > limits.length => return None,
                        Some(to) => open.push((to, way)),
                        None => drop(found.insert(way)),
                    }
                }
                if found.len() > limits.count {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// The values that cells surely have behind some actions of an instance.
    fn known(&self, actions: &[ActionId], slot: u32) -> BTreeMap<CellId, i64> {
        let mut known = BTreeMap::new();
        for &id in actions {
            let Some(number) = self.table.instances().first_alone(id, slot) else {
                known.clear();
                continue;
            };
            let effect = self.table.access(InstanceId(number)).effect;
            let written = effect.written();
            known.retain(|it, _| !written.contains(*it));
            // What is written twice in an action may be either.
            let is_one = |cell: CellId| {
                let adds = effect.adds.iter().any(|it| it.cells.contains(cell));
                let sets = effect.sets.iter().filter(|it| it.0 == cell).count();
                sets == 1 && !adds && !effect.writes.contains(cell)
            };
            let sets = effect.sets.iter().filter(|it| is_one(it.0));
            known.extend(sets.filter(|it| effect.definite_writes.contains(it.0)).copied());
        }
        known
    }

    /// The places of a loop of one instance.
    fn places(&self, mover: ProcessInstance, at: &BTreeSet<LocationId>) -> Option<LoopGraph> {
        let at: Vec<LocationId> = at.iter().copied().collect();
        let actions = at.iter().flat_map(|&it| self.leaving.at(mover.process, it).iter().copied());
        let actions: Vec<ActionId> = actions.collect();
        let is_open =
            |it: &ActionId| self.table.program().actions[*it].control.turn == TurnRule::Open;
        if !actions.iter().all(is_open) {
            return None;
        }
        let cells = self.deciding(mover, &actions)?;
        let counts = cells.iter().map(|(_, values)| count(*values));
        let tries = counts.fold(1u64, u64::saturating_mul);
        let places = tries.saturating_mul(at.len() as u64);
        if places > TRIED_MAX {
            return None;
        }
        let runs = self.runs.get_or_init(|| self.written.rewritten(self.table.program().clone()));
        let (runs, table) = (runs.as_ref()?, self.table);
        let trying = LoopTrial { runs, table, mover, at: &at, cells: &cells };
        let steps = (0..places).map(|it| trying.steps(it, tries));
        let steps = steps.collect::<Option<_>>()?;
        Some(LoopGraph { cells, steps })
    }

    /// The cells that decide how these actions follow each other, and the values that each ever holds; nothing if that is not
    /// known.
    fn deciding(
        &self,
        mover: ProcessInstance,
        actions: &[ActionId],
    ) -> Option<Vec<(CellId, Interval)>> {
        let mut cells = CellSet::default();
        let mut accesses = Vec::new();
        for &id in actions {
            let number = self.table.instances().first_alone(id, mover.slot)?;
            let access = self.table.access(InstanceId(number));
            access.guard.iter().for_each(|it| cells.extend(&it.reads().reads));
            accesses.push(access);
        }
        loop {
            let known = cells.clone();
            for access in &accesses {
                if access.effect.written().intersects(&known) {
                    cells.extend(&access.effect.as_reads().reads);
                }
            }
            if cells == known {
                break;
            }
        }
        cells.iter().map(|cell| Some((cell, self.table.cell_values(cell)?))).collect()
    }
}

/// An instance that is tried in a loop.
struct LoopTrial<'t> {
    runs: &'t Interp,
    table: &'t AccessTable<'t>,
    mover: ProcessInstance,
    at: &'t [LocationId],
    cells: &'t [(CellId, Interval)],
}

impl LoopTrial<'_> {
    /// Its steps at a place; nothing if one fails, or leads to values that are not tried.
    fn steps(&self, place: u64, tries: u64) -> Option<Vec<(ActionId, Option<usize>)>> {
        let state = self.state(place, tries);
        let mover = [self.mover.into()];
        let steps = self.runs.steps(&state).into_iter().filter(|it| it.movers == mover);
        let led = steps.map(|step| {
            let StepOutcome::Successor(next) = &step.outcome else { return None };
            let action = ActionId::from_index(step.action as usize);
            match self.location(next).and_then(|it| self.at.iter().position(|at| *at == it)) {
                None => Some((action, None)),
                Some(at) => {
                    let number = at as u64 * tries + self.values(next)?;
                    Some((action, Some(number as usize)))
                }
            }
        });
        let led: Option<Vec<_>> = led.collect();
        led.filter(|it| !it.is_empty())
    }

    /// A state in which it is at a place; all others are where they begin, or are not there.
    fn state(&self, place: u64, tries: u64) -> Vec<u8> {
        let layout = self.runs.layout();
        let mut state = vec![0; layout.bytes];
        let (process, at) = (self.mover.process, self.at[(place / tries) as usize]);
        let first = self.table.program().processes[process].first_location();
        // There is none in a slot without one in each before it.
        for slot in 0..=self.mover.slot {
            let cell = self.table.location_cell(process, slot);
            layout.set_code(&mut state, cell, at.0 + first);
        }
        let mut left = place % tries;
        for &(cell, values) in self.cells {
            layout.set(&mut state, cell, Some(next_value(values, &mut left)));
        }
        state
    }

    fn location(&self, state: &[u8]) -> Option<LocationId> {
        self.runs.layout().location(self.table.program(), self.mover, state)
    }

    /// The number of the values that a state has of the cells that decide.
    fn values(&self, state: &[u8]) -> Option<u64> {
        let mut number = 0;
        for &(cell, (low, high)) in self.cells.iter().rev() {
            let value = self.runs.layout().get(state, cell)?;
            if value < low || value > high {
                return None;
            }
            number = number * count((low, high)) + value.abs_diff(low);
        }
        Some(number)
    }
}

/// How many values there are; the most that fit, if they are more.
fn count((low, high): Interval) -> u64 {
    high.abs_diff(low).saturating_add(1)
}

/// Takes the value of the next cell out of a number that stands for those of several, the first in the least place.
fn next_value(values: Interval, number: &mut u64) -> i64 {
    let value = values.0 + (*number % count(values)) as i64;
    *number /= count(values);
    value
}

impl LoopGraph {
    /// Those at a location of the loop in which cells have the values that are known.
    fn starting(
        &self,
        at: &BTreeSet<LocationId>,
        from: LocationId,
        known: &BTreeMap<CellId, i64>,
    ) -> impl Iterator<Item = usize> {
        let tries = self.steps.len() / at.len();
        let first = at.iter().position(|it| *it == from).unwrap_or_default() * tries;
        let fits = move |place: usize| {
            let mut left = (place - first) as u64;
            self.cells.iter().all(|(cell, values)| {
                let value = next_value(*values, &mut left);
                known.get(cell).is_none_or(|it| *it == value)
            })
        };
        (first..first + tries).filter(move |&it| fits(it))
    }

    /// How they are gone through; nothing if they are gone round.
    fn rounds(&self) -> Option<LoopBounds> {
        let all = self.steps.iter().enumerate();
        let edges = all.flat_map(|(from, it)| it.iter().filter_map(move |it| Some((from, it.1?))));
        let edges: Vec<(usize, usize)> = edges.collect();
        let order = components(self.steps.len(), &edges);
        let distinct: BTreeMap<usize, usize> = order.iter().copied().zip(0..).collect();
        if distinct.len() < order.len() || edges.iter().any(|(from, to)| from == to) {
            return None;
        }
        // Each leads only to those behind it.
        let mut found = vec![LoopBounds { steps: 0, ways: 0 }; self.steps.len()];
        for &place in distinct.values().rev() {
            for (_, to) in &self.steps[place] {
                let then = to.map_or(LoopBounds { steps: 0, ways: 1 }, |it| found[it]);
                let here = &mut found[place];
                here.steps = here.steps.max(1 + then.steps);
                here.ways = here.ways.saturating_add(then.ways);
            }
        }
        let steps = found.iter().map(|it| it.steps).max()?;
        Some(LoopBounds { steps, ways: found.iter().map(|it| it.ways).max()? })
    }
}
