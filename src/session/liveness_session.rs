//! One session of an emptiness check: in memory first, then on disk.

use super::invariant_search::{InvariantOutcome, InvariantSearch, InvariantSetup};
use super::liveness_summary::LivenessSummary;
use super::temporary_search::create_directory;
use super::{
    CheckConfig, DirectoryContents, EmptinessOutcome, EmptinessSearch, Error, ExecutableProgram,
    Fairness, LivenessAnswer, LivenessCheck, ProductCheck, RunShortening, SavedLimits,
    SearchBudget, SearchDirectory, SearchJob, SearchedModel,
};
use crate::budget::AnalysisBudget;
use crate::exec::{Executor, FairExpander, Interp};
use crate::reduce::claim::{ClaimProduct, FairProduct, FiniteRunPolicy};
use crate::reduce::{ReductionKind, merge};
use crate::search::checkpoint::SavedSearch;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeVerdict};
use crate::search::{MemoryPlan, SearchControl, SearchVerdict, StateStorage};
use std::any::Any;
use std::path::Path;

/// The maximum number of states that are visited in memory.
const STATES_MAX: u64 = 1_000_000;

/// The maximum number of states that are visited in memory before a search for a state that violates an invariant.
const BEFORE_INVARIANT_MAX: u64 = 5_000;

/// The maximum number of states that are visited for a shorter run, if no shortest one is requested.
const SHORTENING_STATES_MAX: u64 = 50_000;

/// Observes a session and may display its progress.
pub trait CheckObserver {
    /// Begins a step that may take long. The step ends when the returned value is dropped.
    fn begin_step(&self, what: &'static str) -> Box<dyn Any>;

    /// Begins the search on disk. It ends when the returned value is dropped.
    fn begin_search(&self, directory: &SearchDirectory) -> Box<dyn Any>;

    /// Receives the verdict. Later steps do not change it.
    fn decide(&mut self, verdict: SearchVerdict);
}

/// An observer that displays nothing.
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

/// The options of an emptiness check of a product.
#[derive(Clone, Copy)]
pub struct ProductOptions<'o> {
    /// The budget of the search.
    pub budget: SearchBudget,
    /// The semantics of finite runs.
    pub finite_runs: FiniteRunPolicy,
    /// Which runs are checked.
    pub fairness: Fairness,
    /// Whether a shortest run is searched for.
    pub shortest: bool,
    /// Whether the search in memory hunts.
    pub hunts: bool,
    /// Stops the trial of partial order.
    pub control: &'o SearchControl,
}

/// Prepares the product of a model and the automaton of a property, and passes it on. `None` if no run can violate the
/// property, whatever the model does.
pub fn with_product<'c, R, E: From<Error>>(
    check: &'c LivenessCheck,
    options: ProductOptions<'_>,
    analysis: &AnalysisBudget,
    executor: impl FnOnce(&'c Interp) -> Executor<'c>,
    and_then: impl FnOnce(Option<&ProductCheck<'_, '_>>) -> Result<R, E>,
) -> Result<R, E> {
    let ProductOptions { finite_runs, fairness, shortest, hunts, control, .. } = options;
    let model = &check.model;
    let Some(product) = check.product(&model.interp, finite_runs) else { return and_then(None) };
    let is_invariant = check.invariant().is_some();
    let runs: ExecutableProgram<'c> = model.runnable(&model.wished, analysis, executor);
    let executed = (fairness == Fairness::Weak).then(|| runs.clone());
    let executed = executed.as_ref().and_then(|it| Some((it, it.product(finite_runs)?)));
    let fair = executed.as_ref().map(|(runs, product)| fair_product(check, runs, product));
    let searched = check.searched_by(&product, runs.clone(), analysis, control);
    let omits_steps = !searched.stack().names(&[ReductionKind::Choice]).is_empty();
    let merged = runs.merged().filter(|_| searched.stack().member(merge::ENTRY.name).is_some());
    let states = if shortest { u64::MAX } else { SHORTENING_STATES_MAX };
    let needs_shortening = shortest || omits_steps || merged.is_some();
    let shortening = (needs_shortening || is_invariant).then(|| RunShortening {
        all_steps: match merged {
            // A run that was found is one of the program as written.
            Some(_) => check.as_written(),
            None => check.with_all_steps(&searched, runs, analysis),
        },
        states,
        only_of_invariants: !needs_shortening,
    });
    let product = ProductCheck::new(check, &product, &searched).with_fairness(fair.transpose()?);
    let product = product.with_merged(merged).with_shortening(shortening).with_hunts(hunts);
    and_then(Some(&product))
}

/// Returns a product with the program that is searched, whose transitions are labelled with processes. Returns an error
/// if the processes cannot be distinguished.
fn fair_product<'p>(
    check: &LivenessCheck,
    runs: &'p ExecutableProgram<'p>,
    product: &'p ClaimProduct<'p>,
) -> Result<FairProduct<'p>, Error> {
    let movers = FairExpander::new(runs.interp(), runs.executor()).map_err(|why| {
        let (name, language) = (check.model.name(), check.model.language.name);
        Error::Unreadable(format!(
            "--fair concerns processes, and does not apply to the {language} model {name}: {why}"
        ))
    })?;
    Ok(FairProduct::new(product, movers))
}

/// An emptiness check of a product.
pub struct LivenessSession<'s, 'm> {
    product: &'s ProductCheck<'s, 'm>,
    budget: SearchBudget,
    max_states: Option<u64>,
    /// Stops the search.
    control: &'s SearchControl,
}

