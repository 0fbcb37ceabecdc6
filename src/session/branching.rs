//! Formulas of branching-time logic, evaluated on all states after a search has visited them.

use super::{Error, Session, TextModel};
use crate::exec::Interp;
use crate::front::PropertySource;
use crate::ir::Expr;
use crate::model::CtlFormula;
use crate::model::Violation;
use crate::search::branching::{BranchingAnswer, BranchingCheck, GatheredStates};
use crate::search::checkpoint::SavedSearch;
use crate::search::visited::VisitedStore;
use crate::search::{ExternalSearch, SearchControl, SearchResources};
use spill::{Disk, FileName};
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of conditions of one evaluation. Each condition is a source file.
const CONDITIONS_MAX: usize = 50_000;

/// The reason why a branching-time formula has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UnansweredFormula {
    /// The successors of a run-time error were not visited.
    #[error("states after a run-time error were not visited")]
    RuntimeError,
    /// The formulas have more conditions than can be evaluated at once.
    #[error("not supported: too many conditions")]
    TooManyConditions,
    /// The states were stored as hashes and back-edges.
    #[error("not supported: states stored as hashes and back-edges")]
    HashedStates,
    /// The evaluation was stopped.
    #[error("unknown so far")]
    Stopped,
    /// The sets of states do not fit into memory.
    #[error(
        "sets of states take {} MiB, of {} available: raise --memory",
        needed.div_ceil(1 << 20), there.div_ceil(1 << 20)
    )]
    TooLarge {
        /// The bytes that the sets need.
        needed: u64,
        /// The bytes available for them.
        there: u64,
    },
    /// The disk has no space for the sets of states.
    #[error(transparent)]
    DiskFull(Arc<spill::Error>),
}

/// For each formula: whether it holds, or why it has no answer.
pub type BranchingAnswers = Vec<Result<bool, UnansweredFormula>>;

/// Conditions on the states of a model.
struct BranchingConditions<'m> {
    interp: &'m Interp,
    all: Vec<Expr>,
}

impl<'m> BranchingConditions<'m> {
    /// Reads conditions from texts.
    fn of(model: &'m TextModel, texts: &[String]) -> Result<Self, Error> {
        let mut sources = model.sources.clone();
        let files = texts.iter().map(|it| sources.add("a condition of a formula", it.as_str()));
        let asked = PropertySource::Propositions(files.collect());
        let loaded = model.language.load_with_property(&mut sources, &model.options, &asked);
        let loaded = loaded.map_err(|diagnostics| Error::text(&diagnostics, &sources))?;
        let observed = loaded.property.map_or(Vec::new(), |it| it.propositions);
        let all = observed.into_iter().map(|it| it.condition).collect();
        Ok(BranchingConditions { interp: &model.interp, all })
    }

    /// Returns whether a state satisfies the condition of this number.
    fn judge(&self, state: &[u8], number: usize) -> spill::Result<bool> {
        let judged = self.interp.judge_condition(&self.all[number], None, &[], state);
        let reason = "a condition of a formula has no value in some state";
        judged.ok_or_else(|| spill::Error::Source { reason: reason.into() })
    }
}

impl Session<'_> {
    /// Answers branching-time formulas. The search must be complete: it has visited all states of the unreduced model.
    pub fn answer_branching(
        &self,
        model: &TextModel,
        formulas: &[&CtlFormula<String>],
        control: &SearchControl,
    ) -> Result<BranchingAnswers, Error> {
        let (mut texts, mut numbers) = (Vec::new(), HashMap::new());
        let numbered = formulas.iter().map(|it| {
            it.map(|text| {
                *numbers.entry(text.clone()).or_insert_with(|| {
                    texts.push(text.clone());
                    texts.len() - 1
                })
            })
        });
        let numbered: Vec<CtlFormula<usize>> = numbered.collect();
        let refused = |why| Ok(vec![Err(why); formulas.len()]);
        let faults = |it: &Violation| matches!(it, Violation::Fault(..));
        let findings = self.outcome().map(|it| &it.findings);
        if findings.is_some_and(|it| it.iter().any(|(check, _)| faults(&check))) {
            return refused(UnansweredFormula::RuntimeError);
        }
        if texts.len() + model.sources.iter().count() > CONDITIONS_MAX {
            return refused(UnansweredFormula::TooManyConditions);
        }
        let conditions = BranchingConditions::of(model, &texts)?;
        let answered = self.sweep(&numbered, &conditions, control);
        // A sweep that was stopped or failed leaves files.
        let removed = self.remove_swept();
        match answered.and_then(|answers| removed.map(|()| answers)) {
            Err(error @ (spill::Error::Full { .. } | spill::Error::Limit { .. })) => {
                refused(UnansweredFormula::DiskFull(Arc::new(error)))
            }
            answered => answered.map_err(|error| Error::Run(self.directory.path.clone(), error)),
        }
    }

    /// Removes the files of sweeps, if any.
    fn remove_swept(&self) -> spill::Result<()> {
        let disk = &self.directory.disk;
        let is_swept =
            |it: &FileName| matches!(it, FileName::Region | FileName::Predecessors { .. });
        let names = disk.list()?.into_iter().map(|it| it.0);
        let mut swept = names.filter(|it| FileName::parse(it).as_ref().is_some_and(is_swept));
        swept.try_for_each(|it| disk.remove(&it))
    }

    fn sweep(
        &self,
        formulas: &[CtlFormula<usize>],
        conditions: &BranchingConditions<'_>,
        control: &SearchControl,
    ) -> spill::Result<BranchingAnswers> {
        let disk = self.directory.disk.clone();
        let model = self.searched.model();
        let all = |why| vec![Err(why); formulas.len()];
        let (limits, saved) = (self.limits.clone(), SavedSearch::load(&*disk)?);
        let resources = SearchResources { disk: disk.clone(), plan: self.plan, control };
        let search = ExternalSearch::resume(model, resources, limits, saved)?;
        let VisitedStore::Sorted(store) = search.store() else {
            return Ok(all(UnansweredFormula::HashedStates));
        };
        let gathered = GatheredStates::of(store, model, &*disk, control, None)?;
        drop(search);
        let stopped = || Ok(all(UnansweredFormula::Stopped));
        let Some(gathered) = gathered else { return stopped() };
        let shared: Arc<dyn spill::Disk> = disk;
        let check = BranchingCheck::new(model, gathered, shared, &self.plan, control)?;
        let Some(check) = check else { return stopped() };
        let judge = |state: &[u8], number| conditions.judge(state, number);
        let answers = formulas.iter().map(|it| Ok(answer_or_reason(check.answer(it, &judge)?)));
        let answers = answers.collect::<spill::Result<_>>()?;
        check.remove()?;
        Ok(answers)
    }
}

fn answer_or_reason(answer: BranchingAnswer) -> Result<bool, UnansweredFormula> {
    match answer {
        BranchingAnswer::Holds(holds) => Ok(holds),
        BranchingAnswer::Stopped => Err(UnansweredFormula::Stopped),
        BranchingAnswer::TooLarge { needed, there } => {
            Err(UnansweredFormula::TooLarge { needed, there })
        }
    }
}
