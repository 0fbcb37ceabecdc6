//! Passes that rewrite a program before the search, so that indistinguishable states become one.
//!
//! Each pass changes the program and maps states of the original program to representatives in the rewritten one
//! ([`RewritePass`]). Passes follow each other in the order of the table of reductions, each on the result of the one
//! before. Interpreter, compiler and the other reductions run the final program. Actions, locations and cells of the
//! program as written keep their numbers. So a counterexample is concretised in the program as written, over all
//! passes at once.

mod cache;
mod model;

pub use cache::RewriteCache;

use super::claim::{FiniteRunPolicy, NeverClaim};
use super::entry::{ReductionEntry, ReductionMethod, RewriteContext};
use super::parameters::ParameterValues;
use super::rewrite_pass::{MergedStep, MergedSteps, RewritePass};
use super::selection::ReductionPlan;
use super::{
    NotApplied, Reduction, ReductionKind, ReductionRefusal, ReductionStack, ReductionTraits,
    unrewritable_reason,
};
use model::RewrittenModel;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_ir::layout::CellId;
use spillway_ir::{Layout, Program};
use spillway_model::{Counters, StateSpace};
use std::any::Any;
use std::collections::BTreeSet;

/// The result of the passes over a program.
#[derive(Debug, Default)]
pub struct RewriteResult {
    rewritten: Option<Box<RewrittenProgram>>,
    /// The passes whose analyses exceeded their budget.
    exceeded: Vec<(&'static ReductionEntry, BudgetExceeded)>,
}

impl RewriteResult {
    /// Applies the rewriting reductions of a plan to a program. Each pass gets a `budget` of its own.
    pub fn of(written: &Interp, plan: &ReductionPlan, budget: &AnalysisBudget) -> RewriteResult {
        let (rewritten, exceeded) = RewrittenProgram::within(written, plan, budget);
        RewriteResult { rewritten: rewritten.map(Box::new), exceeded }
    }

    /// Returns the rewritten program, if a pass changed something.
    pub fn rewritten(&self) -> Option<&RewrittenProgram> {
        self.rewritten.as_deref()
    }

    /// Whether some pass ended because the whole check must stop.
    pub fn is_stopped(&self) -> bool {
        self.exceeded.iter().any(|it| it.1 == BudgetExceeded::Stopped)
    }
}

/// A program that passes have rewritten.
#[derive(Debug)]
pub struct RewrittenProgram {
    interp: Interp,
    passes: Vec<AppliedPass>,
}

/// A pass that changed the program.
#[derive(Debug)]
struct AppliedPass {
    entry: &'static ReductionEntry,
    parameters: ParameterValues,
    pass: Box<dyn RewritePass>,
}

impl RewrittenProgram {
    /// Applies the rewriting reductions of a plan to a program, each with the largest budget. Returns `None` if
    /// nothing changes.
    pub fn of(written: &Interp, plan: &ReductionPlan) -> Option<RewrittenProgram> {
        RewrittenProgram::within(written, plan, &AnalysisBudget::largest()).0
    }

