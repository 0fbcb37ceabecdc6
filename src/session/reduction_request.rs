//! Which reductions a search uses: as it is asked, or as the first states tell.

use super::searched_model::SearchedModel;
use super::step_choice::StepChoice;
use super::{ExecutableProgram, TextModel};
use crate::analysis::instances::NumberingError;
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
use crate::reduce::pruning::PruningSelection;
use crate::reduce::reversible::RuleSelection;
use crate::reduce::rewriting::{ProgramForm, RewriteSelection, RewrittenProgram};
use crate::reduce::symmetry::SymmetryEffort;
use crate::reduce::{
    Reduction, ReductionKind, ReductionRefusal, ReductionSelection, ReductionStack, boxed,
    unrewritable_reason,
};
use crate::search::control::SearchPhase;
use crate::search::external::has_room_for_obligations;
use crate::search::pilot::FirstLevels;
use crate::search::{CheckSelection, SearchControl, SearchLimits, StateStorage};

/// What is tried where nobody says how steps are to be chosen.
const TRIED: PartialOrderMethod = PartialOrderMethod::Conditional;

/// The most that may be left of the states of the first levels for it to be used. If more is left choosing
/// takes longer than what it saves.
const LEFT_MAX: f64 = 0.5;

/// The most that may be left of the states of the first levels for processes not to stop where nobody could tell, if steps
/// are chosen besides. If that does not pay, no more than half may be left.
const MERGED_MAX: f64 = 0.8;

/// The most that may be left for what is dead where several processes are to be reset, too.
const JOINT_MAX: f64 = 0.95;

/// Why it is not used where it would save enough.
const SLOW: &str = "choosing steps would take longer than what it saves";

/// Among more action instances choosing takes too long to be tried.
const INSTANCES_MAX: u32 = 2048;

/// With more statements and expressions in actions, or in functions, whose bodies stand for each call, it
/// takes too long to find out what actions touch.
const NODES_MAX: [usize; 2] = [20_000, 500];

/// Which reductions a search of a model that came from a text is to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReductionRequest {
    /// Which rules are undone, if any.
    pub reversible: Option<RuleSelection>,
    /// By which passes the program is rewritten.
    pub rewritings: RewriteSelection,
    /// Whether one variable of each set that only count on from each other is always 0.
    pub linear: bool,
    /// The trouble to take over symmetric states, if one of them is enough.
    pub symmetry: Option<SymmetryEffort>,
    /// Whether processes that are alike are exchanged, too.
    pub processes: bool,
    /// What need not be explored, or visited.
    pub pruning: PruningSelection,
    /// Which steps are taken of a state.
    pub steps: StepChoice,
}

impl ReductionRequest {
    /// No reduction: every state is visited.
    pub const NONE: ReductionRequest = ReductionRequest {
        reversible: None,
        rewritings: RewriteSelection::NONE,
        linear: false,
        symmetry: None,
        processes: false,
        pruning: PruningSelection::NONE,
        steps: StepChoice::All,
    };

    /// All reductions, as far as they pay.
    pub const AUTO: ReductionRequest = ReductionRequest {
        rewritings: RewriteSelection::BISIMILAR,
        symmetry: Some(SymmetryEffort::Exact),
        steps: StepChoice::Auto,
        ..ReductionRequest::NONE
    };

    /// The same, what is dead where several processes are reset, too, if nothing is asked for that depends on who looks at
    /// what: actions look where others are for it.
    pub fn looking_around(self) -> ReductionRequest {
        let is_asked = self.reversible.is_some()
            || self.rewritings.merge
            || self.linear
            || self.symmetry.is_some()
            || self.processes
            || self.pruning.is_any()
            || self.steps != StepChoice::All;
        let jointly = self.rewritings.dead && !is_asked;
        ReductionRequest {
            rewritings: RewriteSelection { joint_dead: jointly, ..self.rewritings },
            ..self
        }
    }

