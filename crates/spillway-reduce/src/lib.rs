//! Reductions: each wraps a transition system and gives a smaller one.
//!
//! [`REDUCTIONS`] is the table of all reductions. Each entry is in the folder of its reduction and describes it
//! completely: name, paper, parameters, preserved properties, incompatible reductions, detection and application. The
//! table generates the flags with their help, configuration files, `explain --reductions`, the tables of the
//! documents, and the tests that every reduction must pass.
//!
//! A [`ReductionSelection`] names reductions of the table; a [`ReductionConfig`] is the request of a user. A
//! [`ReductionStack`] has the reductions of a search in the order in which they act. The result of each is a
//! transition system. Counterexamples are concretised, one reduction after the other
//! ([`Simulation`](spillway_model::Simulation)).

pub mod abstraction;
mod action_trial;
pub mod boring;
mod checked_properties;
pub mod claim;
pub mod confluence;
pub mod dead;
pub mod dominance;
pub mod doomed;
pub mod entry;
pub mod equivalent_locations;
pub mod equivalent_values;
pub mod linear;
pub mod merge;
pub mod parameters;
pub mod partial_order;
pub mod reversible;
pub mod rewrite_pass;
pub mod rewriting;
pub mod selection;
pub mod simultaneous;
pub mod slice;
mod stack;
mod state_map;
pub mod structural;
pub mod symmetry;
mod variable_names;

pub use entry::{PreservedRuns, ReductionEntry};
pub use parameters::{ParameterValue, ParameterValues};
pub use selection::{
    ReductionConfig, ReductionMode, ReductionPlan, ReductionRequest, ReductionSelection,
    SelectionError,
};
pub use spillway_model::{
    NotApplied, PreservedProperties, PropertyClass, ReductionRefusal, ReductionSummary, Remedy,
};
pub use stack::{Reduction, ReductionKind, ReductionStack, ReductionTraits};

use claim::NeverClaim;
use entry::{IncompatibilityKind, ReductionContext, ReductionMethod, SelectiveFn};
use rewriting::ProgramForm;
use spillway_base::budget::AnalysisBudget;
use spillway_ir::{Layout, Program, PropertyKind};

/// Every reduction. Among those of the same [kind](ReductionKind) an earlier one acts before a later one.
pub static REDUCTIONS: [&ReductionEntry; 15] = [
    &partial_order::POR,
    &partial_order::CONFLUENCE,
    &partial_order::SIMULTANEOUS,
    &slice::ENTRY,
    &structural::ENTRY,
    &equivalent_values::ENTRY,
    &equivalent_locations::ENTRY,
    &dead::ENTRY,
    &merge::ENTRY,
    &reversible::ENTRY,
    &symmetry::ENTRY,
    &linear::ENTRY,
    &boring::ENTRY,
    &doomed::ENTRY,
    &dominance::ENTRY,
];

/// Returns the reduction with a name.
pub fn find_reduction(name: &str) -> Option<&'static ReductionEntry> {
    REDUCTIONS.into_iter().find(|it| it.name == name)
}

impl<'m> ReductionStack<'m> {
    /// Stacks those of some reductions that are compatible, in the order in which they act.
    pub fn new(wanted: Vec<Box<dyn Reduction<'m> + 'm>>) -> ReductionStack<'m> {
        ReductionStack::stacked(wanted, &pair_conflict)
    }

    /// Stacks the claim of a program, if it has one, and the applicable reductions of a plan. `selective` creates the
    /// executor of selected actions. The program is rewritten if its form allows that. Each analysis has a `budget`
    /// of its own.
    pub fn of(
        form: ProgramForm<'m>,
        plan: &ReductionPlan,
        selective: &SelectiveFn<'m, '_>,
        budget: &AnalysisBudget,
    ) -> ReductionStack<'m> {
        let claim = NeverClaim::for_runs(form.interp(), plan.finite_runs);
        let claim_name = claim.as_ref().map(|it| it.name().to_owned());
        let applying = ReductionApplication { form, plan, claim: claim_name, selective, budget };
        let (wanted, refused) = applying.apply(claim);
        let mut stack = ReductionStack::new(wanted);
        stack.refuse(refused);
        stack
    }

    /// Returns the plan without the reductions that exceeded their budget. A resumed search must not try them again
    /// with another budget.
    pub fn within_budget(&self, plan: &ReductionPlan) -> ReductionPlan {
        let exceeded = |it: &&ReductionRefusal| matches!(it.reason, NotApplied::Exceeded(_));
        let names = self.refusals().iter().filter(exceeded).flat_map(|it| &it.reductions);
        let selection = names.fold(plan.selection.clone(), |all, name| all.without(name));
        plan.with_selection(selection)
    }
}

