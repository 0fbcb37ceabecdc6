//! The reductions of a search: as requested, or as the first states decide.

use super::reduction_trial::{ReductionSettings, ReductionTrial};
use super::searched_model::SearchedModel;
use super::trial_decision::RelativeSize;
use super::trial_field::{ChosenReductions, reason_against_order};
use super::trial_limits::{failure_reason, few_states};
use super::{ExecutableProgram, TextModel};
use crate::model::{CheckSelection, StateSpace};
use crate::reduce::{NotApplied, ReductionPlan, ReductionRequest, ReductionStack};
use crate::search::SearchControl;
use crate::search::control::SearchPhase;
use crate::search::pilot::PilotLevels;

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
        control.progress.enter(SearchPhase::Trying);
        let chosen = (!control.should_stop())
            .then(|| ReductionTrial::new(self, settings).choose(runs, all, plan.clone()));
        match chosen.filter(|_| !control.is_stopped()) {
            Some(ChosenReductions { runs, stack, plan, trial }) => {
                self.searched_with(runs, stack.with_trial(trial), plan)
            }
            None => {
                let nothing = ReductionPlan { finite_runs: plan.finite_runs, ..Default::default() };
                self.searched_as(&nothing).undecided(plan)
            }
        }
    }
}

/// Explores the first levels of a model. Returns an error if these are all states. If `control` stops it, the result is
/// meaningless.
pub(super) fn first_states(
    whole: &dyn StateSpace,
    control: &SearchControl,
) -> Result<PilotLevels, NotApplied> {
    let first = PilotLevels::of(whole, &CheckSelection::ALL, control).map_err(failure_reason)?;
    if first.is_all { Err(few_states(first.states())) } else { Ok(first) }
}

/// Returns an error if partial order postpones almost no transition of the first levels. If `control` stops the trial, the
/// result is meaningless.
pub(super) fn check_order_postpones(
    first: &PilotLevels,
    ordered: &SearchedModel<'_>,
    control: &SearchControl,
) -> Result<(), NotApplied> {
    match first.postpones_enough(ordered.model(), control).map_err(failure_reason)? {
        true => Ok(()),
        false => Err(NotApplied::PostponesLittle),
    }
}

/// Returns an error if partial order without chains does not pay in a search for infinite runs. `whole` is the model
/// without it, and `first` are its first levels. If `control` stops the trial, the result is meaningless.
pub(super) fn check_order_pays(
    whole: &dyn StateSpace,
    first: PilotLevels,
    ordered: &SearchedModel<'_>,
    control: &SearchControl,
) -> Result<(), NotApplied> {
    let model = ordered.model();
    let looked = || ordered.stack().members_examined();
    let samples = first.with_deep(whole, &CheckSelection::ALL, control);
    let left = |sample: PilotLevels| -> Result<RelativeSize, NotApplied> {
        let left = sample.remaining_in(model, Some(&looked), control).map_err(failure_reason)?;
        Ok(RelativeSize { states: left.late, work: left.work })
    };
    let sizes = samples.into_iter().map(left).collect::<Result<Vec<_>, _>>()?;
    let size = RelativeSize::mean(&sizes);
    match size.pays() {
        true => Ok(()),
        false => Err(reason_against_order(size.states)),
    }
}
