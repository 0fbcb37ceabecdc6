//! The selection of transient locations.

use super::always_enabled::is_always_enabled;
use super::loops::{LoopAnalysis, TerminatingLoop};
use super::{TransientLocations, compose};
use spillway_analysis::access::AccessTable;
use spillway_analysis::local_actions::LocalActions;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::{
    ActionId, ActionsByLocation, Location, LocationId, Process, ProcessId, Program, TurnRule,
};
use std::collections::{BTreeMap, BTreeSet};

/// Units of work to decide whether an action is always enabled at a location: all values that it reads may be tried.
const EACH_LOCATION: u64 = 1 << 10;

/// Units of work to visit a location.
const EACH_WALKED: u64 = 64;

/// The most paths from a location to locations that are not transient. Each path is taken.
const WAYS_MAX: u64 = 64;

/// The most transitions of all loops of a process that one transition executes. It bounds the time of a transition.
const ROUNDS_MAX: u64 = 1 << 11;

/// The analysed locations of a program, and the actions that leave them.
pub(super) struct LocationAnalyses<'a> {
    /// What each action reads and writes.
    pub table: &'a AccessTable<'a>,
    /// The actions that are local to their processes.
    pub local: &'a LocalActions<'a>,
    /// The actions that leave each location.
    pub leaving: &'a ActionsByLocation,
    /// The loops that surely end.
    pub loops: &'a LoopAnalysis<'a>,
}

/// Finds the transient locations, and the loops that end. Of other loops at least one location stays.
pub(super) fn find(
    analyses: &LocationAnalyses<'_>,
    written: &Interp,
    budget: &AnalysisBudget,
) -> Result<(TransientLocations, Vec<TerminatingLoop>), BudgetExceeded> {
    let &LocationAnalyses { table, local, leaving, loops } = analyses;
    let program = table.program();
    let (mut all, mut rings) = (TransientLocations::new(), Vec::new());
    for (id, process) in program.processes.iter() {
        if process.life.provided.is_some() || process.life.priority.is_some() {
            continue;
        }
        let mut ways = TransientLocationSearch::new(program, id, leaving, loops);
        // The first location of a loop is usually its entry: it is tried last.
        for at in process.locations.keys().rev() {
            budget.work(EACH_LOCATION)?;
            let is_free = is_unmarked(&process.locations[at])
                && is_local_location(program, local, ways.from(at))
                && is_always_enabled(table, written, id, at, ways.from(at));
            if is_free {
                // The continuations and the number of paths are computed again.
                budget.work(EACH_WALKED * process.locations.len() as u64)?;
                ways.pass_through(at, process);
            }
        }
        all.extend(ways.passed);
        rings.extend(ways.rings);
    }
    Ok((all, rings))
}

/// Whether a visit to the location is invisible to properties of runs.
fn is_unmarked(location: &Location) -> bool {
    !(location.progress || location.accepting)
}

/// Whether all actions at a location are local, and their guards alone decide whether they are enabled.
fn is_local_location(program: &Program, local: &LocalActions<'_>, actions: &[ActionId]) -> bool {
    !actions.is_empty()
        && actions.iter().all(|&id| {
            let action = &program.actions[id];
            let is_plain = program.has_dynamic_processes() || compose::may_follow(action);
            action.control.tier == 0 && is_plain && local.is_local(id)
        })
}

/// The search for transient locations of a process.
struct TransientLocationSearch<'p> {
    program: &'p Program,
    process: ProcessId,
    leaving: &'p ActionsByLocation,
    loops: &'p LoopAnalysis<'p>,
    /// The locations within atomic sequences of the model, where the process continues anyway.
    within: BTreeSet<LocationId>,
    passed: TransientLocations,
    /// The loops that are executed to their end.
    rings: Vec<TerminatingLoop>,
}

