//! Data abstraction of a program: keeps the values of some cells, and explores the abstract states before the search.
//!
//! A combination of values has a transition to another one if some state with the first has a transition to a state
//! with the second. The abstraction simulates the program. So a target that is unreachable in it is unreachable in
//! the program (Pelánek 2005, section 3.3.2; a progress function is an abstraction to a single number). A transition
//! that is possible in all states of a combination cannot be prevented (section 3.3.1).
//!
//! - `cases`: the effects of each action instance, by the values of cells.
//! - `cell_values`: values of cells, conditions on them, and updates.
//! - `cell_abstraction`: the kept cells, and the numbers of combinations.
//! - `graph`: the transitions between combinations.
//! - `cone`: the selection of cells to keep.

mod cases;
mod cell_abstraction;
mod cell_values;
mod cone;
mod graph;

use crate::NotApplied;
use cases::{CaseAnalysis, InstanceCases, PropertyCases};
pub use cell_abstraction::CellAbstraction;
use graph::AbstractGraph;
use spillway_analysis::access::AccessTable;
use spillway_analysis::bit_sets;
use spillway_analysis::dependence::DependenceRelation;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Program, PropertyId, PropertyKind, Schedule};
use spillway_model::CheckSelection;

/// Programs with more action instances are not analysed.
const INSTANCES_MAX: u32 = 1 << 14;

/// The most combinations. A number of one fits in 16 bits.
const COMBINATIONS_MAX: u32 = 1 << 14;

/// A kind of violation to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViolationTarget {
    /// A transition that fails.
    Errors,
    /// A state that violates a property.
    Property(PropertyId),
    /// A deadlock.
    Deadlock,
}

/// The results of the abstraction for one target.
#[derive(Clone, Debug)]
pub struct TargetAbstraction {
    /// The target.
    pub target: ViolationTarget,
    /// The kept cells.
    pub kept: CellAbstraction,
    /// The combinations from which the target may be reached.
    pub may_reach: Vec<u64>,
    /// For each combination, one plus the number of transitions that surely lead to the target; 0 if none are known
    /// to.
    pub sure_distances: Vec<u16>,
    /// The number of reachable combinations, overestimated.
    pub reachable_count: usize,
    /// The number of reachable combinations from which the target may be reached.
    pub may_reach_count: usize,
    /// The sums of the values before and after a transition that may decrease the sum. Computed only for given cells.
    pub falling_step: Option<(i64, i64)>,
    /// Whether there are too many transitions to examine.
    pub steps_are_too_many: bool,
}

/// The analysed transitions of a program, from which abstractions of parts of its states are computed.
struct AbstractionAnalysis<'k> {
    interp: &'k Interp,
    dependence: &'k DependenceRelation<'k>,
    cases: Vec<InstanceCases>,
    /// Whether each instance may fail with a checked error.
    may_err: Vec<bool>,
    judgements: Vec<(PropertyId, PropertyCases)>,
    budget: &'k AnalysisBudget<'k>,
}

/// Computes the abstraction for each target, with the given cells or with selected ones. Returns the reason if the
/// program cannot be analysed.
pub fn compute_abstractions(
    interp: &Interp,
    checks: CheckSelection,
    kept: Option<&[CellId]>,
    budget: &AnalysisBudget,
) -> Result<Vec<TargetAbstraction>, NotApplied> {
    let (program, layout) = (interp.program(), interp.layout());
    if let Some(why) = refusal(program) {
        return Err(why);
    }
    let table = AccessTable::new(program, layout)?;
    let dependence = DependenceRelation::new(&table, INSTANCES_MAX, budget)?
        .ok_or(NotApplied::TooManyInstances(INSTANCES_MAX))?;
    let mut finding = CaseAnalysis::new(interp, &dependence, checks, budget);
    let mut judgements = Vec::new();
    for property in state_properties(program, checks) {
        let found = finding.judgements(property)?;
        budget.hold(found.bytes())?;
        judgements.push((property, found));
    }
    let mut cases = Vec::new();
    for instance in dependence.instances() {
        let found = finding.cases(instance)?;
        budget.hold(found.bytes())?;
        cases.push(found);
    }
    let may_err = dependence.instances().map(|it| finding.may_err(it)).collect();
    let known =
        AbstractionAnalysis { interp, dependence: &dependence, cases, may_err, judgements, budget };
    let found = targets(program, checks).map(|target| known.best(target, kept));
    Ok(found.collect::<Result<_, BudgetExceeded>>()?)
}

