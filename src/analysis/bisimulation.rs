//! Locations of a process that are *bisimilar*: what can be done at the one can be done at the other, and leads to locations
//! that are bisimilar again (Pelánek 2005, section 3.1.3: local bisimulation).
//!
//! Two locations are told apart if they have other marks, if an expression or a property names one of them, or if
//! actions from them differ as programs: in anything but their names and where they stand. Then they are told apart if equal actions
//! lead to locations that are, until nothing changes. So the partition that is left is the coarsest of
//! those that all of this respects.
//!
//! *Errors* are told by the action that meets them. So an action that may fail is equal to no other, though that is asked only of
//! actions that are equal to others.

use super::access::AccessTable;
use super::instances::{ActionInstance, ActionInstances, InstanceId};
use super::partition_refinement::BlockPartition;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::ir::text::ProgramPrinter;
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{
    Action, ActionId, ActionsByLocation, Entity, Expr, ExprKind, Layout, LocationId, ProcessId,
    Program, PropertyKind, StmtKind, TurnRule,
};
use std::collections::{BTreeMap, BTreeSet};

/// Among more action instances it takes long to find out who fails.
const INSTANCES_MAX: u32 = 1 << 16;

/// Units of work to find out whether an action instance fails.
const EACH_INSTANCE: u64 = 256;

/// Which locations of each process of a program are bisimilar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationBisimulation {
    /// Of each location of each process the first that it is bisimilar to.
    firsts: Vec<Vec<LocationId>>,
    /// Of each location of each process whether it is bisimilar to another.
    joined: Vec<Vec<bool>>,
}

impl LocationBisimulation {
    /// Of a program whose states are laid out so; nothing if all locations are told apart as far as can be seen.
    pub fn of(
        program: &Program,
        layout: &Layout,
        budget: &AnalysisBudget,
    ) -> Result<Option<LocationBisimulation>, BudgetExceeded> {
        let mut steps = LocationTransitions::new(program, budget)?;
        let equal = steps.bisimilar()?;
        if !equal.joins_any() {
            return Ok(None);
        }
        for action in failing(program, layout, &equal.joined_actions(program), budget)? {
            steps.distinguish(action);
        }
        Ok(Some(steps.bisimilar()?).filter(LocationBisimulation::joins_any))
    }

    /// The first of the locations of a process that a location is bisimilar to.
    pub fn representative(&self, process: ProcessId, location: LocationId) -> LocationId {
        self.firsts[process.index()][location.index()]
    }

    /// Whether a location of a process is bisimilar to another.
    pub fn is_merged(&self, process: ProcessId, location: LocationId) -> bool {
        self.joined[process.index()][location.index()]
    }

    /// Those of a process that are bisimilar to others, each set with its first in front.
    pub fn sets(&self, process: ProcessId) -> Vec<Vec<LocationId>> {
        let mut sets: BTreeMap<LocationId, Vec<LocationId>> = BTreeMap::new();
        for (number, first) in self.firsts[process.index()].iter().enumerate() {
            sets.entry(*first).or_default().push(LocationId::from_index(number));
        }
        sets.into_values().filter(|it| it.len() > 1).collect()
    }

    fn joins_any(&self) -> bool {
        self.joined.iter().flatten().any(|&it| it)
    }

    /// All actions from locations that are bisimilar to others.
    fn joined_actions(&self, program: &Program) -> BTreeSet<ActionId> {
        let joined = |id: ProcessId| self.sets(id).into_iter().flatten().map(move |it| (id, it));
        let joined: BTreeSet<_> = program.processes.keys().flat_map(joined).collect();
        let from = |it: &Action| it.edge.is_some_and(|it| joined.contains(&(it.process, it.from)));
        program.actions.iter().filter(|(_, it)| from(it)).map(|(id, _)| id).collect()
    }
}

/// What can be done at each location.
struct LocationTransitions<'p> {
    program: &'p Program,
    from: ActionsByLocation,
    /// A number for each action: that of another if they are equal as programs.
    equal_to: Vec<usize>,
    /// Locations that somebody names.
    named: BTreeSet<(ProcessId, LocationId)>,
    budget: &'p AnalysisBudget<'p>,
}