    /// Applies them with a budget for each pass. Returns the passes that exceeded it as well.
    fn within(
        written: &Interp,
        plan: &ReductionPlan,
        budget: &AnalysisBudget,
    ) -> (Option<RewrittenProgram>, Vec<(&'static ReductionEntry, BudgetExceeded)>) {
        let (mut passes, mut exceeded) = (Vec::new(), Vec::new());
        if unrewritable_reason(written.program(), written.layout()).is_some() {
            return (None, exceeded);
        }
        let mut program = written.program().clone();
        for (entry, parameters) in plan.selection.iter() {
            let ReductionMethod::Rewrite { rewrite, refuse } = entry.method else { continue };
            let budget = &budget.for_analysis(entry.title);
            let refused = entry.constraint_refusal(&program);
            let refused = refused.or_else(|| refuse(&program, plan.checks, plan.finite_runs));
            if refused.is_some() {
                continue;
            }
            let checks = plan.checks;
            match rewrite(&mut program, &RewriteContext { written, checks, parameters, budget }) {
                Ok(pass) => passes.extend(pass.map(|pass| AppliedPass {
                    entry,
                    parameters: parameters.clone(),
                    pass,
                })),
                Err(why) => exceeded.push((entry, why)),
            }
        }
        let is_any = !passes.is_empty();
        let interp = is_any.then(|| written.rewritten(program)).flatten();
        (interp.map(|interp| RewrittenProgram { interp, passes }), exceeded)
    }

    /// Returns the interpreter of the rewritten program.
    pub fn interp(&self) -> &Interp {
        &self.interp
    }

    /// Returns the state of this program that represents a state.
    fn represented(&self, layout: &Layout, state: &[u8]) -> Vec<u8> {
        let mut state = state.to_vec();
        self.passes().for_each(|it| it.represent(layout, &mut state));
        state
    }

    /// Returns whether two states have the same representative.
    pub fn are_equivalent(&self, layout: &Layout, one: &[u8], other: &[u8]) -> bool {
        self.represented(layout, one) == self.represented(layout, other)
    }

    /// Returns the states of the program as written through which a merged transition leads, without the first one.
    /// `from` is one of them, and `to` is equivalent to the last. `None` if no transitions are merged, or no path is
    /// found.
    pub fn merged_path(&self, written: &Interp, from: &[u8], to: &[u8]) -> Option<Vec<Vec<u8>>> {
        let represented = &|state: &[u8]| self.represented(written.layout(), state);
        let end = represented(to);
        let is_end = &|state: &[u8]| represented(state) == end;
        self.merged_steps()?.path(&MergedStep { written, represented, from, is_end })
    }

    /// Returns the pass of a type, if it changed something.
    pub fn pass<P: RewritePass>(&self) -> Option<&P> {
        self.passes().find_map(|it| (it as &dyn Any).downcast_ref())
    }

    /// Returns the pass of a reduction, if it changed something.
    pub fn pass_of(&self, name: &str) -> Option<&dyn RewritePass> {
        self.passes.iter().find(|it| it.entry.name == name).map(|it| &*it.pass)
    }

    /// Returns the passes that changed something, in order.
    fn passes(&self) -> impl Iterator<Item = &dyn RewritePass> {
        self.passes.iter().map(|it| &*it.pass)
    }

    /// Returns the first pass whose transitions are several transitions of the original program. There is at most
    /// one, since no program has both places of a net and processes.
    fn merged_steps(&self) -> Option<&dyn MergedSteps> {
        self.passes().find_map(|it| it.merged_steps())
    }
}

/// A program as it is run: as written, or rewritten.
#[derive(Clone, Copy)]
pub struct ProgramForm<'m> {
    written: &'m Interp,
    rewritten: Option<&'m RewrittenProgram>,
    exceeded: &'m [(&'static ReductionEntry, BudgetExceeded)],
}

impl<'m> ProgramForm<'m> {
    /// Returns the program as written.
    pub fn written(written: &'m Interp) -> ProgramForm<'m> {
        ProgramForm { written, rewritten: None, exceeded: &[] }
    }

    /// Returns the rewritten program, if there is one: `rewritten` must belong to `written`.
    pub fn rewritten(
        written: &'m Interp,
        rewritten: Option<&'m RewrittenProgram>,
    ) -> ProgramForm<'m> {
        ProgramForm { written, rewritten, exceeded: &[] }
    }

