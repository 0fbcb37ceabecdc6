//! One session of a search for a run that violates a property: in memory first, then on disk.

use super::liveness_summary::LivenessSummary;
use super::{
    CheckConfig, DirectoryContents, EmptinessOutcome, EmptinessSearch, Error, ExecutableProgram,
    Fairness, InMemoryAnswer, LivenessCheck, ProductCheck, SavedLimits, SearchBudget,
    SearchDirectory, SearchJob, SearchedModel,
};
use crate::budget::AnalysisBudget;
use crate::exec::{Executor, Interp};
use crate::reduce::claim::FiniteRunPolicy;
use crate::search::checkpoint::SavedSearch;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use crate::search::{MemoryPlan, SearchControl, SearchVerdict, StateStorage};
use std::any::Any;
use std::path::Path;

/// The most states that are visited in memory.
const STATES_MAX: u64 = 1_000_000;

/// Is told what a session does, and may show it.
pub trait CheckObserver {
    /// A step that may take long begins. It ends when what is returned is dropped.
    fn begin_step(&self, what: &'static str) -> Box<dyn Any>;

    /// The search on disk begins. It ends when what is returned is dropped.
    fn begin_search(&self, directory: &SearchDirectory) -> Box<dyn Any>;

    /// The verdict is known. What follows only adds to it.
    fn decide(&mut self, verdict: SearchVerdict);
}

/// Shows nothing.
pub struct SilentObserver;

impl CheckObserver for SilentObserver {
    fn begin_step(&self, _: &'static str) -> Box<dyn Any> {
        Box::new(())
    }

    fn begin_search(&self, _: &SearchDirectory) -> Box<dyn Any> {
        Box::new(())
    }

    fn decide(&mut self, _: SearchVerdict) {}
}

/// How the product of a model and the automaton of a property is searched.
#[derive(Clone, Copy, Debug)]
pub struct ProductOptions {
    /// What the search may take.
    pub budget: SearchBudget,
    /// What is assumed of finite runs.
    pub finite_runs: FiniteRunPolicy,
    /// Which runs are checked.
    pub fairness: Fairness,
    /// Whether a shortest run is searched for.
    pub shortest: bool,
}

/// Prepares the product of a model and the automaton of a property, and hands it on; nothing if no run can violate the
/// property, whatever the model does.
pub fn with_product<'c, R, E: From<Error>>(
    check: &'c LivenessCheck,
    options: ProductOptions,
    analysis: &AnalysisBudget,
    executor: impl FnOnce(&'c Interp) -> Executor<'c>,
    and_then: impl FnOnce(Option<&ProductCheck<'_, '_>>) -> Result<R, E>,
) -> Result<R, E> {
    let ProductOptions { finite_runs, fairness, shortest, .. } = options;
    let model = &check.model;
    let Some(product) = check.product(&model.interp, finite_runs) else { return and_then(None) };
    let runs: ExecutableProgram<'c> = model.runnable(&model.wished, analysis, executor);
    let executor = runs.executor().clone();
    let all_steps = shortest.then(|| check.with_all_steps(runs.clone(), analysis));
    let searched = model.searched_by(runs, analysis);
    let product = ProductCheck::new(check, &product, &searched, &executor, fairness)?;
    and_then(Some(&product.for_shortest(all_steps)))
}

/// A search for a run of a product that violates a property.
pub struct LivenessSession<'s, 'm> {
    product: &'s ProductCheck<'s, 'm>,
    budget: SearchBudget,
    max_states: Option<u64>,
    /// Stops it.
    control: &'s SearchControl,
}

/// What a session came to.
pub struct LivenessResult {
    /// What it found.
    pub summary: LivenessSummary,
    /// Where the search is on disk; nothing if memory was enough.
    pub directory: Option<SearchDirectory>,
    /// Whether states were reached on disk.
    pub has_levels: bool,
    /// Seconds of searching, those of earlier sessions included.
    pub seconds: f64,
    /// What decided it in memory.
    answer: Option<InMemoryAnswer>,
}

impl<'s, 'm> LivenessSession<'s, 'm> {
    /// A search with these limits, which `control` stops.
    pub fn new(
        product: &'s ProductCheck<'s, 'm>,
        budget: SearchBudget,
        max_states: Option<u64>,
        control: &'s SearchControl,
    ) -> LivenessSession<'s, 'm> {
        LivenessSession { product, budget, max_states, control }
    }

    /// The memory of a search on disk.
    fn plan(&self) -> Result<MemoryPlan, Error> {
        let searched: &SearchedModel<'_> = self.product.searched;
        let width = StateStorage::default().stored_width(searched.model());
        self.budget.plan(&self.product.check.model, width)
    }

    /// The job of the search.
    pub fn job(&self, config: &CheckConfig) -> SearchJob {
        SearchJob::of_runs(
            config,
            self.product.check,
            self.product.searched,
            &StateStorage::default(),
        )
    }

