//! The cone of influence: what stays in the program, computed backwards from the checked properties.

use super::SliceCriterion;
use super::items::{SliceItems, written};
use super::relevance::RelevantItems;
use spillway_analysis::access::AccessTable;
use spillway_analysis::bit_sets;
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_ir::walk::{self, CodeVisitor};
use spillway_ir::{
    Action, ActionId, ActionsByLocation, Arena, PidRule, ProcessEdge, ProcessId, Program,
    PropertyKind, Stmt, StmtKind, TurnRule, Urgency,
};
use std::collections::BTreeSet;

/// Units of work to decide whether an action instance may fail.
const EACH_INSTANCE: u64 = 256;

/// Units of work to visit an action.
const EACH_ACTION: u64 = 64;

/// The part of a program that stays.
pub(super) struct ConeOfInfluence {
    pub items: SliceItems,
    /// The relevant items.
    pub relevant: Vec<u64>,
    /// The actions that stay.
    pub kept: BTreeSet<ActionId>,
}

/// The cone under construction.
struct ConeBuilder<'c> {
    program: &'c Program,
    items: SliceItems,
    relevant: Vec<u64>,
    kept: BTreeSet<ActionId>,
    /// The items that each action may change.
    written: Arena<ActionId, Vec<u64>>,
    from: ActionsByLocation,
    to: ActionsByLocation,
    /// The processes that may be started in the course of a run.
    started: BTreeSet<ProcessId>,
    has_committed: bool,
}

impl ConeOfInfluence {
    /// Computes the cone of a program for a criterion. Returns `None` if there are too many items.
    pub fn of(
        table: &AccessTable<'_>,
        looked: SliceCriterion,
        budget: &AnalysisBudget,
    ) -> Result<Option<ConeOfInfluence>, BudgetExceeded> {
        let program = table.program();
        let Some(items) = SliceItems::new(program) else { return Ok(None) };
        let words = items.none().len();
        budget.hold(words * size_of::<u64>() * program.actions.len())?;
        let mut closing = ConeBuilder::new(program, items);
        closing.properties(looked);
        closing.lives();
        match looked.is_every_step {
            true => closing.kept.extend(program.actions.keys()),
            false => closing.kept.extend(failing(table, looked, budget)?),
        }
        closing.close(words as u64, budget)?;
        let ConeBuilder { items, relevant, kept, .. } = closing;
        Ok(Some(ConeOfInfluence { items, relevant, kept }))
    }
}

/// Returns the actions that may fail with a checked error.
fn failing(
    table: &AccessTable<'_>,
    looked: SliceCriterion,
    budget: &AnalysisBudget,
) -> Result<BTreeSet<ActionId>, BudgetExceeded> {
    let mut found = BTreeSet::new();
    for number in 0..table.instances().count() {
        budget.work(EACH_INSTANCE)?;
        let number = InstanceId(number);
        let failures = table.access(number).failures();
        let is_looked_for = failures.other && looked.checks.faults
            || failures.assertion && looked.checks.assertions;
        let instance = table.instances().get(number).filter(|_| is_looked_for);
        found.extend(instance.into_iter().flat_map(|it| it.sides()).map(|it| it.action));
    }
    Ok(found)
}

