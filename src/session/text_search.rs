//! From a model with a text to a session of its search, in three stages: reduced, stored, in a directory.
//!
//! `spillway check`, `spillway resume`, [`Check`](super::Check) and distributed tasks prepare their searches in this
//! way. Between the stages the command line prints warnings and rejects combinations of flags.

use super::memory_budget::SearchBudget;
use super::reduction_trial::ReductionSettings;
use super::restarted_search::RestartDecision;
use super::searched_model::{DecidedReductions, ModelSummary, SearchedModel};
use super::second_trial::SecondTrial;
use super::{
    CheckConfig, Error, ExecutableProgram, PreparedSearch, SearchJob, ShortenedSearch,
    StoredSearch, TextModel, check_room, reject_empty_scope,
};
use crate::budget::AnalysisBudget;
use crate::reduce::{ReductionPlan, ReductionRequest, ReductionSelection};
use crate::search::control::SearchPhase;
use crate::search::{MemoryPlan, SearchControl, SearchLimits, StateStorage};

/// The reductions of a search.
pub enum ReductionChoice {
    /// The plan of the [model](TextModel::wished).
    OfModel,
    /// The reductions that were decided when the search began, independent of the current memory budget.
    Decided(Box<DecidedReductions>),
    /// Requested reductions. The first states of the search may decide about further ones.
    Requested(ReductionRequest),
}

impl ReductionChoice {
    /// Returns the reductions of a job: decided, or still requested if the first session stopped before the decision.
    pub fn of_job(job: &SearchJob) -> ReductionChoice {
        match job.undecided() {
            Some(request) => ReductionChoice::Requested(request),
            None => ReductionChoice::Decided(Box::new(DecidedReductions {
                wished: job.wished(),
                trial: job.trial(),
            })),
        }
    }

    fn selection<'c>(&'c self, model: &'c TextModel) -> &'c ReductionSelection {
        match self {
            ReductionChoice::OfModel => &model.wished.selection,
            ReductionChoice::Decided(decided) => &decided.wished.selection,
            ReductionChoice::Requested(request) => &request.selection,
        }
    }
}

/// A search of a model from a text: the model and its configuration.
pub struct TextSearch<'m, 'c> {
    model: &'m TextModel,
    config: &'c CheckConfig,
    budget: SearchBudget,
    control: &'c SearchControl,
    storage: Option<StateStorage>,
    known_property: Option<&'c str>,
}

/// A search whose reductions are settled.
pub struct ReducedSearch<'m, 'c> {
    search: TextSearch<'m, 'c>,
    searched: SearchedModel<'m>,
    about: ModelSummary<'m>,
    limits: SearchLimits,
    /// The program of a search for a shorter counterexample, if one is requested.
    shortest: Option<ExecutableProgram<'m>>,
    analysis: AnalysisBudget<'c>,
}

impl<'m, 'c> TextSearch<'m, 'c> {
    /// Creates the search of a configuration. `goes_on` says whether its directory has a search.
    pub fn new(
        model: &'m TextModel,
        config: &'c CheckConfig,
        goes_on: bool,
        control: &'c SearchControl,
    ) -> TextSearch<'m, 'c> {
        let counts = !config.search.no_coverage;
        let budget = SearchBudget { counts, ..SearchBudget::of(&config.limits, goes_on) };
        TextSearch { model, config, budget, control, storage: None, known_property: None }
    }

    /// Sets the storage, if given, in place of the configuration's.
    pub fn with_storage(self, storage: Option<StateStorage>) -> Self {
        TextSearch { storage, ..self }
    }

    /// Declares a property of the model that is known to hold.
    pub fn with_known_property(self, name: Option<&'c str>) -> Self {
        TextSearch { known_property: name, ..self }
    }

