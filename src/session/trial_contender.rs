//! The combinations of reductions that a trial compares, and the sizes that samples of the states predict for them.

use super::ExecutableProgram;
use super::trial_decision::{PredictedSize, RelativeSize};
use crate::model::{PropertyClass, StateSpace};
use crate::reduce::partial_order::PartialOrder;
use crate::reduce::{ReductionPlan, ReductionStack};
use crate::search::pilot::{ChainTrial, ChoiceWork, PilotLevels, RemainingShare, WalkCounters};
use crate::search::{SearchControl, model_failure};
use spill::Result;

/// The share of states up to which chains are explored further, to know whether that completes them.
const CHAINED_MAX: f64 = 0.5;

/// The work of a search with chains, relative to the work that states without chains predict. With chains, choices are
/// more often found in the cache, and fewer states are reached. Measured on nine models: 0.2 to 2.7.
const CHAINED_WORK: f64 = 0.65;

/// A combination of reductions that is ready to be searched.
pub(super) struct ReductionCombination<'m> {
    /// The reductions in addition to those that need no trial, as reports name them.
    pub names: Vec<String>,
    pub runs: ExecutableProgram<'m>,
    pub plan: ReductionPlan,
    pub stack: ReductionStack<'m>,
    pub model: Box<dyn StateSpace + 'm>,
}

impl<'m> ReductionCombination<'m> {
    /// Applies a stack, which was built for a plan.
    pub fn new(
        names: Vec<String>,
        runs: ExecutableProgram<'m>,
        stack: ReductionStack<'m>,
        plan: ReductionPlan,
    ) -> ReductionCombination<'m> {
        let model = stack.wrap(runs.executor.clone().into_model());
        ReductionCombination { names, runs, plan, stack, model }
    }

    /// Returns a prediction without samples.
    fn unpredicted(&self) -> PredictedSize {
        let keeps_depth = self.stack.preserves().has(PropertyClass::Depth);
        PredictedSize { samples: Vec::new(), complete: None, keeps_depth, rises: false }
    }
}

/// A form of the program, without reductions that choose transitions, and samples of its states.
pub(super) struct TrialForm<'m> {
    pub whole: ReductionCombination<'m>,
    /// The samples: the first levels, then those of deeper states.
    pub samples: Vec<PilotLevels>,
    /// Its size in each sample, relative to the first form.
    pub shares: Vec<RelativeSize>,
}

impl<'m> TrialForm<'m> {
    /// Creates the first form, with a sample of its first levels.
    pub fn new(whole: ReductionCombination<'m>, first: PilotLevels) -> TrialForm<'m> {
        TrialForm { whole, samples: vec![first], shares: vec![RelativeSize::WHOLE] }
    }

    /// Sets the samples for which sizes are known.
    pub fn set_samples(&mut self, samples: Vec<PilotLevels>, shares: Vec<RelativeSize>) {
        self.samples = samples;
        self.samples.truncate(shares.len());
        self.shares = shares;
    }

    /// Returns its predicted size.
    pub fn predicted(&self) -> PredictedSize {
        let first = self.samples.first().filter(|it| it.is_all);
        let complete = first.map(PilotLevels::counters);
        PredictedSize { samples: self.shares.clone(), complete, ..self.whole.unpredicted() }
    }
}

/// How the size of contenders is predicted.
pub(super) enum ContenderKind<'m> {
    /// By their levels. The model chooses no transitions.
    Plain,
    /// By their levels. The model chooses transitions.
    Order,
    /// The first by its levels. The second is the same with chains, by this partial order.
    Chains(PartialOrder<'m>),
}

/// One combination for a form of the program, or two that are compared on the same levels.
pub(super) struct TrialContender<'m> {
    /// The position of the form.
    pub form: usize,
    pub kind: ContenderKind<'m>,
    pub members: Vec<ReductionCombination<'m>>,
}

impl TrialContender<'_> {
    /// Whether it chooses transitions.
    pub fn chooses(&self) -> bool {
        !matches!(self.kind, ContenderKind::Plain)
    }

    /// Predicts the size of each member. Returns an error if the model fails. The result is meaningless after a stop.
    pub fn predict(
        &self,
        forms: &[TrialForm<'_>],
        control: &SearchControl,
    ) -> Result<Vec<PredictedSize>> {
        let form = &forms[self.form];
        let mut sizes: Vec<_> =
            self.members.iter().map(ReductionCombination::unpredicted).collect();
        for (sample, &share) in form.samples.iter().zip(&form.shares) {
            for (size, found) in sizes.iter_mut().zip(self.compare(sample, control)?) {
                size.samples.push(found.left.of(share));
                size.complete = size.complete.or(found.complete);
                size.rises |= found.rises;
            }
        }
        Ok(sizes)
    }

    /// Compares each member with the form in a sample.
    fn compare(
        &self,
        sample: &PilotLevels,
        control: &SearchControl,
    ) -> Result<Vec<SampleComparison>> {
        let model = &*self.members[0].model;
        let stack = &self.members[0].stack;
        let looked = || stack.members_examined();
        let looked: ChoiceWork = self.chooses().then_some(&looked);
        let levels = sample.compare(model, looked, control)?;
        let RemainingShare { late: states, work, rises, .. } = levels.remaining;
        let (left, complete) = (RelativeSize { states, work }, levels.complete);
        let mut found = vec![SampleComparison { left, complete, rises }];
        if let ContenderKind::Chains(order) = &self.kind {
            let ReductionCombination { model: chained, stack, .. } = &self.members[1];
            let chained = &**chained;
            let is_passed = &|states: &[u8]| order.passes_through(states).map_err(model_failure);
            let trial = ChainTrial { plain: model, levels: &levels, chained, is_passed };
            let predicted = trial.predict(control)?;
            let work = CHAINED_WORK * predicted.work;
            let left = RelativeSize { states: predicted.stored, work }.of(left);
            let looked: &dyn Fn() -> u64 = &|| stack.members_examined();
            let complete = match left.states <= CHAINED_MAX {
                true => sample.completes(chained, Some(looked), control)?,
                false => None,
            };
            found.push(SampleComparison { left, complete, rises });
        }
        Ok(found)
    }
}

/// A combination compared with a form of the program in one sample.
struct SampleComparison {
    /// Its size relative to the form.
    left: RelativeSize,
    /// The counters of its state space, if it was explored completely.
    complete: Option<WalkCounters>,
    /// Whether its share rises from level to level.
    rises: bool,
}
