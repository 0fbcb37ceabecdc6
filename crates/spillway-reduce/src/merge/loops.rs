//! Loops that surely end, so that a merged transition may pass through them: counting up to a bound, clearing an
//! array.
//!
//! The guards decide how such a loop continues: the cells that they read, the cells that decide on writes of these,
//! and so on. All values of these cells are tried, in each location of the loop. If no pair of location and values
//! repeats, the loop ends in every state: all actions in it are local to their process, and no other process changes
//! what they read. That includes counters that wrap around, and nested loops.
//!
//! ```text
//! l -> m { guard i < 3; }        decided by i alone: at l and m the values 0 to 255 are tried;
//! m -> l { x[i] := 0; i += 1; }  from (l, 0) they lead to (l, 3), where only the way out is possible,
//! l -> d { guard i >= 3; }       from (l, 3) to (l, 255) out at once: no circle
//! ```

use spillway_analysis::access::{AccessTable, CellSet};
use spillway_analysis::instances::InstanceId;
use spillway_base::components::components;
use spillway_exec::Interp;
use spillway_ir::interval::Interval;
use spillway_ir::layout::CellId;
use spillway_ir::{
    ActionId, ActionsByLocation, Entity as _, LocationId, ProcessId, ProcessInstance, TurnRule,
};
use spillway_model::{StepOutcome, SystemDescription as _};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The most pairs of location and values that are tried.
const TRIED_MAX: u64 = 1 << 12;

/// Finds the loops of a program that end.
pub(super) struct LoopAnalysis<'t> {
    table: &'t AccessTable<'t>,
    leaving: &'t ActionsByLocation,
    written: &'t Interp,
    /// The interpreter of the table's program, which earlier passes may have rewritten.
    runs: OnceCell<Option<Interp>>,
}

/// The bounds of the paths through a loop, from anywhere in it to an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopBounds {
    /// The most transitions of a path.
    pub steps: u64,
    /// The most paths.
    pub ways: u64,
}

/// A loop that surely ends.
#[derive(Clone, Debug)]
pub(super) struct TerminatingLoop {
    pub process: ProcessId,
    pub at: BTreeSet<LocationId>,
    pub rounds: LoopBounds,
    /// The graph of the loop, for the instance in each slot.
    places: Rc<[LoopGraph]>,
}

impl TerminatingLoop {
    pub fn has(&self, process: ProcessId, at: LocationId) -> bool {
        self.process == process && self.at.contains(&at)
    }
}

/// The limits of the paths through a loop: their number and their length.
#[derive(Clone, Copy)]
pub struct LoopPathLimits {
    /// The most paths.
    pub count: usize,
    /// The most actions of a path.
    pub length: usize,
}

/// The graph of a loop of one instance. The nodes are pairs of a location and values of the deciding cells.
#[derive(Debug)]
struct LoopGraph {
    /// The deciding cells, with their ranges.
    cells: Vec<(CellId, Interval)>,
    /// For each node, the actions, and the target node if it is in the loop.
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

    /// Returns the loop of some locations of a process, if some action is always enabled in each. Returns `None` if
    /// the loop may be infinite or the analysis fails.
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

    /// Returns the paths through a loop, as sequences of actions, from a location reached by the last of `before` to
    /// an exit. Returns `None` if a limit is exceeded or the analysis fails.
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

    /// Returns the values that cells surely have after some actions of an instance.
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
            // A cell that an action writes twice may have either value.
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

    /// Builds the graph of a loop of one instance.
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

    /// Returns the cells that decide on the order of these actions, with their ranges. Returns `None` if these are
    /// unknown.
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

/// Executes an instance in the states of a loop.
struct LoopTrial<'t> {
    runs: &'t Interp,
    table: &'t AccessTable<'t>,
    mover: ProcessInstance,
    at: &'t [LocationId],
    cells: &'t [(CellId, Interval)],
}

impl LoopTrial<'_> {
    /// Returns the transitions of a node. Returns `None` if one fails, or leads to values that are not tried.
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

    /// Returns a state in which the instance is at a node. All other processes are at their start, or do not exist.
    fn state(&self, place: u64, tries: u64) -> Vec<u8> {
        let layout = self.runs.layout();
        let mut state = vec![0; layout.bytes];
        let (process, at) = (self.mover.process, self.at[(place / tries) as usize]);
        let first = self.table.program().processes[process].first_location();
        // Slots are filled in order.
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

    /// Returns the number of the values of the deciding cells in a state.
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

/// Returns the number of values, saturating.
fn count((low, high): Interval) -> u64 {
    high.abs_diff(low).saturating_add(1)
}

/// Takes the value of the next cell from a mixed-radix number, whose first digit is the least significant.
fn next_value(values: Interval, number: &mut u64) -> i64 {
    let value = values.0 + (*number % count(values)) as i64;
    *number /= count(values);
    value
}

impl LoopGraph {
    /// Returns the nodes at a location whose cells have the known values.
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

    /// Returns the bounds of the paths, or `None` if there is a cycle.
    fn rounds(&self) -> Option<LoopBounds> {
        let all = self.steps.iter().enumerate();
        let edges = all.flat_map(|(from, it)| it.iter().filter_map(move |it| Some((from, it.1?))));
        let edges: Vec<(usize, usize)> = edges.collect();
        let order = components(self.steps.len(), &edges);
        let distinct: BTreeMap<usize, usize> = order.iter().copied().zip(0..).collect();
        if distinct.len() < order.len() || edges.iter().any(|(from, to)| from == to) {
            return None;
        }
        // Each component leads only to later ones.
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