/// Returns the reason why a program cannot be analysed, if there is one.
fn refusal(program: &Program) -> Option<NotApplied> {
    let is =
        |wanted: fn(&PropertyKind) -> bool| program.properties.values().any(|it| wanted(&it.kind));
    if program.schedule != Schedule::Interleaved {
        return Some(NotApplied::AllMove);
    }
    if is(|it| matches!(it, PropertyKind::Assumption(_))) {
        return Some(NotApplied::Assumptions);
    }
    is(|it| matches!(it, PropertyKind::Automaton(_) | PropertyKind::Claim(_)))
        .then_some(NotApplied::BesideClaim)
}

/// Returns the targets of the selected checks.
fn targets(program: &Program, checks: CheckSelection) -> impl Iterator<Item = ViolationTarget> {
    let errors = (checks.faults || checks.assertions).then_some(ViolationTarget::Errors);
    let deadlock = checks.deadlock.then_some(ViolationTarget::Deadlock);
    errors
        .into_iter()
        .chain(state_properties(program, checks).map(ViolationTarget::Property))
        .chain(deadlock)
}

/// Returns the checked properties of states.
fn state_properties(program: &Program, checks: CheckSelection) -> impl Iterator<Item = PropertyId> {
    let is_judged = move |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(_) | PropertyKind::Cover(_) => checks.invariants || checks.faults,
        PropertyKind::AssertionAt { .. } => checks.assertions || checks.faults,
        _ => false,
    };
    program.properties.iter().filter(move |(_, it)| is_judged(&it.kind)).map(|(id, _)| id)
}

impl AbstractionAnalysis<'_> {
    /// Computes the best abstraction for a target: the one with the given cells, or with the selected cells that
    /// exclude most.
    fn best(
        &self,
        target: ViolationTarget,
        kept: Option<&[CellId]>,
    ) -> Result<TargetAbstraction, BudgetExceeded> {
        let layout = self.interp.layout();
        let first_of = |cells: &[CellId]| {
            CellAbstraction::first_of(cells.iter().copied(), layout, COMBINATIONS_MAX)
        };
        if let Some(cells) = kept {
            return self.found(target, first_of(cells), true);
        }
        let cone = self.cone(target)?;
        let together = first_of(&cone);
        let is_left = |cell: &&CellId| together.position(**cell).is_none();
        let alone: Vec<CellAbstraction> =
            cone.iter().filter(is_left).map(|&it| first_of(&[it])).collect();
        let mut best = self.found(target, together, false)?;
        for kept in alone {
            let found = self.found(target, kept, false)?;
            if found.share() < best.share() {
                best = found;
            }
        }
        Ok(best)
    }

    /// Computes the abstraction for a target and some kept cells. Examines on request whether the sum may decrease.
    fn found(
        &self,
        target: ViolationTarget,
        kept: CellAbstraction,
        may_fall: bool,
    ) -> Result<TargetAbstraction, BudgetExceeded> {
        let (mut cases, mut held) = (Vec::new(), 0);
        for all in &self.cases {
            self.budget.work(1 + all.all.len() as u64)?;
            let of_kept = all.of_kept(&kept);
            held += of_kept.bytes();
            self.budget.hold(of_kept.bytes())?;
            cases.push(of_kept);
        }
        let graph = AbstractGraph::of(self, target, &kept, cases)?;
        let may_reach = graph.may_reach()?;
        let reached = graph.reached()?;
        let surely = graph.surely()?;
        let both = bit_sets::members(&reached).filter(|&it| bit_sets::has(&may_reach, it)).count();
        let falls = if may_fall { graph.falls(&reached)? } else { None };
        let steps_are_too_many = graph.steps_are_too_many();
        let reached = bit_sets::count(&reached) as usize;
        drop(graph);
        self.budget.release(held);
        Ok(TargetAbstraction {
            target,
            kept,
            may_reach,
            sure_distances: surely,
            reachable_count: reached,
            may_reach_count: both,
            falling_step: falls,
            steps_are_too_many,
        })
    }
}

impl TargetAbstraction {
    /// Returns the share of reachable combinations from which the target may be reached.
    fn share(&self) -> f64 {
        self.may_reach_count as f64 / self.reachable_count.max(1) as f64
    }
}
