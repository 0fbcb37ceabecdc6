//! The trial of reductions on samples of a model's states.
//!
//! Some reductions pay for some models only. The trial compares combinations of them: it predicts the states and the
//! work of each from samples, and chooses the best. Samples that do not decide are doubled. It uses no clock, so the
//! choice is the same on each machine, with any number of threads.

use super::trial_contender::{ContenderKind, ReductionCombination, TrialContender, TrialForm};
use super::trial_decision::{RelativeSize, close_to_best};
use super::trial_field::{ChosenReductions, TrialField};
use super::trial_limits::{failure_reason, few_states, reject_large};
use super::{ExecutableProgram, TextModel};
use crate::budget::AnalysisBudget;
use crate::model::StateSpace;
use crate::reduce::claim::NeverClaim;
use crate::reduce::dead::DeadVariableElimination;
use crate::reduce::partial_order::{
    CycleProviso, PartialOrder, PartialOrderMethod, PartialOrderStrategy, follows_live_processes,
};
use crate::reduce::rewrite_pass::StateTest;
use crate::reduce::symmetry::Symmetry;
use crate::reduce::{
    NotApplied, ParameterValues, Reduction, ReductionConfig, ReductionKind, ReductionPlan,
    ReductionStack, boxed, unrewritable_reason,
};
use crate::search::external::has_room_for_obligations;
use crate::search::pilot::{PilotLevels, PilotSize, PilotStart};
use crate::search::{SearchControl, SearchLimits, StateStorage};

/// The maximum share of states that may remain with merged transitions for partial order to be tried on them.
const MERGED_MAX: f64 = 0.9;

/// The share of states that remain with merged transitions up to which the search without merging is no candidate.
const MERGED_ENOUGH: f64 = 0.5;

/// The predicted work of exploring larger samples, in total, up to which they are explored: about 25 ms.
const WORK_MAX: f64 = 1e6;

/// The names of combinations in reports.
const JOINT_RESETS: &str = "dead in several processes";
const PROCESS_SYMMETRY: &str = "symmetry of processes";

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

/// A trial of reductions.
pub(super) struct ReductionTrial<'m, 's> {
    model: &'m TextModel,
    settings: ReductionSettings<'s>,
    /// The search whose states are the sample. `None`: the sample is of initial states and of deeper ones.
    of_search: Option<SearchedStates>,
}

/// States of a search, from which a trial begins.
struct SearchedStates {
    starts: Vec<u8>,
    /// The combination that is compared with none.
    reductions: Vec<String>,
}

impl<'m, 's> ReductionTrial<'m, 's> {
    pub fn new(model: &'m TextModel, settings: ReductionSettings<'s>) -> Self {
        ReductionTrial { model, settings, of_search: None }
    }

