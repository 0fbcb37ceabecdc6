//! Locations from which no process can take part in a cycle, so that all runs end.
//!
//! An infinite run visits some state twice. In between, each process that moves passes a cycle of its own locations,
//! so its actions lie on such a cycle. Some of these actions cannot be part of it: those after which a counter that
//! nothing decreases is surely greater, and those that synchronise only with actions that are excluded. The rest is
//! the *covering set*. It is larger than necessary, as one action of each cycle would do. If no process can reach one
//! of its actions, all runs end.

use spillway_analysis::access::{AccessTable, ConjunctCondition, GuardConjunct, InstanceAccess};
use spillway_analysis::instances::{ActionInstance, ActionInstances, InstanceId};
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::components::components;
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{
    Action, ActionId, BinaryOp, EndRule, Entity, InstanceCount, Layout, LocationId, ProcessEdge,
    ProcessId, ProcessInstance, Program,
};
use std::collections::{BTreeMap, BTreeSet};

/// Programs with more action instances are not analysed.
const INSTANCES_MAX: u32 = 1 << 16;

/// Units of work to compute the guard and the effect of an action instance.
const EACH_INSTANCE: u64 = 256;

/// Units of work to decide whether an action lies on a cycle.
const EACH_ACTION: usize = 32;

/// The locations of processes from which all runs end in a deadlock.
#[derive(Debug)]
pub(super) struct TerminatingLocations {
    instances: Vec<InstanceTermination>,
    /// Whether the end is a deadlock only if some process cannot reach a valid end.
    valid_ends: bool,
}

/// The termination of a process instance.
#[derive(Debug)]
struct InstanceTermination {
    of: ProcessInstance,
    /// By location, whether the instance cannot take part in a cycle any more.
    ends: Vec<bool>,
    /// By location, whether the instance can reach no valid end.
    never_well: Vec<bool>,
    /// Whether the instance cannot take part in a cycle if it has not started.
    ends_unborn: bool,
}

impl TerminatingLocations {
    /// Analyses a program that the [abstraction](super::super::abstraction) supports. Returns `None` if runs cannot
    /// end outside the initial locations.
    pub(super) fn of(
        interp: &Interp,
        budget: &AnalysisBudget,
    ) -> Result<Option<TerminatingLocations>, BudgetExceeded> {
        let (program, layout) = (interp.program(), interp.layout());
        let has_free = program.actions.values().any(|it| it.edge.is_none());
        if has_free || program.end == EndRule::NeverStuttering {
            return Ok(None);
        }
        let Some(CyclicActions { possible, round }) = CyclicActions::of(program, layout, budget)?
        else {
            return Ok(None);
        };
        let edges = edges_of(program, &possible);
        let valid_ends = program.end == EndRule::AllAtValidEnd;
        let mut places = Vec::new();
        for instance in program.instances() {
            let id = instance.process;
            let process = &program.processes[id];
            let starts_round: BTreeSet<LocationId> =
                round.iter().filter_map(|&it| from(program, it, id)).collect();
            let own = edges.get(&id).map_or(&[][..], Vec::as_slice);
            budget.work((process.locations.len() + own.len() + round.len()) as u64)?;
            let leads_to = |wanted: &dyn Fn(LocationId) -> bool| -> Vec<bool> {
                let there = process.locations.keys().filter(|&at| wanted(at));
                // Searches backwards from the wanted locations.
                let back = own.iter().map(|it| ProcessEdge { from: it.to, to: it.from, ..*it });
                let reached = reach_by(&back.collect::<Vec<_>>(), there);
                process.locations.keys().map(|at| reached.contains(&at)).collect()
            };
            let ends: Vec<bool> =
                leads_to(&|at| starts_round.contains(&at)).into_iter().map(|it| !it).collect();
            let well = leads_to(&|at| process.locations[at].valid_end);
            let never_well = well.into_iter().map(|it| !it).collect();
            let may_come = matches!(process.instances, InstanceCount::Slots { .. });
            let ends_unborn = !may_come || ends[process.start.index()];
            places.push(InstanceTermination { of: instance, ends, never_well, ends_unborn });
        }
        let all_may_end = places.iter().all(|it| it.ends.contains(&true));
        let may_be_bad = !valid_ends || places.iter().any(|it| it.never_well.contains(&true));
        Ok((all_may_end && may_be_bad)
            .then_some(TerminatingLocations { instances: places, valid_ends }))
    }

