//! Which reductions a search uses: as it is asked, or as the first states tell.

use super::searched_model::SearchedModel;
use super::{ExecutableProgram, TextModel};
use crate::budget::AnalysisBudget;
use crate::ir::walk::{self, CodeVisitor};
use crate::ir::{Expr, Program, Stmt};
use crate::model::StateSpace;
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
    ReductionRefusal, ReductionRequest, ReductionStack, boxed, unrewritable_reason,
};
use crate::search::control::SearchPhase;
use crate::search::external::has_room_for_obligations;
use crate::search::pilot::FirstLevels;
use crate::search::{SearchControl, SearchLimits, StateStorage};

/// The most that may be left of the states of the first levels for it to be used. If more is left choosing
/// takes longer than what it saves.
const LEFT_MAX: f64 = 0.5;

/// The most that may be left of the states of the first levels for processes not to stop where nobody could tell, if steps
/// are chosen besides. If that does not pay, no more than half may be left.
const MERGED_MAX: f64 = 0.8;

/// The most that may be left for what is dead where several processes are to be reset, too.
const JOINT_MAX: f64 = 0.95;

/// Among more action instances choosing takes too long to be tried.
const INSTANCES_MAX: u32 = 2048;

/// With more statements and expressions in actions, or in functions, whose bodies stand for each call, it
/// takes too long to find out what actions touch.
const NODES_MAX: [usize; 2] = [20_000, 500];

/// What reductions of a search depend on, beside its model: what is checked, how states are stored, and what analyses and
/// trials may take.
#[derive(Clone, Copy)]
pub struct ReductionSettings<'s> {
    /// What is checked, and when the search ends.
    pub limits: &'s SearchLimits,
    /// How states are stored.
    pub storage: &'s StateStorage,
    /// Stops trials.
    pub control: &'s SearchControl,
    /// What each analysis may take.
    pub budget: &'s AnalysisBudget<'s>,
}

/// Reductions that pay.
struct TriedReductions<'m> {
    /// What they leave of the first states.
    left: f64,
    runs: ExecutableProgram<'m>,
    stack: ReductionStack<'m>,
    plan: ReductionPlan,
    /// Why steps are not chosen, if they are not.
    without_order: Option<NotApplied>,
}

impl TextModel {
    /// The model ready to run, reduced as it is asked for. If told to stop before it is decided how, it is
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
        let left_off = without_order.map(|reason| ReductionRefusal {
            reductions: vec!["por".into()],
            name: PartialOrderMethod::DEFAULT.reduction_name(),
            reason,
        });
        self.searched_with(runs, stack.with_unprofitable(left_off), plan)
    }

    /// The reductions of a plan and partial order, or why that cannot be among them.
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

    /// Refuses programs of which it takes long to find out what could be put off.
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

/// Tries which reductions of a model pay.
struct ReductionTrial<'m, 's> {
    model: &'m TextModel,
    settings: ReductionSettings<'s>,
}

/// What partial order is tried on.
struct TrialSubject<'a, 'm> {
    runs: &'a ExecutableProgram<'m>,
    /// The reductions without partial order, and the model that they leave.
    stack: &'a ReductionStack<'m>,
    whole: &'a dyn StateSpace,
    plan: &'a ReductionPlan,
    first: &'a FirstLevels,
}