/// The application of a plan's reductions to a program.
struct ReductionApplication<'m, 'a> {
    form: ProgramForm<'m>,
    plan: &'a ReductionPlan,
    claim: Option<String>,
    selective: &'a SelectiveFn<'m, 'a>,
    budget: &'a AnalysisBudget<'a>,
}

/// The reductions to stack, and those that are not applied.
type Applications<'m> = (Vec<Box<dyn Reduction<'m> + 'm>>, Vec<ReductionRefusal>);

impl<'m> ReductionApplication<'m, '_> {
    /// Applies symmetry first: others depend on whether states are representatives of orbits.
    fn apply(&self, claim: Option<NeverClaim<'m>>) -> Applications<'m> {
        let mut symmetry =
            self.plan.get("symmetry").map(|_| self.wrapping(&symmetry::ENTRY, false));
        let is_symmetric = matches!(symmetry, Some(Ok(Some(_))));
        let (mut wanted, mut refused): Applications<'m> = (Vec::new(), Vec::new());
        wanted.extend(claim.map(boxed));
        wanted.extend(self.form.reductions(self.plan.finite_runs));
        for (entry, _) in self.plan.selection.iter() {
            let applied = match entry.method {
                ReductionMethod::Rewrite { .. } => match self.form.refusal(entry, self.plan) {
                    Some(refusal) => Err(refusal),
                    None => Ok(None),
                },
                ReductionMethod::Wrap(_) if entry.name == symmetry::ENTRY.name => {
                    symmetry.take().unwrap_or(Ok(None))
                }
                ReductionMethod::Wrap(_) => self.wrapping(entry, is_symmetric),
            };
            match applied {
                Ok(it) => wanted.extend(it),
                Err(refusal) => refused.push(refusal),
            }
        }
        let of_parts: Vec<ReductionRefusal> =
            wanted.iter().flat_map(|it| it.traits().unused).collect();
        refused.extend(of_parts);
        (wanted, refused)
    }

    fn wrapping(
        &self,
        entry: &'static ReductionEntry,
        is_symmetric: bool,
    ) -> entry::AppliedReduction<'m> {
        let ReductionMethod::Wrap(apply) = entry.method else { return Ok(None) };
        if let Some(reason) = entry.constraint_refusal(self.form.interp().program()) {
            return Err(entry.refusal(reason));
        }
        let chosen: Vec<_> =
            self.plan.selection.iter().map(|(entry, values)| (entry.name, values)).collect();
        apply(&ReductionContext {
            entry,
            interp: self.form.interp(),
            chosen: &chosen,
            checks: self.plan.checks,
            finite_runs: self.plan.finite_runs,
            claim: self.claim.as_deref(),
            is_symmetric,
            selective: self.selective,
            budget: self.budget,
        })
    }
}

/// Returns the conflict of a reduction with one that acts before it, according to the table.
fn pair_conflict(reduction: &dyn Reduction, before: &dyn Reduction) -> Option<NotApplied> {
    let entries = |it: &dyn Reduction| it.traits().entries.into_iter().filter_map(find_reduction);
    let kinds = entries(reduction).flat_map(|one| {
        entries(before).filter_map(move |other| one.incompatibility(other)).collect::<Vec<_>>()
    });
    kinds.into_iter().find_map(|it| match it {
        IncompatibilityKind::Unproven => Some(NotApplied::Unproven(before.name())),
        IncompatibilityKind::OtherSteps => Some(NotApplied::OtherSteps(before.name())),
        IncompatibilityKind::Contradiction(_) | IncompatibilityKind::OtherValue { .. } => None,
    })
}

/// Returns the reason why a program must be searched as written, if there is one. A `cover` within a transition is
/// observed only if the transition is executed as written, and symmetry alone guarantees that. All reductions examine
/// the codes of cells, which they assume to be small.
pub fn unrewritable_reason(program: &Program, layout: &Layout) -> Option<NotApplied> {
    let has_covers = program.properties.values().any(|it| it.kind == PropertyKind::Reached);
    if has_covers {
        return Some(NotApplied::CoverStatements);
    }
    layout.has_wide_cells().then_some(NotApplied::WideVariable)
}

/// Returns a reduction as a part of a stack.
pub fn boxed<'m>(reduction: impl Reduction<'m> + 'm) -> Box<dyn Reduction<'m> + 'm> {
    Box::new(reduction)
}
