//! The reductions of a search: as requested, or as the first states decide.

use super::searched_model::SearchedModel;
use super::{ExecutableProgram, TextModel};
use crate::budget::AnalysisBudget;
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{Expr, Program, Stmt};
use crate::model::{CheckSelection, StateSpace};
use crate::numbers::grouped;
use crate::reduce::claim::NeverClaim;
use crate::reduce::dead::DeadVariableElimination;
use crate::reduce::partial_order::{
    CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy,
};
use crate::reduce::rewriting::ProgramForm;
use crate::reduce::symmetry::Symmetry;
use crate::reduce::{
    NotApplied, ParameterValues, Reduction, ReductionConfig, ReductionKind, ReductionPlan,
    ReductionRequest, ReductionStack, boxed, unrewritable_reason,
};
use crate::search::control::SearchPhase;
use crate::search::external::has_room_for_obligations;
use crate::search::model_failure;
use crate::search::pilot::{ChainPrediction, ChainTrial, FirstLevels, LITTLE, ReducedLevels};
use crate::search::{SearchControl, SearchLimits, StateStorage};

/// The maximum share of the states of the first levels that may remain for a reduction to be used. With a larger share
/// the cost of partial order exceeds its saving.
const LEFT_MAX: f64 = 0.5;

/// The maximum share of the first states that may remain for statement merging to be tried together with partial
/// order. Merging alone is used if at most `LEFT_MAX` remains.
const MERGED_MAX: f64 = 0.8;

/// The maximum share that may remain for dead-variable elimination to reset several processes jointly.
const JOINT_MAX: f64 = 0.95;

/// The maximum work of chains, relative to storing every state. Chains always save memory and disk.
const CHAIN_WORK_MAX: f64 = 1.25;

/// The maximum number of action instances for which partial order is tried.
const INSTANCES_MAX: u32 = 2048;

/// The maximum number of statements and expressions in actions, and in functions, whose bodies are analysed at each
/// call. In larger programs the analysis of accesses takes too long.
const NODES_MAX: [usize; 2] = [20_000, 500];

/// The inputs of the reductions of a search other than its model: the checks, the storage, and the budgets of analyses
/// and trials.
#[derive(Clone, Copy)]
pub struct ReductionSettings<'s> {
    /// The checks, and when the search ends.
    pub limits: &'s SearchLimits,
    /// How states are stored.
    pub storage: &'s StateStorage,
    /// Stops trials.
    pub control: &'s SearchControl,
    /// The budget of each analysis.
    pub budget: &'s AnalysisBudget<'s>,
}

/// Profitable reductions.
struct TriedReductions<'m> {
    /// The share of the first states that remains.
    left: f64,
    runs: ExecutableProgram<'m>,
    stack: ReductionStack<'m>,
    plan: ReductionPlan,
    /// Why partial order is not used, if it is not.
    without_order: Option<NotApplied>,
}

