//! Which locations processes pass through.

use super::always_enabled::is_always_enabled;
use super::loops::{LoopAnalysis, TerminatingLoop};
use super::{TransientLocations, compose};
use crate::analysis::access::AccessTable;
use crate::analysis::local_actions::LocalActions;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::{
    ActionId, ActionsByLocation, Location, LocationId, Process, ProcessId, Program, TurnRule,
};
use std::collections::{BTreeMap, BTreeSet};

/// Units of work to find out whether a process always goes on at a location: it may be tried in all that it reads.
const EACH_LOCATION: u64 = 1 << 10;

/// Units of work to come through a location.
const EACH_WALKED: u64 = 64;

/// The most ways from a location on to where a process stops: each of them is taken.
const WAYS_MAX: u64 = 64;

/// The most steps of all loops of a process that it goes through in one, so that a step stays one that can be waited for.
const ROUNDS_MAX: u64 = 1 << 11;

/// What is known of the locations of a program and of the actions that leave them.
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

/// The locations that are passed through, so many of each loop that it is not passed through whole, unless it surely ends;
/// and the loops that are.
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
        // The first of a loop is most often where it is come to from elsewhere: it is tried last.
        for at in process.locations.keys().rev() {
            budget.work(EACH_LOCATION)?;
            let is_free = is_unmarked(&process.locations[at])
                && is_local_location(program, local, ways.from(at))
                && is_always_enabled(table, written, id, at, ways.from(at));
            if is_free {
                // Where all goes on from there, and how many ways there are then, is found again.
                budget.work(EACH_WALKED * process.locations.len() as u64)?;
                ways.pass_through(at, process);
            }
        }
        all.extend(ways.passed);
        rings.extend(ways.rings);
    }
    Ok((all, rings))
}

/// Whether it makes no difference to a run that somebody has been there.
fn is_unmarked(location: &Location) -> bool {
    !(location.progress || location.accepting)
}

/// Whether all that begins at a location is its process's own matter, and it is only their guards that decide.
fn is_local_location(program: &Program, local: &LocalActions<'_>, actions: &[ActionId]) -> bool {
    !actions.is_empty()
        && actions.iter().all(|&id| {
            let action = &program.actions[id];
            let is_plain = program.has_dynamic_processes() || compose::may_follow(action);
            action.control.tier == 0 && is_plain && local.is_local(id)
        })
}

/// Where a process goes on.
struct TransientLocationSearch<'p> {
    program: &'p Program,
    process: ProcessId,
    leaving: &'p ActionsByLocation,
    loops: &'p LoopAnalysis<'p>,
    /// Where it may go on in any case: within a sequence of the model's own.
    within: BTreeSet<LocationId>,
    passed: TransientLocations,
    /// The loops that are passed through whole.
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

    /// Adds a location, unless it closes a loop that may not end, or there would be too many ways.
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
        // Nobody begins a step where nobody stops, or it stays one step, as where a process begins.
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

    /// Whether a process that goes on wherever it can comes back to a location, which was added, only in a loop that surely
    /// ends; that is noted.
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

    /// Where a process comes to from a location as it goes on wherever it can.
    fn behind(&self, at: LocationId) -> BTreeSet<LocationId> {
        let (mut open, mut seen) = (vec![at], BTreeSet::new());
        while let Some(here) = open.pop() {
            let next = self.next(here).filter(|&it| self.passes_through(it));
            open.extend(next.filter(|&it| seen.insert(it)));
        }
        seen
    }

    /// How many ways there are from a location on.
    fn count(&self, at: LocationId, counted: &mut BTreeMap<LocationId, u64>) -> u64 {
        if !self.passed.contains(&(self.process, at)) {
            return 1;
        }
        if let Some(&known) = counted.get(&at) {
            return known;
        }
        // In a loop there is no end of them, unless it ends.
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