    /// Whether all runs from a state end in a deadlock or a failing transition.
    pub(super) fn all_runs_end(&self, interp: &Interp, state: &[u8]) -> bool {
        let mut is_bad = !self.valid_ends;
        for place in &self.instances {
            let at = interp.layout().location(interp.program(), place.of, state);
            if !at.map_or(place.ends_unborn, |it| place.ends[it.index()]) {
                return false;
            }
            is_bad |= at.is_some_and(|it| place.never_well[it.index()]);
        }
        is_bad
    }
}

/// Returns the location where an action of a process starts.
fn from(program: &Program, id: ActionId, process: ProcessId) -> Option<LocationId> {
    program.actions[id].edge.filter(|it| it.process == process).map(|it| it.from)
}

/// Returns the edges of some actions, by process.
fn edges_of(program: &Program, some: &BTreeSet<ActionId>) -> BTreeMap<ProcessId, Vec<ProcessEdge>> {
    let mut edges: BTreeMap<ProcessId, Vec<ProcessEdge>> = BTreeMap::new();
    for edge in some.iter().filter_map(|it| program.actions[*it].edge) {
        edges.entry(edge.process).or_default().push(edge);
    }
    edges
}

/// Returns the locations that some edges reach from given ones, including these.
fn reach_by(edges: &[ProcessEdge], from: impl Iterator<Item = LocationId>) -> BTreeSet<LocationId> {
    let mut leads: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
    edges.iter().for_each(|it| leads.entry(it.from).or_default().push(it.to));
    let mut reached: BTreeSet<LocationId> = from.collect();
    let mut open: Vec<LocationId> = reached.iter().copied().collect();
    while let Some(at) = open.pop() {
        let next = leads.get(&at).into_iter().flatten().copied();
        open.extend(next.filter(|&to| reached.insert(to)));
    }
    reached
}

/// Two sets of actions of a program.
struct CyclicActions {
    /// The actions that may be executed at all.
    possible: BTreeSet<ActionId>,
    /// The actions that may be executed infinitely often.
    round: BTreeSet<ActionId>,
}

impl CyclicActions {
    fn of(
        program: &Program,
        layout: &Layout,
        budget: &AnalysisBudget,
    ) -> Result<Option<CyclicActions>, BudgetExceeded> {
        let Ok(table) = AccessTable::new(program, layout) else { return Ok(None) };
        let instances = table.instances();
        if instances.count() > INSTANCES_MAX {
            return Ok(None);
        }
        let mut accesses: Vec<InstanceAccess<'_>> = Vec::new();
        for number in (0..instances.count()).map(InstanceId) {
            budget.work(EACH_INSTANCE)?;
            let access = table.access(number);
            budget.hold(access.bytes())?;
            accesses.push(access);
        }
        let possible = possible(&table, &accesses);
        let mut round = possible.clone();
        let rising = rising(program, instances, &accesses);
        round.retain(|it| !rising.contains(it));
        loop {
            budget.work((EACH_ACTION * round.len()) as u64 + u64::from(instances.count()))?;
            let before = round.len();
            let on_cycles = on_cycles(program, &round);
            round.retain(|it| on_cycles.contains(it));
            let met = met(program, instances, &round);
            round.retain(|it| met.contains(it));
            if round.len() == before {
                return Ok(Some(CyclicActions { possible, round }));
            }
        }
    }
}

/// Returns the actions without an instance that compares a cell with a value outside its range.
fn possible(table: &AccessTable<'_>, accesses: &[InstanceAccess<'_>]) -> BTreeSet<ActionId> {
    let never = |it: &GuardConjunct<'_>| match it.condition {
        ConjunctCondition::Compares(cell, BinaryOp::Equal, value) => {
            table.cell_values(cell).is_some_and(|(low, high)| value < low || high < value)
        }
        _ => false,
    };
    let all = (0..table.instances().count()).zip(accesses);
    let possible = all.filter(|(_, access)| !access.certain_conjuncts().any(never));
    let instances = possible.filter_map(|it| table.instances().get(InstanceId(it.0)));
    instances.flat_map(|it| it.sides().map(|it| it.action).collect::<Vec<_>>()).collect()
}