    /// Begins the search: in memory, and on disk where that is not enough.
    ///
    /// # Errors
    ///
    /// If the budget is too small, the directory cannot be used, the disk fails, or the model fails.
    pub fn begin(
        &self,
        job: &SearchJob,
        dir: Option<&Path>,
        saved: &SavedLimits,
        observer: &mut dyn CheckObserver,
    ) -> Result<LivenessResult, Error> {
        // Also where no directory comes to be needed, nor as much memory.
        self.plan()?;
        dir.map_or(Ok(()), |dir| SearchDirectory::check_unused(dir, job))?;
        let states = self.max_states.map_or(STATES_MAX, |most| most.min(STATES_MAX));
        let limits = ProbeLimits { states, bytes: self.budget.memory / 4 };
        let shown = observer.begin_step("looking for a run that violates it");
        let probe = self.product.probe(limits, self.control).map_err(Error::Sample)?;
        drop(shown);
        if probe.found != ProbeVerdict::Open {
            let answer = InMemoryAnswer::of(job.digest(), &probe);
            let summary = LivenessSummary::of_probe(probe);
            observer.decide(summary.verdict());
            return Ok(LivenessResult {
                summary: self.shorten(summary, observer),
                directory: None,
                has_levels: false,
                seconds: self.control.elapsed().as_secs_f64(),
                answer,
            });
        }
        let directory = SearchDirectory::create(dir, job, saved.limits.disk_limit)?;
        directory.save_limits(saved)?;
        let mut result = self.run_on_disk(directory, None, observer, true)?;
        // Nothing is left in memory of a search that had as many states as it may.
        if self.control.should_stop() {
            result.summary = result.summary.at_least(&probe);
        }
        Ok(result)
    }

    /// Goes on with the search in a directory.
    ///
    /// # Errors
    ///
    /// If the budget is too small, the disk fails, or the model fails.
    pub fn resume(
        &self,
        directory: SearchDirectory,
        contents: DirectoryContents,
        saved: &SavedLimits,
        observer: &mut dyn CheckObserver,
    ) -> Result<LivenessResult, Error> {
        if let Some(answer) = contents.answer {
            let summary = LivenessSummary::of_probe(answer.probe());
            return Ok(LivenessResult {
                summary: self.shorten(summary, observer),
                directory: Some(directory),
                has_levels: false,
                seconds: 0.0,
                answer: Some(answer),
            });
        }
        // A budget that is refused is not kept.
        self.plan()?;
        directory.save_changed_limits(saved)?;
        self.run_on_disk(directory, contents.saved, observer, false)
    }

    fn run_on_disk(
        &self,
        directory: SearchDirectory,
        saved: Option<SavedSearch>,
        observer: &mut dyn CheckObserver,
        is_new: bool,
    ) -> Result<LivenessResult, Error> {
        let plan = self.plan()?;
        let mut search = EmptinessSearch::new(self.product, plan, self.max_states, directory);
        let shown = observer.begin_search(&search.directory);
        let ended = search.run(saved, self.control);
        drop(shown);
        let EmptinessOutcome { found, outcome, swept, seconds } = match ended {
            // Nothing is left of a new search that needs more slots for processes.
            Err(error) if is_new && error.lacks_slots().is_some() => {
                search.directory.discard();
                return Err(error);
            }
            ended => ended?,
        };
        let summary = LivenessSummary::on_disk(found, &outcome, swept);
        observer.decide(summary.verdict());
        if summary.found != ProbeVerdict::Open {
            search.directory.remove_if_temporary();
        }
        Ok(LivenessResult {
            summary: self.shorten(summary, observer),
            directory: Some(search.directory),
            has_levels: !outcome.levels.is_empty(),
            seconds,
            answer: None,
        })
    }

    /// Searches for a shorter run, if a shortest one is wanted and one was found.
    fn shorten(&self, summary: LivenessSummary, observer: &dyn CheckObserver) -> LivenessSummary {
        let _shown = observer.begin_step("looking for a shorter run");
        let states = self.max_states.unwrap_or(u64::MAX);
        let limits = ProbeLimits { states, bytes: self.budget.memory / 4 };
        summary.with_shortest_run(self.product, limits, self.control)
    }
}

impl LivenessResult {
    /// Keeps what decided the property in memory, in a new directory.
    ///
    /// # Errors
    ///
    /// If the directory cannot be used, or the disk fails.
    pub fn keep_answer(
        &self,
        job: &SearchJob,
        dir: &Path,
        saved: &SavedLimits,
    ) -> Result<(), Error> {
        let (Some(answer), None) = (&self.answer, &self.directory) else { return Ok(()) };
        let directory = SearchDirectory::create(Some(dir), job, saved.limits.disk_limit)?;
        directory.save_limits(saved)?;
        directory.save_answer(answer)
    }
}