impl<'c> ConeBuilder<'c> {
    fn new(program: &'c Program, items: SliceItems) -> ConeBuilder<'c> {
        let mut all_written = Arena::default();
        for action in program.actions.values() {
            all_written.push(written(program, &items, action));
        }
        let mut processes = program.processes.values();
        let has_committed =
            processes.any(|it| it.locations.values().any(|at| at.urgency == Urgency::Committed));
        let relevant = items.none();
        let (kept, started) = (BTreeSet::new(), started(program));
        ConeBuilder {
            program,
            items,
            relevant,
            kept,
            written: all_written,
            from: ActionsByLocation::leaving(program),
            to: ActionsByLocation::reaching(program),
            started,
            has_committed,
        }
    }

    /// Adds the items that code needs.
    fn needs(&mut self, of: impl FnOnce(&mut RelevantItems<'_>)) {
        let mut found = self.relevant.clone();
        let (program, items, relevant) = (self.program, &self.items, &self.relevant);
        of(&mut RelevantItems { program, items, relevant, found: &mut found });
        self.relevant = found;
    }

    /// Adds the items that checked properties and assumptions read.
    fn properties(&mut self, looked: SliceCriterion) {
        for property in self.program.properties.values() {
            if !looked.is_relevant_property(self.program, &property.kind) {
                continue;
            }
            match &property.kind {
                PropertyKind::Invariant(it)
                | PropertyKind::Cover(it)
                | PropertyKind::AtEnd(it)
                | PropertyKind::Constraint(it)
                | PropertyKind::Assumption(it) => {
                    self.needs(|needs| needs.expr(it));
                }
                PropertyKind::AssertionAt { process, location, condition } => {
                    self.needs(|needs| needs.expr(condition));
                    bit_sets::insert(&mut self.relevant, self.items.at(*process, *location));
                }
                PropertyKind::Automaton(_) | PropertyKind::Claim(_) | PropertyKind::Reached => {}
            }
        }
    }

    /// Adds the items that decide on the lives of processes: their `provided` clauses, process numbers and
    /// initialisations.
    fn lives(&mut self) {
        for process in self.program.processes.values() {
            process.life.provided.iter().for_each(|it| self.needs(|needs| needs.expr(it)));
            let own = match process.life.pid {
                PidRule::In(variable) => Some(variable),
                _ => None,
            };
            for scalar in own.into_iter().flat_map(|it| self.items.scalars.of(it)) {
                bit_sets::insert(&mut self.relevant, scalar);
            }
            // The variables of initial processes are not reset before the next process starts.
            let all = vec![u64::MAX; self.relevant.len()];
            let (program, items) = (self.program, &self.items);
            let found = &mut self.relevant;
            RelevantItems { program, items, relevant: &all, found }.body(&process.life.prologue);
        }
    }

    /// Adds everything that influences the cone, until nothing changes.
    fn close(&mut self, words: u64, budget: &AnalysisBudget) -> Result<(), BudgetExceeded> {
        loop {
            let before = (self.kept.len(), self.relevant.clone());
            for (id, written) in self.written.iter() {
                budget.work(words)?;
                if bit_sets::intersects(written, &self.relevant) {
                    self.kept.insert(id);
                }
            }
            for id in self.kept.clone() {
                budget.work(EACH_ACTION + words)?;
                self.keep(&self.program.actions[id]);
            }
            if bit_sets::has(&self.relevant, self.items.steps) {
                self.kept.extend(self.program.actions.keys());
            }
            if before == (self.kept.len(), self.relevant.clone()) {
                return Ok(());
            }
        }
    }

    /// Adds the items that an action needs, and the actions that lead its mover to it.
    fn keep(&mut self, action: &Action) {
        self.needs(|needs| needs.action(action));
        if self.has_committed {
            bit_sets::insert(&mut self.relevant, self.items.commitment);
        }
        let Some(edge) = action.edge else { return };
        if self.started.contains(&edge.process) {
            bit_sets::insert(&mut self.relevant, self.items.instances);
        }
        let leading = self.to.at(edge.process, edge.from);
        let moves =
            |it: &&ActionId| self.program.actions[**it].edge.is_some_and(|it| it.from != it.to);
        self.kept.extend(leading.iter().filter(moves));
        self.keep_beside(edge);
        // A turn is kept as long as some action is enabled.
        let locations = &self.program.processes[edge.process].locations;
        if action.control.turn != TurnRule::Open || locations[edge.to].urgency != Urgency::Free {
            self.kept.extend(self.from.at(edge.process, edge.to));
        }
        if locations[edge.from].urgency != Urgency::Free {
            self.kept.extend(self.from.at(edge.process, edge.from));
        }
    }

    /// If an action waits until others are disabled, all actions of its location stay.
    fn keep_beside(&mut self, edge: ProcessEdge) {
        let beside = self.from.at(edge.process, edge.from);
        let waits = |it: &ActionId| {
            let control = self.program.actions[*it].control;
            control.otherwise || control.tier != 0
        };
        if beside.iter().any(waits) {
            self.kept.extend(beside);
        }
    }
}

/// Returns the processes that may be started in the course of a run.
fn started(program: &Program) -> BTreeSet<ProcessId> {
    struct StartedProcesses(BTreeSet<ProcessId>);
    impl CodeVisitor for StartedProcesses {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Run { process, .. } = stmt.kind {
                self.0.insert(process);
            }
            walk::stmt(self, stmt);
        }
    }
    let mut started = StartedProcesses(BTreeSet::new());
    program.actions.values().for_each(|it| walk::body(&mut started, &it.body));
    program.functions.values().for_each(|it| walk::body(&mut started, &it.body));
    program.processes.values().for_each(|it| walk::body(&mut started, &it.life.prologue));
    started.0
}