    /// What it comes to in a search for some checks, but for what is to be tried.
    pub fn wished(&self, checks: CheckSelection) -> ReductionSelection {
        let partial_order = match self.steps {
            StepChoice::Chosen(way) => Some((way, checks)),
            StepChoice::All | StepChoice::Auto => None,
        };
        let reversible = self.reversible.clone().map(|rules| (rules, checks));
        let ReductionRequest { linear, symmetry, processes, .. } = *self;
        let rewritings = self.rewritings.for_checks(checks);
        let pruning = self.pruning.clone().for_checks(checks);
        let runs = None;
        ReductionSelection {
            reversible,
            rewritings,
            linear,
            symmetry,
            processes,
            partial_order,
            pruning,
            runs,
        }
    }
}

/// Reductions that pay.
struct TriedReductions<'m> {
    /// What they leave of the first states.
    left: f64,
    runs: ExecutableProgram<'m>,
    stack: ReductionStack<'m>,
    wished: ReductionSelection,
    /// Why steps are not chosen, if they are not.
    without_order: Option<String>,
}

impl TextModel {
    /// The model as it is searched within some limits, ready to run and reduced so, its states
    /// stored in a way; each analysis has such a budget. If told to stop before it is decided how, it is
    /// [undecided](SearchedModel::is_undecided).
    pub fn reduced<'m>(
        &'m self,
        runs: ExecutableProgram<'m>,
        reduce: ReductionRequest,
        (limits, storage): (&SearchLimits, &StateStorage),
        control: &SearchControl,
        budget: &AnalysisBudget,
    ) -> SearchedModel<'m> {
        let wished = reduce.wished(limits.checks);
        let selective = || runs.executor.selective();
        let _heeding = control.heed();
        let all = ReductionStack::of(runs.form, wished.clone(), selective, budget);
        if reduce.steps != StepChoice::Auto && !control.should_stop() {
            return self.searched_with(runs, all, wished);
        }
        let tried = match control.should_stop() {
            true => Err("the check was stopped".to_owned()),
            false => {
                control.progress.enter(SearchPhase::Trying);
                let trying = ReductionTrial { model: self, limits, storage, control, budget };
                trying.choose(&runs, &all, &wished)
            }
        };
        if control.is_stopped() {
            drop(tried);
            return self.undecided(wished, reduce.steps);
        }
        let TriedReductions { runs, stack, wished, without_order, .. } =
            tried.unwrap_or_else(|why| TriedReductions {
                left: 1.0,
                runs,
                stack: all,
                wished,
                without_order: Some(why),
            });
        let left_off =
            without_order.map(|why| ReductionRefusal { name: TRIED.reduction_name(), reason: why });
        self.searched_with(runs, stack.with_unprofitable(left_off), wished)
    }

    /// The model where it is still to be decided how it is reduced: as it is written, with all that is wished for.
    fn undecided(&self, wished: ReductionSelection, steps: StepChoice) -> SearchedModel<'_> {
        let plain = self
            .searched_as(ReductionSelection { runs: wished.runs, ..ReductionSelection::default() });
        plain.undecided(wished, steps)
    }

    /// The reductions wished for and partial order, or why that cannot be among them.
    fn stack<'m>(
        form: ProgramForm<'m>,
        order: PartialOrder<'m>,
        (wished, budget): (&ReductionSelection, &AnalysisBudget),
    ) -> Result<ReductionStack<'m>, String> {
        let (program, layout) = (form.interp().program(), form.interp().layout());
        let found = wished.symmetry_of(program, layout, budget).map_err(|it| it.to_string())?;
        let mut members: Vec<Box<dyn Reduction<'m> + 'm>> = vec![boxed(order)];
        let claim = NeverClaim::of(form.interp());
        members.extend(claim.map(boxed));
        members.extend(form.reductions(wished.runs));
        members.extend(found.map(boxed));
        let stack = ReductionStack::new(members);
        match stack.refusals().first() {
            None => Ok(stack),
            Some(refused) => Err(refused.reason.clone()),
        }
    }

    /// Refuses programs of which it takes long to find out what could be put off.
    fn reject_large(runs: &ExecutableProgram) -> Result<(), String> {
        let instances =
            runs.executor.selective().map_err(|error| error.reason)?.instances().count();
        if instances > INSTANCES_MAX {
            return Err(format!("choosing among {instances} action instances takes long"));
        }
        let is_large =
            nodes(runs.form.interp().program()).iter().zip(NODES_MAX).any(|(&it, most)| it > most);
        match is_large {
            true => Err("the program is so large that it takes long to try it".into()),
            false => Ok(()),
        }
    }
}