    /// Compiles the program and settles the reductions.
    ///
    /// # Errors
    ///
    /// If nothing is left to check, or `control` stops the analysis of reductions that were decided before.
    pub fn reduce(self, choice: ReductionChoice) -> Result<ReducedSearch<'m, 'c>, Error> {
        let TextSearch { model, config, budget, control, known_property, .. } = self;
        let limits = config.search_limits();
        let mut about = model.about(&limits);
        known_property.into_iter().for_each(|name| about.scope.set_known(name));
        reject_empty_scope(&about)?;
        // Reductions of a resumed search must be applied again, so their analyses get the largest budget.
        let analysis = match &choice {
            ReductionChoice::Decided(_) => AnalysisBudget::largest_watched(control),
            _ => AnalysisBudget::new(budget.memory, control),
        };
        let plan = ReductionPlan::new(choice.selection(model).clone(), limits.checks);
        let runs = model.runnable(&plan, &analysis, |program| {
            control.progress.enter(SearchPhase::Compiling);
            let _heeding = control.heed();
            budget.executor(program)
        });
        let shortest = config.search.shortest.then(|| runs.clone());
        let searched = match choice {
            ReductionChoice::Requested(request) => {
                let storage = self.storage.clone();
                let storage = &storage.unwrap_or_else(|| config.search.untrained_storage());
                let settings =
                    ReductionSettings { limits: &limits, storage, control, budget: &analysis };
                model.reduced(runs, request, settings)
            }
            applied => {
                let searched = match applied {
                    ReductionChoice::Decided(decided) => {
                        model.reduced_as(runs, *decided, &analysis)
                    }
                    _ => model.searched_by(runs, &analysis),
                };
                if control.should_stop() {
                    return Err(Error::Stopped(control.progress.describe_phase()));
                }
                searched
            }
        };
        Ok(ReducedSearch { search: self, searched, about, limits, shortest, analysis })
    }
}

impl<'m> ReducedSearch<'m, '_> {
    /// Returns the model that is searched.
    pub fn searched(&self) -> &SearchedModel<'m> {
        &self.searched
    }

    /// Returns the configured storage of states. Samples states if necessary.
    ///
    /// # Errors
    ///
    /// If the model fails, the table cannot be used, or the check is stopped.
    pub fn storage(&self) -> Result<StateStorage, Error> {
        let TextSearch { config, control, storage, .. } = &self.search;
        match storage {
            Some(storage) => Ok(storage.clone()),
            None => config.search.storage(self.searched.model(), control),
        }
    }

    /// Returns the model and the memory plan of the search.
    ///
    /// # Errors
    ///
    /// If the budget is too small.
    pub(super) fn with_plan(self) -> Result<(SearchedModel<'m>, MemoryPlan), Error> {
        let plan = self.search.budget.plan(self.search.model, self.searched.model().width())?;
        Ok((self.searched, plan))
    }

    /// Settles the storage of states and the memory plan of the search.
    ///
    /// # Errors
    ///
    /// If the budget is too small.
    pub fn store(self, storage: StateStorage) -> Result<StoredSearch<'m>, Error> {
        let ReducedSearch { search, searched, about, limits, shortest, analysis } = self;
        let TextSearch { model, config, budget, .. } = search;
        let plan = budget.plan(model, storage.stored_width(searched.model()))?;
        check_room(&storage, &plan, searched.model().width())?;
        let job = SearchJob::new(config, model, &searched, &storage);
        let shortened = ShortenedSearch { wished: searched.wished(), config, storage: &storage };
        let unreduced = shortest.map(|runs| model.unreduced(runs, shortened, &analysis));
        // A search for a shortest counterexample is prepared with these reductions.
        let restart = match unreduced {
            None => SecondTrial::of(model, config, &storage, budget, &searched),
            Some(_) => None,
        };
        let restart = restart.map(|it| Box::new(it) as Box<dyn RestartDecision<'m> + 'm>);
        let prepared = PreparedSearch { searched, about, limits, storage, plan, restart };
        Ok(StoredSearch { prepared, job, unreduced })
    }
}