impl<'p> LocationTransitions<'p> {
    fn new(
        program: &'p Program,
        budget: &'p AnalysisBudget<'p>,
    ) -> Result<LocationTransitions<'p>, BudgetExceeded> {
        let (printer, mut texts) = (ProgramPrinter::new(program), BTreeMap::new());
        let mut equal_to = Vec::new();
        for (id, action) in program.actions.iter() {
            let Some(edge) = action.edge else {
                equal_to.push(id.index());
                continue;
            };
            let text = printer.step(&without_prints(action));
            budget.work(text.len() as u64)?;
            let held = text.len();
            let equal = *texts.entry((edge.process, text)).or_insert(id.index());
            if equal == id.index() {
                budget.hold(held)?;
            }
            equal_to.push(equal);
        }
        let (from, named) = (ActionsByLocation::leaving(program), named(program));
        Ok(LocationTransitions { program, from, equal_to, named, budget })
    }

    /// Has an action be equal to no other.
    fn distinguish(&mut self, action: ActionId) {
        self.equal_to[action.index()] = self.equal_to.len() + action.index();
    }

    fn bisimilar(&self) -> Result<LocationBisimulation, BudgetExceeded> {
        let (mut all_firsts, mut joined) = (Vec::new(), Vec::new());
        for process in self.program.processes.keys() {
            let firsts = self.firsts(process)?;
            let mut is_joined = vec![false; firsts.len()];
            for (number, first) in firsts.iter().enumerate() {
                if first.index() != number {
                    (is_joined[number], is_joined[first.index()]) = (true, true);
                }
            }
            all_firsts.push(firsts);
            joined.push(is_joined);
        }
        Ok(LocationBisimulation { firsts: all_firsts, joined })
    }

    /// Of each location of a process the first that it is bisimilar to.
    fn firsts(&self, id: ProcessId) -> Result<Vec<LocationId>, BudgetExceeded> {
        let locations = &self.program.processes[id].locations;
        let marks = locations.iter().map(|(at, it)| {
            let name = self.named.contains(&(id, at)).then_some(at);
            (it.urgency as u8, it.valid_end, it.progress, it.accepting, name)
        });
        let mut blocks = BlockPartition::single_block(locations.len());
        blocks.split(&marks.collect::<Vec<_>>());
        let mut seen_by = vec![Vec::new(); locations.len()];
        for edge in self.from.of_process(id).filter_map(|it| self.program.actions[it].edge) {
            seen_by[edge.to.index()].push(edge.from.index());
        }
        // Whoever comes to a process of which one action asks for the first takes the first everywhere.
        let takes_first = |it| self.program.actions[it].control.turn == TurnRule::First;
        let takes_first = self.from.of_process(id).any(takes_first);
        let seen = |number: usize, blocks: &BlockPartition| {
            self.signature(id, LocationId::from_index(number), takes_first, blocks)
        };
        blocks.refine(seen, &seen_by, self.budget)?;
        Ok(blocks.least_members().into_iter().map(LocationId::from_index).collect())
    }

    /// The actions from a location and the blocks that they lead to: in their order, where that matters.
    fn signature(
        &self,
        id: ProcessId,
        at: LocationId,
        takes_first: bool,
        blocks: &BlockPartition,
    ) -> Vec<(usize, Option<usize>)> {
        let actions = self.from.at(id, at);
        let leads = |it: &ActionId| {
            let edge = self.program.actions[*it].edge;
            (self.equal_to[it.index()], edge.and_then(|it| blocks.of(it.to.index())))
        };
        let mut seen: Vec<_> = actions.iter().map(leads).collect();
        // It matters which comes first where one of them, or whoever comes there, asks for that.
        let control = |it: &ActionId| self.program.actions[*it].control;
        let asks = |it: &ActionId| control(it).tier != 0 || control(it).otherwise;
        if !takes_first && !actions.iter().any(asks) {
            seen.sort_unstable();
        }
        seen
    }
}

/// The same action, as far as it does more than to print.
fn without_prints(action: &Action) -> Action {
    let mut action = action.clone();
    action.body.retain(|it| !matches!(it.kind, StmtKind::Print { .. }));
    action
}

/// The locations that an expression or a property names.
fn named(program: &Program) -> BTreeSet<(ProcessId, LocationId)> {
    struct LocationMentions(BTreeSet<(ProcessId, LocationId)>);
    impl CodeVisitor for LocationMentions {
        fn expr(&mut self, expr: &Expr) {
            if let ExprKind::At { process, location, .. } = expr.kind {
                self.0.insert((process, location));
            }
            walk::expr(self, expr);
        }
    }
    let mut named = LocationMentions(BTreeSet::new());
    walk::program(&mut named, program);
    for property in program.properties.values() {
        if let PropertyKind::AssertionAt { process, location, .. } = property.kind {
            named.0.insert((process, location));
        }
    }
    named.0
}

/// Those of some actions by which a step may fail, as far as that is not ruled out.
fn failing(
    program: &Program,
    layout: &Layout,
    actions: &BTreeSet<ActionId>,
    budget: &AnalysisBudget,
) -> Result<BTreeSet<ActionId>, BudgetExceeded> {
    let count = ActionInstances::new(program).map(|it| it.count());
    let table =
        count.ok().filter(|&it| it <= INSTANCES_MAX).map(|_| AccessTable::new(program, layout));
    let Some(Ok(table)) = table else { return Ok(actions.clone()) };
    let mut found = BTreeSet::new();
    for number in (0..table.instances().count()).map(InstanceId) {
        budget.work(EACH_INSTANCE)?;
        let Some(instance) = table.instances().get(number) else { continue };
        let taken: Vec<ActionId> = match instance {
            // What a process is asked before it moves is told by its first action.
            ActionInstance::MayMove { process, .. } => {
                let is_its = |it: &&ActionId| {
                    program.actions[**it].edge.is_some_and(|it| it.process == process)
                };
                actions.iter().filter(is_its).copied().collect()
            }
            _ => instance.sides().map(|it| it.action).filter(|it| actions.contains(it)).collect(),
        };
        let is_known = taken.iter().all(|it| found.contains(it));
        if !is_known && table.access(number).failures().any() {
            found.extend(taken);
        }
    }
    Ok(found)
}