    /// Chooses the best combination of a plan and reductions that need a trial. `stack` has the reductions of the
    /// plan.
    pub fn choose(
        &self,
        runs: ExecutableProgram<'m>,
        stack: ReductionStack<'m>,
        plan: ReductionPlan,
    ) -> ChosenReductions<'m> {
        let whole = ReductionCombination::new(Vec::new(), runs, stack, plan);
        let possible = self.check_possible(&whole);
        match possible.and_then(|()| self.first_levels(&*whole.model)) {
            Ok(first) => self.compare(TrialForm::new(whole, first)).into_chosen(),
            Err(reason) => ChosenReductions::untried(whole, reason),
        }
    }

    /// Compares all combinations with a form without them. Samples that do not decide are doubled.
    fn compare(&self, base: TrialForm<'m>) -> TrialField<'m> {
        let mut field = self.field(base);
        let (mut size, mut work) = (PilotSize::FIRST, 0.0);
        while let Some(larger) = size.doubled() {
            let close = close_to_best(&field.sizes, field.whole_counters());
            work += field.work_to_repeat(&close);
            if close.len() < 2 || work > WORK_MAX || self.settings.control.should_stop() {
                break;
            }
            size = larger;
            self.repeat(&mut field, &close, size);
        }
        field
    }

    /// Compares the reductions that a search uses in addition to those of `whole` with none that choose transitions, on
    /// states of the search. Returns the best form of the program without such reductions if it costs much less.
    pub fn choose_instead_of(
        self,
        reductions: &[String],
        states: &[u8],
        whole: ReductionCombination<'m>,
    ) -> Option<ChosenReductions<'m>> {
        self.check_possible(&whole).ok()?;
        let starts = self.stable_states(&whole, states);
        let of_search = Some(SearchedStates { starts, reductions: reductions.to_vec() });
        let trial = ReductionTrial { of_search, ..self };
        let sample = trial.samples(PilotSize::FIRST, &*whole.model).ok()?.into_iter().next();
        let sample = sample.filter(|it| !it.are_few() && !it.is_all)?;
        trial.compare(TrialForm::new(whole, sample)).into_form_better_than(reductions)
    }

    /// Returns those of some states that the program with merged transitions has, too.
    fn stable_states(&self, whole: &ReductionCombination<'m>, states: &[u8]) -> Vec<u8> {
        let stable = |merging: ReductionPlan| {
            let is_stable = self.stable_state_test(&merging)?;
            let states = states.chunks_exact(whole.model.width());
            Some(states.filter(|state| is_stable(state)).flatten().copied().collect())
        };
        self.merging_plan(whole).and_then(stable).unwrap_or_else(|| states.to_vec())
    }

    /// Returns why nothing is tried.
    fn check_possible(&self, whole: &ReductionCombination<'m>) -> Result<(), NotApplied> {
        let ReductionCombination { runs, plan, .. } = whole;
        if plan.selection.has("reversible") {
            return Err(NotApplied::BesideUndoneRules);
        }
        let interp = runs.form.interp();
        if let Some(why) = unrewritable_reason(interp.program(), interp.layout()) {
            return Err(why);
        }
        let prunes = [ReductionKind::Pruning, ReductionKind::Dominance];
        match prunes.into_iter().any(|kind| plan.selection.has_kind(kind)) {
            true => Err(NotApplied::BesidePruning),
            false => Ok(()),
        }
    }

    /// Explores the first levels of a model. Returns an error if they are not representative.
    fn first_levels(&self, whole: &dyn StateSpace) -> Result<PilotLevels, NotApplied> {
        let ReductionSettings { limits, control, .. } = self.settings;
        let first = PilotLevels::of(whole, &limits.checks, control).map_err(failure_reason)?;
        match first.states() {
            _ if control.is_stopped() => Err(NotApplied::NoTime),
            _ if first.is_violated && limits.stop_on_violation => Err(NotApplied::ViolatedEarly),
            states if first.is_all => Err(few_states(states)),
            _ if first.are_few() => Err(NotApplied::LargeLevels),
            _ => Ok(first),
        }
    }

    /// Returns samples of a model of this size: one from the initial states, and one from deeper states if there are
    /// enough of these. A trial on states of a search has one sample, which begins with these states.
    fn samples(&self, size: PilotSize, model: &dyn StateSpace) -> spill::Result<Vec<PilotLevels>> {
        let ReductionSettings { limits, control, .. } = self.settings;
        let checks = &limits.checks;
        if let Some(SearchedStates { starts, .. }) = &self.of_search {
            let start = PilotStart::Given(starts);
            return Ok(vec![PilotLevels::within(start, size, model, checks, control)?]);
        }
        let first = PilotLevels::within(PilotStart::Initial, size, model, checks, control)?;
        Ok(first.with_deep(model, checks, control))
    }

    /// Collects the combinations, and predicts their sizes from the first samples.
    fn field(&self, base: TrialForm<'m>) -> TrialField<'m> {
        let mut field = TrialField::new(base);
        let merged = self.merged_form(&mut field.forms[0]);
        field.forms.extend(merged);
        let base = &field.forms[0];
        let mut contenders = Vec::new();
        // A trial on states of a search compares only its partial order.
        if self.of_search.is_none() {
            contenders.extend(self.joint_resets(base));
            contenders.extend(self.process_symmetry(base));
        }
        for at in (0..self.ordered_forms(&field)).rev() {
            match self.order_contenders(at, &field.forms[at]) {
                Ok(order) => {
                    contenders.extend(order);
                    field.without_order = None;
                    break;
                }
                Err(reason) => field.without_order = Some(reason),
            }
        }
        if let Some(SearchedStates { reductions, .. }) = &self.of_search {
            contenders.retain(|it| it.members.iter().any(|it| &it.names == reductions));
        }
        field.sizes = field.forms.iter().map(TrialForm::predicted).collect();
        for contender in contenders {
            if field.is_needless(&contender) {
                continue;
            }
            match contender.predict(&field.forms, self.settings.control) {
                Ok(sizes) => {
                    field.sizes.extend(sizes);
                    field.contenders.push(contender);
                }
                Err(error) if contender.chooses() => {
                    field.without_order = Some(failure_reason(error));
                }
                Err(_) => {}
            }
        }
        field
    }

    /// Returns the number of the first forms for which partial order is tried, the last one first. With merged
    /// transitions, partial order mostly leaves fewer states than without. But where processes start others of their kind,
    /// it was measured to leave more: a merged transition may start a process and use channels of others.
    fn ordered_forms(&self, field: &TrialField<'m>) -> usize {
        let interp = field.forms[0].whole.runs.form.interp();
        match follows_live_processes(interp.program(), interp.layout()) {
            true => 1,
            false => field.forms.len(),
        }
    }

    /// Predicts sizes again, from samples of this size, for the combinations at some positions. A prediction stays if
    /// the model fails.
    fn repeat(&self, field: &mut TrialField<'m>, positions: &[usize], size: PilotSize) {
        for at in 0..field.forms.len() {
            let is_reference = at == 0 && field.forms[0].samples.len() > 1;
            if !is_reference && !field.is_wanted(at, positions) {
                continue;
            }
            let model = &*field.forms[at].whole.model;
            let Ok(samples) = self.samples(size, model) else { return };
            let shares = match at {
                0 => vec![RelativeSize::WHOLE; samples.len()],
                _ => self.merged_sizes(&field.forms[0], &field.forms[at].whole.plan, &samples),
            };
            field.forms[at].set_samples(samples, shares);
            field.sizes[at] = field.forms[at].predicted();
        }
        field.sample_size = size;
        let ranges: Vec<_> = field.positions().map(|(_, range)| range).collect();
        for (contender, range) in field.contenders.iter().zip(ranges) {
            if positions.iter().any(|at| range.contains(at))
                && let Ok(sizes) = contender.predict(&field.forms, self.settings.control)
            {
                field.sizes.splice(range, sizes);
            }
        }
    }

    /// Returns the stack of a plan over an executable program.
    fn stack(&self, runs: &ExecutableProgram<'m>, plan: &ReductionPlan) -> ReductionStack<'m> {
        let selective = || runs.executor.selective();
        ReductionStack::of(runs.form, plan, &selective, self.settings.budget)
    }

    /// Returns dead-variable elimination that resets several processes jointly. It is tried only without partial order
    /// and symmetry. No remaining reduction then depends on which action accesses which variable.
    fn joint_resets(&self, base: &TrialForm<'m>) -> Option<TrialContender<'m>> {
        let ReductionCombination { runs, plan, .. } = &base.whole;
        let dead = plan.get("dead")?;
        let plan = plan.with("dead", dead.clone().with("joint", true));
        let budget = self.settings.budget;
        let resets: &DeadVariableElimination = self.model.rewritten(&plan, budget)?.pass()?;
        if !resets.is_joint() {
            return None;
        }
        let form = self.model.form(&plan, budget);
        let runs = ExecutableProgram::new(form, |it| runs.executor.same_mode_for(it));
        let stack = self.stack(&runs, &plan);
        let is_symmetric = is_symmetric(&stack);
        let members = vec![ReductionCombination::new(vec![JOINT_RESETS.into()], runs, stack, plan)];
        (!is_symmetric).then_some(TrialContender { form: 0, kind: ContenderKind::Plain, members })
    }

    /// Returns symmetry of processes, if no other symmetry applies.
    fn process_symmetry(&self, base: &TrialForm<'m>) -> Option<TrialContender<'m>> {
        let ReductionCombination { runs, plan, stack, .. } = &base.whole;
        let symmetry = plan.get("symmetry").filter(|_| !is_symmetric(stack))?;
        let plan = plan.with("symmetry", symmetry.clone().with("processes", true));
        let stack = self.stack(runs, &plan);
        if !is_symmetric(&stack) {
            return None;
        }
        let names = vec![PROCESS_SYMMETRY.into()];
        let members = vec![ReductionCombination::new(names, runs.clone(), stack, plan)];
        Some(TrialContender { form: 0, kind: ContenderKind::Plain, members })
    }

    /// Returns the program with merged transitions. `None` if merging is not applicable or leaves too many states, if
    /// the plan has other rewriting reductions than those of `auto`, or if a shortest counterexample is requested.
    ///
    /// If merging leaves few states of the first levels, the search without it is not a candidate. Then `base` needs no
    /// sample of deeper states. Otherwise this function adds one.
    fn merged_form(&self, base: &mut TrialForm<'m>) -> Option<TrialForm<'m>> {
        let plan = self.merging_plan(&base.whole);
        let shares = |base: &TrialForm<'m>| self.stable_shares(base, plan.as_ref()?);
        let mut left = shares(base);
        if left.as_ref().is_none_or(|it| it.iter().any(|&share| share > MERGED_ENOUGH)) {
            self.add_deep_sample(base);
            left = shares(base);
        }
        if left?.iter().all(|&share| share > MERGED_MAX) {
            return None;
        }
        let plan = plan?;
        let runs = &base.whole.runs;
        let form = self.model.form(&plan, self.settings.budget);
        let runs = ExecutableProgram::new(form, |it| runs.executor.same_mode_for(it));
        let stack = self.stack(&runs, &plan);
        let whole = ReductionCombination::new(vec!["merge".into()], runs, stack, plan);
        let samples = self.samples(PilotSize::FIRST, &*whole.model).ok()?;
        let shares = self.merged_sizes(base, &whole.plan, &samples);
        let mut form = TrialForm { whole, samples: Vec::new(), shares: Vec::new() };
        form.set_samples(samples, shares);
        Some(form)
    }

    /// Adds a sample of deeper states to a form with its first levels, if there are enough of these.
    fn add_deep_sample(&self, form: &mut TrialForm<'m>) {
        if self.of_search.is_some() {
            return;
        }
        let ReductionSettings { limits, control, .. } = self.settings;
        let model = &*form.whole.model;
        let first = std::mem::take(&mut form.samples).into_iter().next();
        let samples = first.map(|it| it.with_deep(model, &limits.checks, control));
        let samples = samples.unwrap_or_default();
        let shares = vec![RelativeSize::WHOLE; samples.len()];
        form.set_samples(samples, shares);
    }

    /// Returns the plan of a combination with merged transitions, if these may be used.
    fn merging_plan(&self, whole: &ReductionCombination<'m>) -> Option<ReductionPlan> {
        let ReductionCombination { runs, plan, .. } = whole;
        let rewriting = |it: &ReductionPlan| {
            it.selection.filtered(|entry| entry.kind == ReductionKind::Rewriting)
        };
        let usual = ReductionPlan {
            selection: ReductionConfig::auto().resolve().selection,
            ..ReductionPlan::default()
        };
        // Levels of merged steps give no bound on the depth of a shortest counterexample.
        let is_wanted = rewriting(plan) == rewriting(&usual) && !self.settings.limits.shortest;
        let plan = plan.with("merge", ParameterValues::DEFAULT);
        (is_wanted && reject_large(runs).is_ok()).then_some(plan)
    }

    /// Returns the size with merged transitions for each sample, relative to the program without them. The share of a
    /// sample that the program without them lacks is that of its last one.
    fn merged_sizes(
        &self,
        base: &TrialForm<'m>,
        merging: &ReductionPlan,
        samples: &[PilotLevels],
    ) -> Vec<RelativeSize> {
        let left = self.stable_shares(base, merging).unwrap_or_default();
        let known: Vec<_> = left.into_iter().zip(&base.samples).collect();
        let size = |(at, sample): (usize, &PilotLevels)| {
            let &(states, of) = known.get(at).or(known.last())?;
            let work = states * sample.late_work() / of.late_work().max(1.0);
            Some(RelativeSize { states, work })
        };
        samples.iter().enumerate().map_while(size).collect()
    }

    /// Returns for each sample of the program without merged transitions the share of states that merging leaves.
    fn stable_shares(&self, base: &TrialForm<'m>, merging: &ReductionPlan) -> Option<Vec<f64>> {
        let is_stable = self.stable_state_test(merging)?;
        Some(base.samples.iter().map(|sample| sample.share(&*is_stable)).collect())
    }

    /// Returns the test whether merging leaves a state: no merged transition is incomplete in it.
    fn stable_state_test(&self, merging: &ReductionPlan) -> Option<StateTest<'m>> {
        let budget = self.settings.budget;
        let merged = self.model.rewritten(merging, budget)?.pass_of("merge")?.merged_steps()?;
        let interp = self.model.form(merging, budget).interp();
        Some(merged.stable_state_test(interp.program(), interp.layout()))
    }

    /// Returns partial order with each proviso for a form of the program. The error says why none is applicable.
    fn order_contenders(
        &self,
        at: usize,
        form: &TrialForm<'m>,
    ) -> Result<Vec<TrialContender<'m>>, NotApplied> {
        let ReductionCombination { runs, stack, model, .. } = &form.whole;
        reject_large(runs)?;
        let has_claim = !stack.names(&[ReductionKind::Product]).is_empty();
        let has_room = !has_claim && has_room_for_obligations(&**model, self.settings.storage);
        let (mut contenders, mut order): (_, Option<PartialOrder<'m>>) = (Vec::new(), None);
        if !is_symmetric(stack) {
            let stored = self.partial_order(form, CycleProviso::Static)?;
            let contender = self.static_contender(at, form, &stored)?;
            // The other proviso has the same effect.
            let is_enough = contender.members[0].stack.state_comparing_member().is_none();
            contenders.push(contender);
            order = Some(stored);
            if is_enough {
                return Ok(contenders);
            }
        }
        if has_room {
            let order = match order {
                Some(order) => order.with_proviso(CycleProviso::Levels),
                None => self.partial_order(form, CycleProviso::Levels)?,
            };
            let members = vec![self.ordered(form, &order, CycleProviso::Levels)?];
            contenders.push(TrialContender { form: at, kind: ContenderKind::Order, members });
        }
        match contenders.is_empty() {
            true if has_claim => Err(NotApplied::BesideClaimAndSymmetry),
            true => Err(NotApplied::NoRoomInStore),
            false => Ok(contenders),
        }
    }

    /// Returns partial order with an order of the states, and with chains, if these are possible.
    fn static_contender(
        &self,
        at: usize,
        form: &TrialForm<'m>,
        order: &PartialOrder<'m>,
    ) -> Result<TrialContender<'m>, NotApplied> {
        let ReductionCombination { runs, stack, .. } = &form.whole;
        let plain = self.ordered(form, order, CycleProviso::Static)?;
        let is_plain = plain.model.width() == runs.form.interp().layout().bytes;
        let has_claim = !stack.names(&[ReductionKind::Product]).is_empty();
        if self.settings.limits.shortest || has_claim || !is_plain {
            let kind = ContenderKind::Order;
            return Ok(TrialContender { form: at, kind, members: vec![plain] });
        }
        let proviso = order.chain_proviso();
        let chained = order.with_proviso(proviso);
        let members = vec![plain, self.ordered(form, &chained, proviso)?];
        let kind = ContenderKind::Chains(chained);
        Ok(TrialContender { form: at, kind, members })
    }

    /// Adds partial order to a form of the program.
    fn ordered(
        &self,
        form: &TrialForm<'m>,
        order: &PartialOrder<'m>,
        proviso: CycleProviso,
    ) -> Result<ReductionCombination<'m>, NotApplied> {
        let ReductionCombination { names, runs, plan, .. } = &form.whole;
        let stack = self.stack_with_order(runs, order, plan)?;
        let strategy = PartialOrderStrategy { method: PartialOrderMethod::DEFAULT, proviso };
        let plan = plan.with_selection(plan.selection.clone().and(&strategy.into()));
        let name = format!("por with {}", proviso.name());
        let names = names.iter().cloned().chain([name]).collect();
        Ok(ReductionCombination::new(names, runs.clone(), stack, plan))
    }

    /// Returns the stack of a plan with partial order, or why partial order is not applicable.
    fn stack_with_order(
        &self,
        runs: &ExecutableProgram<'m>,
        order: &PartialOrder<'m>,
        plan: &ReductionPlan,
    ) -> Result<ReductionStack<'m>, NotApplied> {
        let (form, budget) = (runs.form, self.settings.budget);
        let (program, layout) = (form.interp().program(), form.interp().layout());
        let symmetry = plan
            .get("symmetry")
            .map(|it| Symmetry::by_parameters(program, layout, it, budget))
            .transpose()?
            .flatten();
        let mut members: Vec<Box<dyn Reduction<'m> + 'm>> = vec![boxed(order.clone())];
        members.extend(NeverClaim::of(form.interp()).map(boxed));
        members.extend(form.reductions(plan.finite_runs));
        members.extend(symmetry.map(boxed));
        let stack = ReductionStack::new(members);
        match stack.refusals().first() {
            None => Ok(stack),
            Some(refused) => Err(refused.reason.clone()),
        }
    }

    /// Prepares partial order with a proviso and the executor. Returns an error if it postpones next to no transition
    /// of the samples, and most states of the first levels have several transitions.
    fn partial_order(
        &self,
        form: &TrialForm<'m>,
        proviso: CycleProviso,
    ) -> Result<PartialOrder<'m>, NotApplied> {
        let ReductionSettings { control, budget, .. } = self.settings;
        let ReductionCombination {
            runs: ExecutableProgram { form: program, executor }, plan, ..
        } = &form.whole;
        let strategy = PartialOrderStrategy { method: PartialOrderMethod::DEFAULT, proviso };
        let interp = program.interp();
        let selector = Box::new(interp.selector()?);
        let own = budget.for_analysis(&strategy.method.reduction_name());
        let order = PartialOrder::of(interp, selector, strategy, &plan.checks, &own)?;
        let taken = order.with_executor(executor.selective()?);
        if form.samples.first().is_some_and(PilotLevels::are_narrow) {
            return Ok(taken);
        }
        // The trial by the interpreter often suffices, and then nothing needs to be compiled.
        let stack = self.stack_with_order(&form.whole.runs, &order, plan)?;
        let reduced = stack.wrap(Box::new(interp));
        for sample in &form.samples {
            if sample.postpones_enough(&*reduced, control).map_err(failure_reason)? {
                return Ok(taken);
            }
        }
        Err(NotApplied::PostponesLittle)
    }
}

/// Whether a stack stores representatives of symmetric states.
fn is_symmetric(stack: &ReductionStack<'_>) -> bool {
    !stack.names(&[ReductionKind::Representative]).is_empty()
}
