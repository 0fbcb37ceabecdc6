//! Which locations processes pass through.

use super::always::is_always_possible;
use super::{Passed, compose};
use crate::analysis::access::Table;
use crate::analysis::local::LocalActions;
use crate::exec::Interp;
use crate::ir::{ActionId, ActionsAt, Location, LocationId, Process, ProcessId, Program, Turn};
use std::collections::{BTreeMap, BTreeSet};

/// The most ways from a location on to where a process stops: each of them is taken.
const WAYS_MAX: u64 = 64;

/// The same where each of them is an action of its own.
const COMPOSED_WAYS_MAX: u64 = 8;

/// The locations that are passed through, so many of each loop that it is not passed through whole.
pub(super) fn find(
    table: &Table<'_>,
    local: &LocalActions<'_>,
    leaving: &ActionsAt,
    written: &Interp,
) -> Passed {
    let program = table.program();
    let mut all = Passed::new();
    for (id, process) in program.processes.iter() {
        if process.life.provided.is_some() || process.life.priority.is_some() {
            continue;
        }
        let mut ways = Ways::new(program, id, leaving);
        // The first of a loop is most often where it is come to from elsewhere: it is tried last.
        for at in process.locations.keys().rev() {
            let is_free = is_unmarked(&process.locations[at])
                && is_own_matter(program, local, ways.from(at))
                && is_always_possible(table, written, (id, at), ways.from(at));
            if is_free {
                ways.pass_through(at, process);
            }
        }
        all.extend(ways.passed.into_iter().map(|at| (id, at)));
    }
    all
}

/// Whether it makes no difference to a run that somebody has been there.
fn is_unmarked(location: &Location) -> bool {
    !(location.progress || location.accepting)
}

/// Whether all that begins at a location is its process's own matter, and it is only their guards that decide.
fn is_own_matter(program: &Program, local: &LocalActions<'_>, actions: &[ActionId]) -> bool {
    !actions.is_empty()
        && actions.iter().all(|&id| {
            let action = &program.actions[id];
            let is_plain = program.comes_and_goes() || compose::may_follow(action);
            action.control.tier == 0 && is_plain && local.is_local(id)
        })
}

/// Where a process goes on.
struct Ways<'p> {
    program: &'p Program,
    process: ProcessId,
    leaving: &'p ActionsAt,
    /// Where it may go on in any case: within a sequence of the model's own.
    within: BTreeSet<LocationId>,
    passed: BTreeSet<LocationId>,
}

impl<'p> Ways<'p> {
    fn new(program: &'p Program, process: ProcessId, leaving: &'p ActionsAt) -> Ways<'p> {
        let actions = leaving.of(process).map(|id| &program.actions[id]);
        let kept = actions.filter(|it| it.control.turn != Turn::Open);
        let within = kept.filter_map(|it| Some(it.edge?.to)).collect();
        Ways { program, process, leaving, within, passed: BTreeSet::new() }
    }

    fn from(&self, at: LocationId) -> &'p [ActionId] {
        self.leaving.at(self.process, at)
    }

    /// Adds a location, unless it closes a loop or there would be too many ways.
    fn pass_through(&mut self, at: LocationId, process: &Process) {
        self.passed.insert(at);
        let most = if self.program.comes_and_goes() { WAYS_MAX } else { COMPOSED_WAYS_MAX };
        let mut counted = BTreeMap::new();
        let is_short = process.locations.keys().all(|it| self.count(it, &mut counted) <= most);
        if self.leads_back(at) || !is_short {
            self.passed.remove(&at);
        }
    }

    fn next(&self, at: LocationId) -> impl Iterator<Item = LocationId> {
        self.from(at).iter().filter_map(|&id| Some(self.program.actions[id].edge?.to))
    }

    fn goes_on_at(&self, at: LocationId) -> bool {
        self.passed.contains(&at) || self.within.contains(&at)
    }

    /// Whether a process that goes on wherever it can comes back to a location.
    fn leads_back(&self, at: LocationId) -> bool {
        let (mut open, mut seen) = (vec![at], BTreeSet::new());
        while let Some(here) = open.pop() {
            for next in self.next(here).filter(|&it| self.goes_on_at(it)) {
                if next == at {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// How many ways there are from a location on.
    fn count(&self, at: LocationId, counted: &mut BTreeMap<LocationId, u64>) -> u64 {
        if !self.passed.contains(&at) {
            return 1;
        }
        if let Some(&known) = counted.get(&at) {
            return known;
        }
        // In a loop there is no end of them.
        counted.insert(at, u64::MAX);
        let count = self.next(at).fold(0u64, |all, it| all.saturating_add(self.count(it, counted)));
        counted.insert(at, count);
        count
    }
}
