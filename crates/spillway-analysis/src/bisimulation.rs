//! *Bisimilar* locations of a process: the same actions are possible at both, and they lead to bisimilar locations
//! (local bisimulation: Pelánek 2005, section 3.1.3).
//!
//! Two locations are distinguished in these cases:
//!
//! - They have different marks.
//! - An expression or a property names one of them.
//! - Their actions differ in anything but names and locations.
//!
//! Partition refinement then distinguishes locations whose equal actions lead to distinguished locations. The result
//! is the coarsest partition that satisfies all of this.
//!
//! Error reports name the failing action. So an action that may fail is equal to no other action. Only actions that
//! have equals are checked for failures.

use super::access::AccessTable;
use super::instances::{ActionInstance, ActionInstances, InstanceId};
use super::partition_refinement::BlockPartition;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::text::ProgramPrinter;
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, ActionId, ActionsByLocation, Entity, Expr, ExprKind, Layout, LocationId, ProcessId,
    Program, PropertyKind, StmtKind, TurnRule,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal number of action instances for which failures are analysed.
const INSTANCES_MAX: u32 = 1 << 16;

/// The work units of the failure analysis of one action instance.
const EACH_INSTANCE: u64 = 256;

/// The bisimilar locations of each process of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationBisimulation {
    /// The first bisimilar location of each location of each process.
    firsts: Vec<Vec<LocationId>>,
    /// Whether each location of each process is bisimilar to another one.
    joined: Vec<Vec<bool>>,
}

impl LocationBisimulation {
    /// Computes the bisimilar locations of a program with this layout. Returns `None` if all locations are
    /// distinguished.
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

    /// Returns the first of the locations of a process that are bisimilar to a location.
    pub fn representative(&self, process: ProcessId, location: LocationId) -> LocationId {
        self.firsts[process.index()][location.index()]
    }

    /// Returns whether a location of a process is bisimilar to another one.
    pub fn is_merged(&self, process: ProcessId, location: LocationId) -> bool {
        self.joined[process.index()][location.index()]
    }

    /// Returns the sets of bisimilar locations of a process with at least two members. The first location of each set
    /// comes first.
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

    /// Returns all actions from locations that are bisimilar to others.
    fn joined_actions(&self, program: &Program) -> BTreeSet<ActionId> {
        let joined = |id: ProcessId| self.sets(id).into_iter().flatten().map(move |it| (id, it));
        let joined: BTreeSet<_> = program.processes.keys().flat_map(joined).collect();
        let from = |it: &Action| it.edge.is_some_and(|it| joined.contains(&(it.process, it.from)));
        program.actions.iter().filter(|(_, it)| from(it)).map(|(id, _)| id).collect()
    }
}

/// The actions at each location.
struct LocationTransitions<'p> {
    program: &'p Program,
    from: ActionsByLocation,
    /// A number for each action. Actions that are equal as programs have the same number.
    equal_to: Vec<usize>,
    /// The locations that an expression or a property names.
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

    /// Makes an action different from all others.
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

    /// Returns the first bisimilar location of each location of a process.
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
        // If one action of a process requires the first enabled action, the order matters at all its locations.
        let takes_first = |it| self.program.actions[it].control.turn == TurnRule::First;
        let takes_first = self.from.of_process(id).any(takes_first);
        let seen = |number: usize, blocks: &BlockPartition| {
            self.signature(id, LocationId::from_index(number), takes_first, blocks)
        };
        blocks.refine(seen, &seen_by, self.budget)?;
        Ok(blocks.least_members().into_iter().map(LocationId::from_index).collect())
    }

    /// Returns the actions from a location and the blocks to which they lead, in order where the order matters.
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
        // The order matters if an action has a tier or is an `otherwise`.
        let control = |it: &ActionId| self.program.actions[*it].control;
        let asks = |it: &ActionId| control(it).tier != 0 || control(it).otherwise;
        if !takes_first && !actions.iter().any(asks) {
            seen.sort_unstable();
        }
        seen
    }
}

/// Returns the action without its print statements.
fn without_prints(action: &Action) -> Action {
    let mut action = action.clone();
    action.body.retain(|it| !matches!(it.kind, StmtKind::Print { .. }));
    action
}

/// Returns the locations that an expression or a property names.
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

/// Returns those of some actions that may fail, as far as failures are not ruled out.
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
            // A failure of `provided` or of a priority is attributed to all actions of the process.
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