impl TextModel {
    /// Makes the model searchable with the requested reductions. If the control stops the trials, the result is
    /// [undecided](SearchedModel::is_undecided).
    pub fn reduced<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        request: ReductionRequest,
        settings: ReductionSettings<'_>,
    ) -> SearchedModel<'m> {
        let ReductionSettings { limits, control, budget, .. } = settings;
        let plan = ReductionPlan::new(request.selection.clone(), limits.checks);
        let _heeding = control.heed();
        let all = ReductionStack::of(runs.form, &plan, &|| runs.executor.selective(), budget);
        if !request.is_tried && !control.should_stop() {
            return self.searched_with(runs, all, plan);
        }
        let tried = match control.should_stop() {
            true => Err(NotApplied::Stopped),
            false => {
                control.progress.enter(SearchPhase::Trying);
                ReductionTrial { model: self, settings }.choose(&runs, &all, &plan)
            }
        };
        if control.is_stopped() {
            drop(tried);
            let nothing = ReductionPlan { finite_runs: plan.finite_runs, ..Default::default() };
            return self.searched_as(&nothing).undecided(plan);
        }
        let TriedReductions { runs, stack, plan, without_order, .. } =
            tried.unwrap_or_else(|why| TriedReductions {
                left: 1.0,
                runs,
                stack: all,
                plan,
                without_order: Some(why),
            });
        let left_off = without_order.map(|reason| PartialOrderMethod::DEFAULT.refusal(reason));
        self.searched_with(runs, stack.with_unprofitable(left_off), plan)
    }

    /// Returns the stack of a plan with partial order, or why partial order is not applicable.
    fn stack<'m>(
        form: ProgramForm<'m>,
        order: PartialOrder<'m>,
        plan: &ReductionPlan,
        budget: &AnalysisBudget,
    ) -> Result<ReductionStack<'m>, NotApplied> {
        let (program, layout) = (form.interp().program(), form.interp().layout());
        let symmetry = plan
            .get("symmetry")
            .map(|it| Symmetry::by_parameters(program, layout, it, budget))
            .transpose()?
            .flatten();
        let mut members: Vec<Box<dyn Reduction<'m> + 'm>> = vec![boxed(order)];
        members.extend(NeverClaim::of(form.interp()).map(boxed));
        members.extend(form.reductions(plan.finite_runs));
        members.extend(symmetry.map(boxed));
        let stack = ReductionStack::new(members);
        match stack.refusals().first() {
            None => Ok(stack),
            Some(refused) => Err(refused.reason.clone()),
        }
    }

    /// Returns an error for programs whose analysis for partial order takes too long.
    fn reject_large(runs: &ExecutableProgram) -> Result<(), NotApplied> {
        let instances = runs.executor.selective()?.instances().count();
        if instances > INSTANCES_MAX {
            return Err(NotApplied::ManyInstances(instances));
        }
        let is_large =
            nodes(runs.form.interp().program()).iter().zip(NODES_MAX).any(|(&it, most)| it > most);
        match is_large {
            true => Err(NotApplied::LargeProgram),
            false => Ok(()),
        }
    }
}

/// The trial of reductions on the first states of a model.
struct ReductionTrial<'m, 's> {
    model: &'m TextModel,
    settings: ReductionSettings<'s>,
}

/// The input of a trial of partial order.
struct TrialSubject<'a, 'm> {
    runs: &'a ExecutableProgram<'m>,
    /// The reductions without partial order, and the model reduced by them.
    stack: &'a ReductionStack<'m>,
    whole: &'a dyn StateSpace,
    plan: &'a ReductionPlan,
    first: &'a FirstLevels,
}

/// Partial order that stores all states, and its first levels.
struct PlainTrial<'a, 'm> {
    runs: &'a ExecutableProgram<'m>,
    plan: &'a ReductionPlan,
    order: &'a PartialOrder<'m>,
    model: &'a dyn StateSpace,
    levels: &'a ReducedLevels,
}