/// Returns those of some actions that lie on a cycle of them.
fn on_cycles(program: &Program, left: &BTreeSet<ActionId>) -> BTreeSet<ActionId> {
    let mut edges: BTreeMap<ProcessId, Vec<(ActionId, ProcessEdge)>> = BTreeMap::new();
    for &id in left {
        let Some(edge) = program.actions[id].edge else { continue };
        edges.entry(edge.process).or_default().push((id, edge));
    }
    let mut found = BTreeSet::new();
    for edges in edges.values() {
        let locations = edges.iter().map(|(_, it)| it.from.max(it.to).index() + 1).max();
        let all: Vec<(usize, usize)> =
            edges.iter().map(|(_, it)| (it.from.index(), it.to.index())).collect();
        // Each cycle lies within one strongly connected component.
        let components = components(locations.unwrap_or(0), &all);
        let goes_round =
            |it: &ProcessEdge| components[it.from.index()] == components[it.to.index()];
        found.extend(edges.iter().filter(|it| goes_round(&it.1)).map(|it| it.0));
    }
    found
}

/// Returns those of some actions that do not synchronise, or can synchronise with one of them.
fn met(
    program: &Program,
    instances: &ActionInstances,
    left: &BTreeSet<ActionId>,
) -> BTreeSet<ActionId> {
    let meets = |action: &Action| {
        action.communication.as_ref().is_some_and(|it| {
            it.channel().possible_channels(program).all(|id| program.channels[id].capacity == 0)
        })
    };
    let mut met: BTreeSet<ActionId> =
        left.iter().copied().filter(|it| !meets(&program.actions[*it])).collect();
    for number in 0..instances.count() {
        if let Some(ActionInstance::Meeting { sender, receiver }) =
            instances.get(InstanceId(number))
        {
            let both = [sender.action, receiver.action];
            if both.iter().all(|it| left.contains(it)) {
                met.extend(both);
            }
        }
    }
    met
}

/// Returns the actions after which some counter is surely greater, and nothing decreases it, or surely smaller, and
/// nothing increases it.
fn rising(
    program: &Program,
    instances: &ActionInstances,
    accesses: &[InstanceAccess<'_>],
) -> BTreeSet<ActionId> {
    let mut ways: BTreeMap<CellId, BTreeSet<i64>> = BTreeMap::new();
    let mut others: BTreeSet<CellId> = BTreeSet::new();
    for access in accesses {
        let effect = &access.effect;
        for add in &effect.adds {
            let is_told = add.is_monotone && add.cells.single().is_some();
            for cell in add.cells.iter() {
                match is_told {
                    true => drop(ways.entry(cell).or_default().insert(add.by.signum())),
                    false => drop(others.insert(cell)),
                }
            }
        }
        others.extend(effect.writes.iter());
        others.extend(effect.sets.iter().map(|it| it.0));
    }
    let is_one_way = |cell: CellId| {
        !others.contains(&cell)
            && ways.get(&cell).is_some_and(|it| it.len() == 1 && !it.contains(&0))
    };
    let rises =
        |access: &InstanceAccess<'_>| {
            access.effect.adds.iter().any(|add| {
                add.is_once && add.is_monotone && add.cells.single().is_some_and(is_one_way)
            })
        };
    // A process that ended continues only if another process starts it again.
    let ends = |access: &InstanceAccess<'_>| access.effect.moves.iter().any(|it| it.to.is_none());
    let mut found: BTreeMap<ActionId, bool> = program.actions.keys().map(|it| (it, true)).collect();
    for (number, access) in (0..instances.count()).zip(accesses) {
        let sides = instances.get(InstanceId(number));
        for side in sides.iter().flat_map(|it| it.sides()) {
            *found.entry(side.action).or_default() &= rises(access) || ends(access);
        }
    }
    found.into_iter().filter(|it| it.1).map(|it| it.0).collect()
}