/// The result of a session.
pub struct LivenessResult {
    /// The result of the search.
    pub summary: LivenessSummary,
    /// The search directory. `None` if memory was sufficient.
    pub directory: Option<SearchDirectory>,
    /// Whether states were reached on disk.
    pub has_levels: bool,
    /// The seconds of searching in all sessions.
    pub seconds: f64,
    /// The result in memory, if it was conclusive.
    answer: Option<LivenessAnswer>,
}

impl<'s, 'm> LivenessSession<'s, 'm> {
    /// Creates a search with these limits. `control` stops it.
    pub fn new(
        product: &'s ProductCheck<'s, 'm>,
        budget: SearchBudget,
        max_states: Option<u64>,
        control: &'s SearchControl,
    ) -> LivenessSession<'s, 'm> {
        LivenessSession { product, budget, max_states, control }
    }

    /// Returns the memory plan of a search on disk.
    fn plan(&self) -> Result<MemoryPlan, Error> {
        let searched: &SearchedModel<'_> = self.product.searched;
        let width = StateStorage::default().stored_width(searched.model());
        self.budget.plan(&self.product.check.model, width)
    }

    /// Returns the job of the search.
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
        // The budget is checked even if neither a directory nor this memory turns out to be needed.
        self.plan()?;
        dir.map_or(Ok(()), |dir| SearchDirectory::check_unused(dir, job))?;
        let invariant = self.invariant(job, saved);
        let most = invariant.map_or(STATES_MAX, |_| states_before_invariant(&job.config()));
        let states = self.max_states.unwrap_or(u64::MAX).min(most);
        let limits = ProbeLimits { states, bytes: self.budget.memory / 4 };
        let shown = observer.begin_step("searching for a violating run");
        let probe = self.product.probe(limits, self.control).map_err(Error::Sample)?;
        drop(shown);
        if probe.found != ProbeVerdict::Open {
            let answer = LivenessAnswer::of(job.digest(), &probe);
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
        let mut result = match invariant {
            Some(setup) => self.run_invariant(setup.begin(dir)?, job, saved, observer)?,
            None => {
                let directory = create_directory(dir, job, saved.limits.disk_limit)?;
                directory.save_limits(saved)?;
                self.run_on_disk(directory, None, observer, true)?
            }
        };
        // A search on disk that stops early may have fewer states than the search in memory.
        if self.control.should_stop() {
            result.summary = result.summary.at_least(&probe);
        }
        Ok(result)
    }

    /// Resumes the search in a directory.
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
            let summary = LivenessSummary::of_answer(&answer);
            return Ok(LivenessResult {
                summary: self.shorten(summary, observer),
                directory: Some(directory),
                has_levels: false,
                seconds: 0.0,
                answer: Some(answer),
            });
        }
        // A rejected budget must not be saved.
        self.plan()?;
        let job = contents.job.clone();
        if let Some(setup) = self.invariant(&job, saved).filter(|_| job.is_of_invariant()) {
            let search = setup.resume(directory, contents)?;
            return self.run_invariant(search, &self.job(&job.config()), saved, observer);
        }
        directory.save_changed_limits(saved)?;
        self.run_on_disk(directory, contents.saved, observer, false)
    }

    /// Returns the search for a violating state, if the property is equivalent to an invariant.
    fn invariant<'i>(
        &self,
        job: &'i SearchJob,
        limits: &'i SavedLimits,
    ) -> Option<InvariantSetup<'i, 'm>>
    where
        's: 'i,
    {
        let (product, control) = (self.product, self.control);
        let model = product.check.invariant()?;
        Some(InvariantSetup { model, product, job, limits, control })
    }

    /// Searches for a violating state. If no run is known that continues from the state that was found, an emptiness
    /// check with this job follows.
    fn run_invariant(
        &self,
        search: InvariantSearch<'_, '_>,
        job: &SearchJob,
        saved: &SavedLimits,
        observer: &mut dyn CheckObserver,
    ) -> Result<LivenessResult, Error> {
        let shown = observer.begin_search(search.directory());
        let ended = search.run();
        drop(shown);
        let InvariantOutcome { found, outcome, decided, answer, seconds, mut directory } = ended?;
        let Some(found) = found else {
            directory.restart(job)?;
            directory.save_limits(saved)?;
            return self.run_on_disk(directory, None, observer, false);
        };
        let summary = LivenessSummary::of_invariant(found, &outcome, decided);
        observer.decide(summary.verdict());
        if summary.found != ProbeVerdict::Open {
            directory.remove_if_temporary();
        }
        Ok(LivenessResult {
            summary: self.shorten(summary, observer),
            directory: Some(directory),
            has_levels: !outcome.levels.is_empty(),
            seconds,
            answer,
        })
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
            // A new search that needs more slots for processes leaves no files.
            Err(error) if is_new && error.lacks_slots().is_some() => {
                search.directory.discard();
                return Err(error);
            }
            ended => ended?,
        };
        let found = self.product.with_all_steps(found, self.control).map_err(Error::Sample)?;
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

    /// Searches for a shorter run if a run was found, and if a shortest one is requested or steps were omitted.
    fn shorten(&self, summary: LivenessSummary, observer: &dyn CheckObserver) -> LivenessSummary {
        let _shown = observer.begin_step("searching for a shorter run");
        let states = self.max_states.unwrap_or(u64::MAX).min(self.product.shortening_states());
        let limits = ProbeLimits { states, bytes: self.budget.memory / 4 };
        summary.with_shortest_run(self.product, limits, self.control)
    }
}

/// Returns the most states that are visited in memory before a search for a violating state. Requested reductions are
/// those of that search.
fn states_before_invariant(config: &CheckConfig) -> u64 {
    match config.search.reductions.selection.is_empty() {
        true => BEFORE_INVARIANT_MAX,
        false => 0,
    }
}

impl LivenessResult {
    /// Saves a conclusive result in memory, in a new directory.
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
