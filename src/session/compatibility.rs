//! The reductions that apply to a model: their subjects, the positions of these in the text, and what each saves
//! alone.

use super::reduction_trial::ReductionSettings;
use super::{ExecutableProgram, TextModel};
use crate::budget::AnalysisBudget;
use crate::exec::{Executor, Interp};
use crate::reduce::entry::{DetectionContext, ReductionSubject, SavingMeasure};
use crate::reduce::{
    NotApplied, REDUCTIONS, ReductionConfig, ReductionEntry, ReductionPlan, ReductionRequest,
    ReductionSelection,
};
use crate::search::pilot::PilotLevels;
use crate::search::{SearchControl, SearchLimits, StateStorage};

/// A reduction and its effect on a model.
#[derive(Clone, Debug)]
pub struct ApplicableReduction {
    /// Its name in the table.
    pub name: &'static str,
    /// The objects that it reduces.
    pub subjects: Vec<ReductionSubject>,
    /// The saving, or why the reduction is not used.
    pub saves: Result<ReductionSaving, NotApplied>,
}

/// The saving of one reduction without others.
#[derive(Clone, Debug, PartialEq)]
pub enum ReductionSaving {
    /// A saving of states, estimated from the first states.
    States {
        /// The saved share of the states, 0 to 1.
        share: f64,
        /// The number of states of the unreduced model that the estimate is based on.
        states: usize,
        /// Whether these are all states.
        is_all: bool,
    },
    /// A saving of states that a trial predicted, in the best combination for this reduction.
    Predicted {
        /// The saved share of the states, 0 to 1.
        share: f64,
        /// The combination, as reports name it.
        combination: String,
    },
    /// A saving of levels: all states are visited, and a violation is found in an earlier level.
    Levels,
}

impl TextModel {
    /// Returns the reductions of the table, each without others, for a search that checks everything. `run` makes a
    /// program executable. The budget of each analysis is that of a search with this memory.
    pub fn applicable<'m>(
        &'m self,
        memory: u64,
        run: impl Fn(&'m Interp) -> Executor<'m>,
    ) -> spill::Result<Vec<ApplicableReduction>> {
        let control = SearchControl::default();
        let budget = AnalysisBudget::new(memory, &control);
        let limits = SearchLimits::default();
        let storage = StateStorage::default();
        let settings = ReductionSettings {
            limits: &limits,
            storage: &storage,
            control: &control,
            budget: &budget,
        };
        let ready = |plan: &ReductionPlan| self.runnable(plan, &budget, &run);
        let whole =
            self.reduced(ready(&ReductionPlan::default()), ReductionRequest::default(), settings);
        let first = PilotLevels::of(whole.model(), &limits.checks, &control)?;
        let mut found = Vec::new();
        for entry in REDUCTIONS {
            let request = alone(entry);
            let plan = ReductionPlan::new(request.selection.clone(), limits.checks);
            let saves = self.saving(entry, &ready, &first, settings)?;
            let rewritten = self.rewritten(&plan, &budget);
            let subjects = (entry.detect)(&DetectionContext {
                interp: &self.interp,
                sources: &self.sources,
                pass: rewritten.and_then(|it| it.pass_of(entry.name)),
                budget: &budget,
            });
            found.push(ApplicableReduction { name: entry.name, subjects, saves });
        }
        Ok(found)
    }

    /// Returns the saving of a reduction without others, or why it is not used.
    fn saving<'m>(
        &'m self,
        entry: &ReductionEntry,
        ready: &impl Fn(&ReductionPlan) -> ExecutableProgram<'m>,
        first: &PilotLevels,
        settings: ReductionSettings<'_>,
    ) -> spill::Result<Result<ReductionSaving, NotApplied>> {
        let request = alone(entry);
        let plan = ReductionPlan::new(request.selection.clone(), settings.limits.checks);
        let searched = self.reduced(ready(&plan), request, settings);
        if searched.stack().member(entry.name).is_none() {
            let why = searched.stack().refusal(entry.name).map(|it| it.reason.clone());
            let nothing = "it has no effect on this model";
            return Ok(Err(why.unwrap_or_else(|| NotApplied::NothingFound(nothing.into()))));
        }
        let left = match entry.saving {
            SavingMeasure::Levels => return Ok(Ok(ReductionSaving::Levels)),
            SavingMeasure::Trial => {
                let mut tried = searched.stack().trial().tried.iter();
                let chosen = tried.find(|it| it.is_chosen);
                return Ok(Ok(ReductionSaving::Predicted {
                    share: 1.0 - chosen.map_or(1.0, |it| it.states),
                    combination: chosen.map_or(String::new(), |it| it.reductions.join(", ")),
                }));
            }
            SavingMeasure::StableStates if !first.is_all => {
                self.left_where_all_stop(entry, &plan, first, settings.budget)
            }
            _ => {
                let left = first.remaining_in(searched.model(), None, settings.control)?;
                if first.is_all { left.all } else { left.late }
            }
        };
        let (states, is_all) = (first.states(), first.is_all);
        Ok(Ok(ReductionSaving::States { share: 1.0 - left, states, is_all }))
    }

    /// Returns the share of the first states that remain when steps are merged. Merged steps are longer, so their
    /// levels are not comparable.
    fn left_where_all_stop(
        &self,
        entry: &ReductionEntry,
        plan: &ReductionPlan,
        first: &PilotLevels,
        budget: &AnalysisBudget,
    ) -> f64 {
        let (program, layout) = (self.interp.program(), self.interp.layout());
        let pass = self.rewritten(plan, budget).and_then(|it| it.pass_of(entry.name));
        let merged = pass.and_then(|it| it.merged_steps());
        merged.map_or(1.0, |it| first.share(it.stable_state_test(program, layout)))
    }
}

/// Returns the request of one reduction without others, as its saving is measured.
fn alone(entry: &ReductionEntry) -> ReductionRequest {
    match entry.saving {
        SavingMeasure::Trial => {
            ReductionRequest { selection: ReductionSelection::default(), is_tried: true }
        }
        _ => ReductionConfig::from(ReductionSelection::of([entry.name])).resolve(),
    }
}