impl<'m> ReductionTrial<'m, '_> {
    /// Chooses the combination that leaves the fewest of the first states: partial order, merged transitions, both, or
    /// symmetry of processes. The error says why all are rejected. `all` are the reductions without these.
    fn choose(
        &self,
        runs: &ExecutableProgram<'m>,
        all: &ReductionStack<'m>,
        plan: &ReductionPlan,
    ) -> Result<TriedReductions<'m>, NotApplied> {
        if plan.selection.has("reversible") {
            return Err(NotApplied::BesideUndoneRules);
        }
        let interp = runs.form.interp();
        if let Some(why) = unrewritable_reason(interp.program(), interp.layout()) {
            return Err(why);
        }
        let prunes = [ReductionKind::Pruning, ReductionKind::Dominance];
        if prunes.into_iter().any(|kind| plan.selection.has_kind(kind)) {
            return Err(NotApplied::BesidePruning);
        }
        let whole = all.wrap(runs.executor.clone().into_model());
        let whole = &*whole;
        let first = &self.first_levels(whole)?;
        let alike = self.try_process_symmetry(runs, all, plan, first)?;
        let chosen = match self.try_merging(runs, plan, first) {
            Some(merged) => merged,
            None => self.try_partial_order(TrialSubject { runs, stack: all, whole, plan, first }),
        };
        match (alike, chosen) {
            (Some(alike), Ok(chosen)) if alike.left < chosen.left => Ok(alike),
            (Some(alike), Err(_)) => Ok(alike),
            (None, Err(why)) => self.try_joint_resets(runs, plan, first, why),
            (_, chosen) => chosen,
        }
    }

    /// Returns the stack of a plan over an executable program.
    fn stack(&self, runs: &ExecutableProgram<'m>, plan: &ReductionPlan) -> ReductionStack<'m> {
        let selective = || runs.executor.selective();
        ReductionStack::of(runs.form, plan, &selective, self.settings.budget)
    }

    /// Tries dead-variable elimination that resets several processes jointly. It is tried only without partial order
    /// and symmetry. No remaining reduction then depends on which action accesses which variable. The error is `why`
    /// if it is not profitable.
    fn try_joint_resets(
        &self,
        runs: &ExecutableProgram<'m>,
        plan: &ReductionPlan,
        first: &FirstLevels,
        why: NotApplied,
    ) -> Result<TriedReductions<'m>, NotApplied> {
        let Some(dead) = plan.get("dead") else { return Err(why) };
        let plan = plan.with("dead", dead.clone().with("joint", true));
        let budget = self.settings.budget;
        let resets = self.model.rewritten(&plan, budget).and_then(|it| it.pass());
        if !resets.is_some_and(|it: &DeadVariableElimination| it.is_joint()) {
            return Err(why);
        }
        let form = self.model.form(&plan, budget);
        let stack = self.stack(&ExecutableProgram { form, ..runs.clone() }, &plan);
        if !stack.names(&[ReductionKind::Representative]).is_empty() {
            return Err(why);
        }
        let runs = ExecutableProgram::new(form, |it| runs.executor.same_mode_for(it));
        let reduced = stack.wrap(runs.executor.clone().into_model());
        let left = first.remaining_in(&*reduced, || 0, self.settings.control);
        let left = left.map_err(failure_reason)?.late;
        drop(reduced);
        match left <= JOINT_MAX {
            true => Ok(TriedReductions { left, runs, stack, plan, without_order: Some(why) }),
            false => Err(why),
        }
    }

    /// Tries merged transitions, with partial order if that is profitable too. Returns why neither is used. `None` if
    /// merging is not applicable or leaves too many states, if the plan has other rewriting reductions than those of
    /// `auto`, or if a shortest counterexample is requested.
    fn try_merging(
        &self,
        runs: &ExecutableProgram<'m>,
        plan: &ReductionPlan,
        first: &FirstLevels,
    ) -> Option<Result<TriedReductions<'m>, NotApplied>> {
        let rewriting = |it: &ReductionPlan| {
            it.selection.filtered(|entry| entry.kind == ReductionKind::Rewriting)
        };
        let usual = ReductionPlan {
            selection: ReductionConfig::auto().resolve(false).selection,
            ..ReductionPlan::default()
        };
        // Levels of merged steps give no bound on the depth of a shortest counterexample.
        let is_wanted = rewriting(plan) == rewriting(&usual) && !self.settings.limits.shortest;
        if !is_wanted || TextModel::reject_large(runs).is_err() {
            return None;
        }
        let plan = plan.with("merge", ParameterValues::DEFAULT);
        let budget = self.settings.budget;
        let merged = self.model.rewritten(&plan, budget)?.pass_of("merge")?.merged_steps()?;
        let form = self.model.form(&plan, budget);
        // The remaining states are those in which no merged step is incomplete.
        let interp = form.interp();
        let share = first.share(merged.stable_state_test(interp.program(), interp.layout()));
        if share > MERGED_MAX {
            return None;
        }
        let runs = ExecutableProgram::new(form, |it| runs.executor.same_mode_for(it));
        let stack = self.stack(&runs, &plan);
        let whole = stack.wrap(runs.executor.clone().into_model());
        let chosen = self.first_levels(&*whole).and_then(|first| {
            self.try_partial_order(TrialSubject {
                runs: &runs,
                stack: &stack,
                whole: &*whole,
                plan: &plan,
                first: &first,
            })
        });
        drop(whole);
        Some(match chosen {
            Ok(chosen) => Ok(TriedReductions { left: share * chosen.left, ..chosen }),
            Err(why) if share <= LEFT_MAX => {
                let without_order = Some(why);
                Ok(TriedReductions { left: share, runs, stack, plan, without_order })
            }
            Err(why) => Err(why),
        })
    }

    /// Tries symmetry of processes, if no other symmetry applies. `None` if it is not profitable.
    fn try_process_symmetry(
        &self,
        runs: &ExecutableProgram<'m>,
        all: &ReductionStack<'m>,
        plan: &ReductionPlan,
        first: &FirstLevels,
    ) -> Result<Option<TriedReductions<'m>>, NotApplied> {
        let is_symmetric = !all.names(&[ReductionKind::Representative]).is_empty();
        let Some(symmetry) = plan.get("symmetry").filter(|_| !is_symmetric) else {
            return Ok(None);
        };
        let plan = plan.with("symmetry", symmetry.clone().with("processes", true));
        let stack = self.stack(runs, &plan);
        if stack.names(&[ReductionKind::Representative]).is_empty() {
            return Ok(None);
        }
        let reduced = stack.wrap(runs.executor.clone().into_model());
        let left = first.remaining_in(&*reduced, || 0, self.settings.control);
        let left = left.map(|it| it.late).map_err(failure_reason)?;
        let (runs, without_order) = (runs.clone(), None);
        let tried = TriedReductions { left, runs, stack, plan, without_order };
        Ok((left <= LEFT_MAX).then_some(tried))
    }

    /// Tries partial order with each proviso and returns the first profitable one. The error says why both are rejected.
    fn try_partial_order(
        &self,
        subject: TrialSubject<'_, 'm>,
    ) -> Result<TriedReductions<'m>, NotApplied> {
        let TrialSubject { runs, stack: all, whole, plan, first } = subject;
        let ReductionSettings { storage, budget, .. } = self.settings;
        TextModel::reject_large(runs)?;
        let is_symmetric = !all.names(&[ReductionKind::Representative]).is_empty();
        let has_claim = !all.names(&[ReductionKind::Product]).is_empty();
        let has_room = !has_claim && has_room_for_obligations(whole, storage);
        let (mut least, mut before): (Option<f64>, Option<PartialOrder<'m>>) = (None, None);
        for proviso in [CycleProviso::Static, CycleProviso::Levels] {
            let is_possible = match proviso {
                CycleProviso::Static => !is_symmetric,
                _ => has_room,
            };
            if !is_possible {
                continue;
            }
            let way = PartialOrderStrategy { method: PartialOrderMethod::DEFAULT, proviso };
            let order = match before.take() {
                Some(before) => before.with_proviso(proviso),
                None => self.partial_order(runs, way, plan, first)?,
            };
            let stack = TextModel::stack(runs.form, order.clone(), plan, budget)?;
            let reduced = stack.wrap(runs.executor.clone().into_model());
            let levels = self.compare(&subject, &*reduced, &order)?;
            let left = levels.remaining;
            let plain = PlainTrial { runs, plan, order: &order, model: &*reduced, levels: &levels };
            let can_chain = proviso == CycleProviso::Static && !has_claim;
            if can_chain && let Some(chained) = self.try_chains(plain)? {
                return Ok(chained);
            }
            // The other proviso may save more at first and less in the end.
            if left.late <= LEFT_MAX {
                if left.is_slow() {
                    return Err(NotApplied::Slow);
                }
                let plan = plan.with_selection(plan.selection.clone().and(&way.into()));
                let (left, runs) = (left.late, runs.clone());
                return Ok(TriedReductions { left, runs, stack, plan, without_order: None });
            }
            least = Some(least.map_or(left.late, |it| it.min(left.late)));
            // The other proviso has the same effect.
            if stack.state_comparing_member().is_none() {
                break;
            }
            before = Some(order);
        }
        Err(match least {
            None if has_claim => NotApplied::BesideClaimAndSymmetry,
            None => NotApplied::NoRoomInStore,
            Some(left) => NotApplied::SavesLittle(percent(left)),
        })
    }

    /// Explores the first levels of a model with partial order, and more of them if the share of states rises. Returns an
    /// error if choosing takes much longer than it saves.
    fn compare(
        &self,
        subject: &TrialSubject<'_, 'm>,
        reduced: &dyn StateSpace,
        order: &PartialOrder<'m>,
    ) -> Result<ReducedLevels, NotApplied> {
        let &TrialSubject { whole, plan, first, .. } = subject;
        let control = self.settings.control;
        let looked = || order.members_examined();
        let mut levels = first.compare(reduced, looked, control).map_err(failure_reason)?;
        if levels.remaining.rises && levels.remaining.late <= LEFT_MAX {
            let more = FirstLevels::more(whole, &plan.checks, control).map_err(failure_reason)?;
            levels = more.compare(reduced, looked, control).map_err(failure_reason)?;
        }
        match levels.remaining.is_expensive() {
            true => Err(NotApplied::Slow),
            false => Ok(levels),
        }
    }

    /// Tries partial order that passes through states instead of storing them. `None` if it does not pay, or if a
    /// shortest counterexample is requested.
    fn try_chains(
        &self,
        trial: PlainTrial<'_, 'm>,
    ) -> Result<Option<TriedReductions<'m>>, NotApplied> {
        let PlainTrial { runs, plan, order, model: plain, levels } = trial;
        let ReductionSettings { limits, control, budget, .. } = self.settings;
        let is_plain = plain.width() == runs.form.interp().layout().bytes;
        if limits.shortest || !is_plain {
            return Ok(None);
        }
        let proviso = order.chain_proviso();
        let chains = order.with_proviso(proviso);
        let stack = TextModel::stack(runs.form, chains.clone(), plan, budget)?;
        let chained = stack.wrap(runs.executor.clone().into_model());
        let is_passed = &|states: &[u8]| chains.passes_through(states).map_err(model_failure);
        let trial = ChainTrial { plain, levels, chained: &*chained, is_passed };
        let ChainPrediction { stored, work } = trial.predict(control).map_err(failure_reason)?;
        drop(chained);
        let (left, whole_work) = (stored * levels.remaining.late, work * levels.remaining.work);
        let is_profitable = left <= LEFT_MAX && (whole_work <= 1.0 || left <= LITTLE);
        if !is_profitable || work > CHAIN_WORK_MAX {
            return Ok(None);
        }
        let way = PartialOrderStrategy { method: PartialOrderMethod::DEFAULT, proviso };
        let plan = plan.with_selection(plan.selection.clone().and(&way.into()));
        let runs = runs.clone();
        Ok(Some(TriedReductions { left, runs, stack, plan, without_order: None }))
    }

    /// Prepares partial order with a strategy and the executor. Returns an error if it postpones next to no transition
    /// of the first states, and most of these have several transitions.
    fn partial_order(
        &self,
        ExecutableProgram { form, executor }: &ExecutableProgram<'m>,
        way: PartialOrderStrategy,
        plan: &ReductionPlan,
        first: &FirstLevels,
    ) -> Result<PartialOrder<'m>, NotApplied> {
        let ReductionSettings { control, budget, .. } = self.settings;
        let interp = form.interp();
        let selector = Box::new(interp.selector()?);
        let own = budget.for_analysis(&way.method.reduction_name());
        let order = PartialOrder::of(interp, selector, way, &plan.checks, &own)?;
        let taken = order.with_executor(executor.selective()?);
        // The trial by the interpreter often suffices, and then nothing needs to be compiled.
        let reduced = TextModel::stack(*form, order, plan, budget)?.wrap(Box::new(interp));
        let postpones = || first.postpones_enough(&*reduced, control).map_err(failure_reason);
        match first.are_narrow() || postpones()? {
            true => Ok(taken),
            false => Err(NotApplied::PostponesLittle),
        }
    }

    /// Explores the first levels of a model. Returns an error if they are not representative.
    fn first_levels(&self, whole: &dyn StateSpace) -> Result<FirstLevels, NotApplied> {
        let ReductionSettings { limits, control, .. } = self.settings;
        let first = FirstLevels::of(whole, &limits.checks, control).map_err(failure_reason)?;
        match first.states() {
            _ if control.is_stopped() => Err(NotApplied::NoTime),
            _ if first.is_violated && limits.stop_on_violation => Err(NotApplied::ViolatedEarly),
            states if first.is_all => Err(few_states(states)),
            _ if first.are_few() => Err(NotApplied::LargeLevels),
            _ => Ok(first),
        }
    }
}

