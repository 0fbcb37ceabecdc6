//! An abstraction of a program: of its states only what some cells hold is kept, and explored before the search.
//!
//! A combination of what these cells hold leads to another if a step may do so in some state in which they hold that. All
//! that the program can do the abstraction can do, so what cannot be reached in it cannot be reached (Pelánek 2005, section
//! 3.3.2; as a progress function is one to a single number). And what a step surely does, wherever the cells hold that,
//! nothing can prevent (section 3.3.1).
//!
//! - `cases`: what comes of each action instance, by what cells hold;
//! - `cell_values`: what a cell holds, as it is, as it is asked and as it is written;
//! - `cell_abstraction`: the cells that are kept, and what they hold as one number;
//! - `graph`: which combinations lead to which;
//! - `cone`: which cells are worth keeping.

mod cases;
mod cell_abstraction;
mod cell_values;
mod cone;
mod graph;

use crate::analysis::access::AccessTable;
use crate::analysis::bit_sets;
use crate::analysis::dependence::DependenceRelation;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::exec::Interp;
use crate::ir::layout::CellId;
use crate::ir::{Program, PropertyId, PropertyKind, Schedule};
use crate::model::CheckSelection;
use crate::reduce::NotApplied;
use cases::{CaseAnalysis, InstanceCases, PropertyCases};
pub use cell_abstraction::CellAbstraction;
use graph::AbstractGraph;

/// Programs with more action instances are not looked at.
const INSTANCES_MAX: u32 = 1 << 14;

/// At most so many combinations are looked at. A number of one fits in 16 bits.
const COMBINATIONS_MAX: u32 = 1 << 14;

/// Something that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ViolationTarget {
    /// A step that fails.
    Errors,
    /// A state in which a property does not hold.
    Property(PropertyId),
    /// A state without a step.
    Deadlock,
}

/// What was found out of something that is looked for.
#[derive(Clone, Debug)]
pub struct TargetAbstraction {
    /// What is looked for.
    pub target: ViolationTarget,
    /// What is kept.
    pub kept: CellAbstraction,
    /// The combinations from which it may be reached.
    pub may_reach: Vec<u64>,
    /// For each combination: how many steps lead surely there, and one more; 0 if none are known to.
    pub sure_distances: Vec<u16>,
    /// How many combinations can be reached at all, as far as it can be told.
    pub reachable_count: usize,
    /// How many of these it may be reached from.
    pub may_reach_count: usize,
    /// All that the cells hold, added up, before and after a step in which that may fall; only of cells that were given.
    pub falling_step: Option<(i64, i64)>,
    /// Whether there are too many steps to look at all of them.
    pub steps_are_too_many: bool,
}

/// All that is known of the steps of a program, so that parts of its states can be looked at by themselves.
struct AbstractionAnalysis<'k> {
    interp: &'k Interp,
    dependence: &'k DependenceRelation<'k>,
    cases: Vec<InstanceCases>,
    /// Whether an error of the instance is looked for.
    may_err: Vec<bool>,
    judgements: Vec<(PropertyId, PropertyCases)>,
    budget: &'k AnalysisBudget<'k>,
}

/// What is found of all that is looked for, where the cells that are kept are these, or chosen; or why nothing is.
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

/// Why a program cannot be looked at so.
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

/// All that is looked for.
fn targets(program: &Program, checks: CheckSelection) -> impl Iterator<Item = ViolationTarget> {
    let errors = (checks.faults || checks.assertions).then_some(ViolationTarget::Errors);
    let deadlock = checks.deadlock.then_some(ViolationTarget::Deadlock);
    errors
        .into_iter()
        .chain(state_properties(program, checks).map(ViolationTarget::Property))
        .chain(deadlock)
}

/// The properties of states that are looked for.
fn state_properties(program: &Program, checks: CheckSelection) -> impl Iterator<Item = PropertyId> {
    let is_judged = move |kind: &PropertyKind| match kind {
        PropertyKind::Invariant(_) | PropertyKind::Cover(_) => checks.invariants || checks.faults,
        PropertyKind::AssertionAt { .. } => checks.assertions || checks.faults,
        _ => false,
    };
    program.properties.iter().filter(move |(_, it)| is_judged(&it.kind)).map(|(id, _)| id)
}

impl AbstractionAnalysis<'_> {
    /// What is found of something that is looked for, by the cells that are given, or those that tell most.
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

    /// What is found of something by what these cells hold; and whether that may fall, if it is asked.
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
    /// The share of what can be reached from which it may be.
    fn share(&self) -> f64 {
        self.may_reach_count as f64 / self.reachable_count.max(1) as f64
    }
}
