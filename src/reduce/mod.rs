//! Searching another space than the model's own: reductions that wrap a model and give one again.
//!
//! [`REDUCTIONS`] is the table of all reductions. Each entry is in the folder of its reduction and says all about it: name, paper, parameters,
//! what it preserves, what it does not go with, how it is detected and applied. Flags and their help, configuration files,
//! `explain --reductions`, the documents' tables and the tests that every reduction has to pass are made from the table.
//!
//! A [`ReductionSelection`] names reductions of the table; a [`ReductionConfig`] is what a user asks for. A
//! [`ReductionStack`] has the reductions that a search uses, in the order in which they act. What they
//! make of a model is a model; its counterexamples are made concrete again, reduction by reduction
//! ([`Simulation`](crate::model::Simulation)).

pub mod abstraction;
mod action_trial;
pub mod boring;
mod buffer_pool;
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
mod not_applied;
pub mod parameters;
pub mod partial_order;
mod preserved;
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

pub use entry::ReductionEntry;
pub use not_applied::{NotApplied, Remedy};
pub use parameters::{ParameterValue, ParameterValues};
pub use preserved::{PreservedProperties, PropertyClass};
pub use selection::{
    ReductionConfig, ReductionMode, ReductionPlan, ReductionRequest, ReductionSelection,
    SelectionError,
};
pub use stack::{
    Reduction, ReductionKind, ReductionRefusal, ReductionStack, ReductionSummary, ReductionTraits,
};

use crate::budget::AnalysisBudget;
use crate::ir::{Layout, Program, PropertyKind};
use claim::NeverClaim;
use entry::{IncompatibilityKind, ReductionContext, ReductionMethod, SelectiveFn};
use rewriting::ProgramForm;

/// Every reduction. Of those of the same [kind](ReductionKind) an earlier one acts before a later one.
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

/// The reduction of a name.
pub fn find_reduction(name: &str) -> Option<&'static ReductionEntry> {
    REDUCTIONS.into_iter().find(|it| it.name == name)
}

impl<'m> ReductionStack<'m> {
    /// Those of some reductions that go together, in the order in which they act.
    pub fn new(wanted: Vec<Box<dyn Reduction<'m> + 'm>>) -> ReductionStack<'m> {
        ReductionStack::stacked(wanted, &pair_conflict)
    }

    /// What a program is searched with: its claim, if it has one, and those of the plan's reductions that apply. `selective`
    /// takes its steps by choice. It is rewritten if it comes in such a form. Each analysis gets a `budget` of its own.
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

    /// The plan without what exceeded its budget. A search that goes on is not to try that again, with another budget.
    pub fn within_budget(&self, plan: &ReductionPlan) -> ReductionPlan {
        let exceeded = |it: &&ReductionRefusal| matches!(it.reason, NotApplied::Exceeded(_));
        let names = self.refusals().iter().filter(exceeded).flat_map(|it| &it.reductions);
        let selection = names.fold(plan.selection.clone(), |all, name| all.without(name));
        plan.with_selection(selection)
    }
}

/// Applies the reductions of a plan to a program.
struct ReductionApplication<'m, 'a> {
    form: ProgramForm<'m>,
    plan: &'a ReductionPlan,
    claim: Option<String>,
    selective: &'a SelectiveFn<'m, 'a>,
    budget: &'a AnalysisBudget<'a>,
}

/// Reductions that are to be stacked, and those that are not applied.
type Applications<'m> = (Vec<Box<dyn Reduction<'m> + 'm>>, Vec<ReductionRefusal>);

impl<'m> ReductionApplication<'m, '_> {
    /// Symmetry comes first: others ask whether a state stands for symmetric ones.
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

/// What the table says of a reduction over one that acts before it.
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

/// Why a program is searched as it is written, if so. What is met inside of a step is seen only by
/// whoever takes it as it is written, and no reduction but symmetry has each step taken. All of them look
/// at the codes of cells, which they take to be small.
pub(crate) fn unrewritable_reason(program: &Program, layout: &Layout) -> Option<NotApplied> {
    let has_covers = program.properties.values().any(|it| it.kind == PropertyKind::Reached);
    if has_covers {
        return Some(NotApplied::CoverStatements);
    }
    layout.has_wide_cells().then_some(NotApplied::WideVariable)
}

pub(crate) fn boxed<'m>(reduction: impl Reduction<'m> + 'm) -> Box<dyn Reduction<'m> + 'm> {
    Box::new(reduction)
}