/// Tries which reductions of a model pay.
struct ReductionTrial<'m, 't> {
    model: &'m TextModel,
    limits: &'t SearchLimits,
    storage: &'t StateStorage,
    control: &'t SearchControl,
    /// What each analysis may take.
    budget: &'t AnalysisBudget<'t>,
}

impl<'m> ReductionTrial<'m, '_> {
    /// The reductions with partial order among them, or with processes that do not stop where nobody could tell, or both, or
    /// with processes exchanged, whichever leaves less of the first states, if that pays; or why it does not. `all` are
    /// those without.
    fn choose(
        &self,
        runs: &ExecutableProgram<'m>,
        all: &ReductionStack<'m>,
        wished: &ReductionSelection,
    ) -> Result<TriedReductions<'m>, String> {
        if wished.reversible.is_some() {
            return Err("where rules are undone no steps are put off".into());
        }
        let interp = runs.form.interp();
        if let Some(why) = unrewritable_reason(interp.program(), interp.layout()) {
            return Err(why.into());
        }
        if wished.pruning.is_any() {
            return Err("where states are left out no steps are put off".into());
        }
        let whole = all.wrap(runs.executor.clone().into_model());
        let first = self.first_levels(&*whole)?;
        let alike = self.try_process_symmetry(runs, all, wished, &first)?;
        let chosen = match self.try_merging(runs, wished, &first) {
            Some(merged) => merged,
            None => self.try_partial_order(runs, (all, &*whole), wished, &first),
        };
        match (alike, chosen) {
            (Some(alike), Ok(chosen)) if alike.left < chosen.left => Ok(alike),
            (Some(alike), Err(_)) => Ok(alike),
            (None, Err(why)) => self.try_joint_resets(runs, wished, &first, why),
            (_, chosen) => chosen,
        }
    }

    /// What is dead where several processes are reset, too, if that pays, nothing being chosen; or why nothing is. No
    /// reduction then asks who looks at what.
    fn try_joint_resets(
        &self,
        runs: &ExecutableProgram<'m>,
        wished: &ReductionSelection,
        first: &FirstLevels,
        why: String,
    ) -> Result<TriedReductions<'m>, String> {
        let rewritings =
            RewriteSelection { joint_dead: wished.rewritings.dead, ..wished.rewritings };
        let cleared =
            self.model.rewritten(rewritings, self.budget).and_then(RewrittenProgram::dead);
        if !cleared.is_some_and(DeadVariableElimination::is_joint) {
            return Err(why);
        }
        let form = self.model.form(rewritings, self.budget);
        let wished = ReductionSelection { rewritings, ..wished.clone() };
        let selective = || runs.executor.selective();
        let stack = ReductionStack::of(form, wished.clone(), selective, self.budget);
        if !stack.names(&[ReductionKind::Representative]).is_empty() {
            return Err(why);
        }
        let runs = ExecutableProgram::new(form, |it| runs.executor.same_mode_for(it));
        let reduced = stack.wrap(runs.executor.clone().into_model());
        let left = first.remaining_in(&*reduced, || 0, self.control).map_err(failure_reason)?.late;
        drop(reduced);
        match left <= JOINT_MAX {
            true => Ok(TriedReductions { left, runs, stack, wished, without_order: Some(why) }),
            false => Err(why),
        }
    }

    /// The reductions with processes that do not stop where nobody could tell, and with partial order if that pays there; or why
    /// neither does. None if they nearly always stop, or few passes over the program are asked for: then there is no other one; or
    /// if a shortest counterexample is.
    fn try_merging(
        &self,
        runs: &ExecutableProgram<'m>,
        wished: &ReductionSelection,
        first: &FirstLevels,
    ) -> Option<Result<TriedReductions<'m>, String>> {
        // Levels of merged steps do not tell how long a shortest counterexample is at most.
        let is_wanted = wished.rewritings == RewriteSelection::BISIMILAR && !self.limits.shortest;
        if !is_wanted || TextModel::reject_large(runs).is_err() {
            return None;
        }
        let rewritings = RewriteSelection { merge: true, ..wished.rewritings };
        let fused =
            self.model.rewritten(rewritings, self.budget).and_then(RewrittenProgram::fused)?;
        let form = self.model.form(rewritings, self.budget);
        // What is left of a whole search is what nobody passes through.
        let share =
            first.share(fused.stable_state_test(form.interp().program(), form.interp().layout()));
        if share > MERGED_MAX {
            return None;
        }
        let runs = ExecutableProgram::new(form, |it| runs.executor.same_mode_for(it));
        let wished = ReductionSelection { rewritings, ..wished.clone() };
        let selective = || runs.executor.selective();
        let all = ReductionStack::of(form, wished.clone(), selective, self.budget);
        let whole = all.wrap(runs.executor.clone().into_model());
        let chosen = self
            .first_levels(&*whole)
            .and_then(|first| self.try_partial_order(&runs, (&all, &*whole), &wished, &first));
        drop(whole);
        Some(match chosen {
            Ok(chosen) => Ok(TriedReductions { left: share * chosen.left, ..chosen }),
            Err(why) if share <= LEFT_MAX => {
                let without_order = Some(why);
                Ok(TriedReductions { left: share, runs, stack: all, wished, without_order })
            }
            Err(why) => Err(why),
        })
    }

    /// The reductions with processes exchanged among them, if nothing else is symmetric and that pays.
    fn try_process_symmetry(
        &self,
        runs: &ExecutableProgram<'m>,
        all: &ReductionStack<'m>,
        wished: &ReductionSelection,
        first: &FirstLevels,
    ) -> Result<Option<TriedReductions<'m>>, String> {
        let is_symmetric = !all.names(&[ReductionKind::Representative]).is_empty();
        if wished.symmetry.is_none() || is_symmetric {
            return Ok(None);
        }
        let wished = ReductionSelection { processes: true, ..wished.clone() };
        let selective = || runs.executor.selective();
        let stack = ReductionStack::of(runs.form, wished.clone(), selective, self.budget);
        if stack.names(&[ReductionKind::Representative]).is_empty() {
            return Ok(None);
        }
        let reduced = stack.wrap(runs.executor.clone().into_model());
        let left = first.remaining_in(&*reduced, || 0, self.control);
        let left = left.map(|it| it.late).map_err(failure_reason)?;
        let runs = runs.clone();
        Ok((left <= LEFT_MAX).then_some(TriedReductions {
            left,
            runs,
            stack,
            wished,
            without_order: None,
        }))
    }

    /// The reductions with partial order among them, by the first proviso by which that pays; or why it does not.
    fn try_partial_order(
        &self,
        runs: &ExecutableProgram<'m>,
        (all, whole): (&ReductionStack<'m>, &dyn StateSpace),
        wished: &ReductionSelection,
        first: &FirstLevels,
    ) -> Result<TriedReductions<'m>, String> {
        let (checks, control) = (self.limits.checks, self.control);
        TextModel::reject_large(runs)?;
        let is_symmetric = !all.names(&[ReductionKind::Representative]).is_empty();
        let has_claim = !all.names(&[ReductionKind::Product]).is_empty();
        let has_room = !has_claim && has_room_for_obligations(whole, self.storage);
        let (mut least, mut before): (Option<f64>, Option<PartialOrder<'m>>) = (None, None);
        for proviso in [CycleProviso::Static, CycleProviso::Levels] {
            let is_possible = match proviso {
                CycleProviso::Static => !is_symmetric,
                _ => has_room,
            };
            if !is_possible {
                continue;
            }
            let way = (PartialOrderStrategy { method: TRIED, proviso }, checks);
            let order = match before.take() {
                Some(before) => before.with_level_proviso(),
                None => self.partial_order(runs, way, wished, first)?,
            };
            let stack = TextModel::stack(runs.form, order.clone(), (wished, self.budget))?;
            let reduced = stack.wrap(runs.executor.clone().into_model());
            let looked = || order.members_examined();
            let mut left =
                first.remaining_in(&*reduced, looked, control).map_err(failure_reason)?;
            if left.rises && left.late <= LEFT_MAX {
                let more = FirstLevels::more(whole, &checks, control).map_err(failure_reason)?;
                left = more.remaining_in(&*reduced, looked, control).map_err(failure_reason)?;
            }
            if left.is_expensive() || left.is_slow() && left.late <= LEFT_MAX {
                return Err(SLOW.into());
            }
            // The other proviso may save more at first and less in the end.
            if left.late <= LEFT_MAX {
                let wished = ReductionSelection { partial_order: Some(way), ..wished.clone() };
                let (left, runs) = (left.late, runs.clone());
                return Ok(TriedReductions { left, runs, stack, wished, without_order: None });
            }
            least = Some(least.map_or(left.late, |it| it.min(left.late)));
            // The other proviso would come to the same.
            if stack.state_comparing_member().is_none() {
                break;
            }
            before = Some(order);
        }
        Err(match least {
            None if has_claim => "steps are not put off beside a claim and symmetry".into(),
            None => "steps cannot be put off where states are stored so".into(),
            Some(left) => format!("it would save {} of the first states", percent(left)),
        })
    }

    /// Partial order of one way, its steps taken by what runs the program; or why it is not used, as next to no step of the first
    /// states can be put off.
    fn partial_order(
        &self,
        ExecutableProgram { form, executor }: &ExecutableProgram<'m>,
        (way, checks): (PartialOrderStrategy, CheckSelection),
        wished: &ReductionSelection,
        first: &FirstLevels,
    ) -> Result<PartialOrder<'m>, String> {
        let reason = |error: NumberingError| error.reason;
        let interp = form.interp();
        let selector = Box::new(interp.selector().map_err(reason)?);
        let budget = self.budget.for_analysis(&way.method.reduction_name());
        let order = PartialOrder::of(interp, selector, way, &checks, &budget);
        let order = order.map_err(|why| why.to_string())?;
        let taken = order.with_executor(executor.selective().map_err(reason)?);
        // Often what the interpreter tells is all, and then nothing needs to be compiled.
        let reduced = TextModel::stack(*form, order, (wished, self.budget))?;
        let reduced = reduced.wrap(Box::new(interp));
        match first.postpones_enough(&*reduced, self.control).map_err(failure_reason)? {
            true => Ok(taken),
            false => Err("next to no step can be put off".into()),
        }
    }

    /// The first levels of a model, if they say anything of the rest; or why not.
    fn first_levels(&self, whole: &dyn StateSpace) -> Result<FirstLevels, String> {
        let ReductionTrial { limits, control, .. } = *self;
        let first = FirstLevels::of(whole, &limits.checks, control).map_err(failure_reason)?;
        match first.states() {
            _ if control.is_stopped() => Err("there was no time to try it".into()),
            _ if first.is_violated && limits.stop_on_violation => {
                Err("something is violated in the first states".into())
            }
            1 if first.is_all => Err("there is only one state".into()),
            states if first.is_all => {
                Err(format!("there are only {} states", grouped(states as u64)))
            }
            _ if first.are_few() => Err("the first levels are too large to be tried".into()),
            _ => Ok(first),
        }
    }
}

/// Why something is not used that failed.
fn failure_reason(error: spill::Error) -> String {
    format!("it cannot be tried: {error}")
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