/// Explores the first levels of a model. Returns an error if these are all states. If `control` stops it, the result is
/// meaningless.
pub(super) fn first_states(
    whole: &dyn StateSpace,
    control: &SearchControl,
) -> Result<FirstLevels, NotApplied> {
    let first = FirstLevels::of(whole, &CheckSelection::ALL, control).map_err(failure_reason)?;
    if first.is_all { Err(few_states(first.states())) } else { Ok(first) }
}

/// Returns an error if partial order does not pay in a search for infinite runs. `first` are the first levels without
/// it. If `control` stops the trial, the result is meaningless.
pub(super) fn check_order_pays(
    runs: &ExecutableProgram<'_>,
    first: &FirstLevels,
    reduced: &dyn StateSpace,
    control: &SearchControl,
) -> Result<(), NotApplied> {
    TextModel::reject_large(runs)?;
    match first.postpones_enough(reduced, control).map_err(failure_reason)? {
        true => Ok(()),
        false => Err(NotApplied::PostponesLittle),
    }
}

/// Returns the reason for not trying reductions on all states of a model.
fn few_states(states: usize) -> NotApplied {
    NotApplied::FewStates(match states {
        1 => "there is only one state".into(),
        states => format!("there are only {} states", grouped(states as u64)),
    })
}

/// Converts a failed trial to a reason for not using a reduction.
fn failure_reason(error: spill::Error) -> NotApplied {
    NotApplied::TrialFailed(error.to_string())
}

/// Returns the numbers of statements and expressions in the actions and in the functions of a program.
fn nodes(program: &Program) -> [usize; 2] {
    struct NodeCounter(usize);
    impl CodeVisitor for NodeCounter {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 += 1;
            walk::stmt(self, stmt);
        }

        fn expr(&mut self, expr: &Expr) {
            self.0 += 1;
            walk::expr(self, expr);
        }
    }
    let (mut actions, mut functions) = (NodeCounter(0), NodeCounter(0));
    program.actions.values().for_each(|it| walk::action(&mut actions, it));
    program.functions.values().for_each(|it| walk::body(&mut functions, &it.body));
    [actions.0, functions.0]
}

/// Formats the saving, given the remaining share.
fn percent(left: f64) -> String {
    match (1.0 - left) * 100.0 {
        saved if saved < 1.0 => "less than 1 %".into(),
        saved => format!("{saved:.0} %"),
    }
}