impl<'m> ReductionTrial<'m, '_> {
    /// The reductions with partial order among them, or with merged transitions, or both, or with processes exchanged,
    /// whichever leaves less of the first states, if that pays; or why it does not. `all` are those without.
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

    /// The stack of a plan over a program that is run.
    fn stack(&self, runs: &ExecutableProgram<'m>, plan: &ReductionPlan) -> ReductionStack<'m> {
        let selective = || runs.executor.selective();
        ReductionStack::of(runs.form, plan, &selective, self.settings.budget)
    }

    /// What is dead where several processes are reset, too, if that pays, nothing being chosen; or why nothing is. No
    /// reduction then asks who looks at what.
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

    /// The reductions with merged transitions, and with partial order if that pays there; or why neither does. None if
    /// processes nearly always stop, or other rewriting reductions are asked for than `auto` uses: then there is no other
    /// one; or if a shortest counterexample is.
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
        // Levels of merged steps do not tell how long a shortest counterexample is at most.
        let is_wanted = rewriting(plan) == rewriting(&usual) && !self.settings.limits.shortest;
        if !is_wanted || TextModel::reject_large(runs).is_err() {
            return None;
        }
        let plan = plan.with("merge", ParameterValues::DEFAULT);
        let budget = self.settings.budget;
        let merged = self.model.rewritten(&plan, budget)?.pass_of("merge")?.merged_steps()?;
        let form = self.model.form(&plan, budget);
        // What is left of a whole search is what nobody passes through.
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

    /// The reductions with processes exchanged among them, if nothing else is symmetric and that pays.
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

    /// The reductions with partial order among them, by the first proviso by which that pays; or why it does not.
    fn try_partial_order(
        &self,
        subject: TrialSubject<'_, 'm>,
    ) -> Result<TriedReductions<'m>, NotApplied> {
        let TrialSubject { runs, stack: all, whole, plan, first } = subject;
        let ReductionSettings { control, storage, budget, .. } = self.settings;
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
                Some(before) => before.with_level_proviso(),
                None => self.partial_order(runs, way, plan, first)?,
            };
            let stack = TextModel::stack(runs.form, order.clone(), plan, budget)?;
            let reduced = stack.wrap(runs.executor.clone().into_model());
            let looked = || order.members_examined();
            let mut left =
                first.remaining_in(&*reduced, looked, control).map_err(failure_reason)?;
            if left.rises && left.late <= LEFT_MAX {
                let more =
                    FirstLevels::more(whole, &plan.checks, control).map_err(failure_reason)?;
                left = more.remaining_in(&*reduced, looked, control).map_err(failure_reason)?;
            }
            if left.is_expensive() || left.is_slow() && left.late <= LEFT_MAX {
                return Err(NotApplied::Slow);
            }
            // The other proviso may save more at first and less in the end.
            if left.late <= LEFT_MAX {
                let plan = plan.with_selection(plan.selection.clone().and(&way.into()));
                let (left, runs) = (left.late, runs.clone());
                return Ok(TriedReductions { left, runs, stack, plan, without_order: None });
            }
            least = Some(least.map_or(left.late, |it| it.min(left.late)));
            // The other proviso would come to the same.
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

    /// Partial order of one way, its steps taken by what runs the program; or why it is not used, as next to no step of the first
    /// states can be put off.
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
        // Often what the interpreter tells is all, and then nothing needs to be compiled.
        let reduced = TextModel::stack(*form, order, plan, budget)?.wrap(Box::new(interp));
        match first.postpones_enough(&*reduced, control).map_err(failure_reason)? {
            true => Ok(taken),
            false => Err(NotApplied::PostponesLittle),
        }
    }

    /// The first levels of a model, if they say anything of the rest; or why not.
    fn first_levels(&self, whole: &dyn StateSpace) -> Result<FirstLevels, NotApplied> {
        let ReductionSettings { limits, control, .. } = self.settings;
        let first = FirstLevels::of(whole, &limits.checks, control).map_err(failure_reason)?;
        match first.states() {
            _ if control.is_stopped() => Err(NotApplied::NoTime),
            _ if first.is_violated && limits.stop_on_violation => Err(NotApplied::ViolatedEarly),
            1 if first.is_all => Err(NotApplied::FewStates("there is only one state".into())),
            states if first.is_all => {
                let states = grouped(states as u64);
                Err(NotApplied::FewStates(format!("there are only {states} states")))
            }
            _ if first.are_few() => Err(NotApplied::LargeLevels),
            _ => Ok(first),
        }
    }
}

/// Why something is not used that failed.
fn failure_reason(error: spill::Error) -> NotApplied {
    NotApplied::TrialFailed(error.to_string())
}

/// The statements and expressions in actions of a program, and in functions.
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

/// What is saved where so much is left.
fn percent(left: f64) -> String {
    match (1.0 - left) * 100.0 {
        saved if saved < 1.0 => "less than 1 %".into(),
        saved => format!("{saved:.0} %"),
    }
}