    /// Returns the program for the result of passes.
    pub fn from_result(written: &'m Interp, rewriting: &'m RewriteResult) -> ProgramForm<'m> {
        let RewriteResult { rewritten, exceeded } = rewriting;
        ProgramForm { written, rewritten: rewritten.as_deref(), exceeded }
    }

    /// Returns the rewritten program, if some of its transitions are merged.
    pub fn merged(self) -> Option<&'m RewrittenProgram> {
        self.rewritten.filter(|it| it.merged_steps().is_some())
    }

    /// Returns the interpreter of this form.
    pub fn interp(self) -> &'m Interp {
        self.rewritten.map_or(self.written, RewrittenProgram::interp)
    }

    /// Returns the plan without the rewriting reductions that changed nothing.
    pub fn applied(self, plan: &ReductionPlan) -> ReductionPlan {
        let passes = self.rewritten.map_or(&[][..], |it| it.passes.as_slice());
        let others = plan.without_kind(ReductionKind::Rewriting);
        passes.iter().fold(others, |plan, it| plan.with(it.entry.name, it.parameters.clone()))
    }

    /// Returns the reason why a rewriting reduction is not applied, if it is known: the program does not allow it, or
    /// its analysis exceeded its budget.
    pub fn refusal(
        self,
        entry: &'static ReductionEntry,
        plan: &ReductionPlan,
    ) -> Option<ReductionRefusal> {
        let ReductionMethod::Rewrite { refuse, .. } = entry.method else { return None };
        let (program, layout) = (self.written.program(), self.written.layout());
        let exceeded = || self.exceeded.iter().find(|it| it.0.name == entry.name).map(|it| it.1);
        let reason = unrewritable_reason(program, layout)
            .or_else(|| entry.constraint_refusal(program))
            .or_else(|| refuse(program, plan.checks, plan.finite_runs))
            .or_else(|| exceeded().map(NotApplied::from));
        reason.map(|reason| entry.refusal(reason))
    }

    /// Returns each pass that changed something as a reduction. `finite_runs` gives the meaning of finite runs, if
    /// the claim is checked on infinite runs.
    pub fn reductions(
        self,
        finite_runs: Option<FiniteRunPolicy>,
    ) -> impl Iterator<Item = Box<dyn Reduction<'m> + 'm>> {
        let passes = self.rewritten.into_iter().flat_map(|it| &it.passes);
        passes.enumerate().map(move |(number, applied)| {
            let follows = self.rewritten.filter(|_| number == 0);
            let (written, program) = (self.written, self.interp().program());
            Box::new(PassReduction { applied, written, program, follows, finite_runs })
                as Box<dyn Reduction<'m> + 'm>
        })
    }
}

/// A pass as a reduction of the rewritten program.
struct PassReduction<'m> {
    applied: &'m AppliedPass,
    written: &'m Interp,
    program: &'m Program,
    /// All passes, if this is the first of them: it concretises for all with the program as written.
    follows: Option<&'m RewrittenProgram>,
    /// The meaning of finite runs, if the claim is checked on infinite runs.
    finite_runs: Option<FiniteRunPolicy>,
}

impl<'m> Reduction<'m> for PassReduction<'m> {
    fn name(&self) -> String {
        self.applied.entry.title.into()
    }

    fn traits(&self) -> ReductionTraits {
        let applied = self.applied;
        ReductionTraits {
            preserves: applied.pass.preserves(),
            keeps_all_actions: applied.pass.keeps_all_actions(),
            ..applied.entry.traits()
        }
    }

    fn describe_effect(&self, _: &Counters) -> Option<String> {
        Some(self.applied.pass.describe_effect(self.program))
    }

    fn changed_cells(&self, layout: &Layout) -> BTreeSet<CellId> {
        self.applied.pass.changed_cells(self.program, layout)
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn conflict(&self, _: &ReductionStack<'m>) -> Option<NotApplied> {
        None
    }

    /// A claim, which is counted with the program's states, is concretised with the program as written.
    fn wrap(&self, model: Box<dyn StateSpace + 'm>) -> Box<dyn StateSpace + 'm> {
        let Some(rewritten) = self.follows else { return model };
        let below: Box<dyn StateSpace + 'm> =
            match NeverClaim::for_runs(self.written, self.finite_runs) {
                Some(claim) => Box::new(claim.with(self.written)),
                None => Box::new(self.written),
            };
        Box::new(RewrittenModel::new(model, below, self.written, rewritten))
    }
}