impl<'p> TransientLocationSearch<'p> {
    fn new(
        program: &'p Program,
        process: ProcessId,
        leaving: &'p ActionsByLocation,
        loops: &'p LoopAnalysis<'p>,
    ) -> TransientLocationSearch<'p> {
        let actions = leaving.of_process(process).map(|id| &program.actions[id]);
        let kept = actions.filter(|it| it.control.turn != TurnRule::Open);
        let within = kept.filter_map(|it| Some(it.edge?.to)).collect();
        let (passed, rings) = (TransientLocations::new(), Vec::new());
        TransientLocationSearch { program, process, leaving, loops, within, passed, rings }
    }

    fn from(&self, at: LocationId) -> &'p [ActionId] {
        self.leaving.at(self.process, at)
    }

    /// Adds a location, unless it closes a loop that may not end, or there would be too many paths.
    fn pass_through(&mut self, at: LocationId, process: &Process) {
        let before = self.rings.clone();
        self.passed.insert((self.process, at));
        if !self.closes_only_what_ends(at) || !self.is_short(process) {
            self.passed.remove(&(self.process, at));
            self.rings = before;
        }
    }

    fn is_short(&self, process: &Process) -> bool {
        if self.rings.iter().map(|it| it.rounds.steps).sum::<u64>() > ROUNDS_MAX {
            return false;
        }
        if self.program.has_dynamic_processes() {
            let mut counted = BTreeMap::new();
            return process.locations.keys().all(|it| self.count(it, &mut counted) <= WAYS_MAX);
        }
        let TransientLocationSearch { program, leaving, loops, passed, rings, .. } = self;
        let ways = compose::Continuations { program, leaving, loops, passed, rings };
        // No transition starts at a transient location, except where a process starts; that transition is not
        // composed.
        let begins = |id: &ActionId| {
            let edge = program.actions[*id].edge;
            edge.is_some_and(|it| !self.passes_through(it.from))
        };
        let mut all = self.leaving.of_process(self.process).filter(begins);
        all.all(|id| ways.of(id, compose::WAYS_MAX).is_some())
    }

    fn next(&self, at: LocationId) -> impl Iterator<Item = LocationId> {
        self.from(at).iter().filter_map(|&id| Some(self.program.actions[id].edge?.to))
    }

    fn passes_through(&self, at: LocationId) -> bool {
        self.passed.contains(&(self.process, at)) || self.within.contains(&at)
    }

    /// Whether all cycles of transient locations through the new one are loops that surely end. Records these loops.
    fn closes_only_what_ends(&mut self, at: LocationId) -> bool {
        let behind = self.behind(at);
        if !behind.contains(&at) {
            return true;
        }
        let ring: BTreeSet<_> =
            behind.into_iter().filter(|&it| it == at || self.behind(it).contains(&at)).collect();
        let process = self.process;
        if !ring.iter().all(|&it| self.passed.contains(&(process, it))) {
            return false;
        }
        let Some(ring) = self.loops.ring(process, ring) else { return false };
        self.rings.retain(|it| it.at.is_disjoint(&ring.at));
        self.rings.push(ring);
        true
    }

    /// Returns the locations that a process may reach from a location through transient ones.
    fn behind(&self, at: LocationId) -> BTreeSet<LocationId> {
        let (mut open, mut seen) = (vec![at], BTreeSet::new());
        while let Some(here) = open.pop() {
            let next = self.next(here).filter(|&it| self.passes_through(it));
            open.extend(next.filter(|&it| seen.insert(it)));
        }
        seen
    }

    /// Returns the number of paths from a location.
    fn count(&self, at: LocationId, counted: &mut BTreeMap<LocationId, u64>) -> u64 {
        if !self.passed.contains(&(self.process, at)) {
            return 1;
        }
        if let Some(&known) = counted.get(&at) {
            return known;
        }
        // A loop has infinitely many paths, unless it ends.
        counted.insert(at, u64::MAX);
        let ring = self.rings.iter().find(|it| it.at.contains(&at));
        let count = match ring {
            None => self.next(at).map(|it| self.count(it, counted)).fold(0, u64::saturating_add),
            Some(TerminatingLoop { at, rounds, .. }) => {
                let next = at.iter().flat_map(|&it| self.next(it)).filter(|it| !at.contains(it));
                let then = next.map(|it| self.count(it, counted)).max().unwrap_or(1);
                rounds.ways.saturating_mul(then)
            }
        };
        counted.insert(at, count);
        count
    }
}
