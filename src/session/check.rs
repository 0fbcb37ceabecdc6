//! Asking for a search: a model, what to look for, what it may take.

use super::config::ModelConfig;
use super::memory_budget::SearchBudget;
use super::reduction_request::ReductionSettings;
use super::searched_model::{DecidedReductions, ModelSummary, SearchedModel};
use super::{
    CheckConfig, CheckResult, Error, EventuallyCheck, ExecutableProgram, PreparedSearch, RunLimits,
    SavedLimits, SearchDirectory, SearchJob, SearchOutputs, Session, ShortenedSearch, TextModel,
    check_room, reject_empty_scope,
};
use crate::budget::AnalysisBudget;
use crate::exec::ExecutionMode;
use crate::model::{StateSpace, TransitionSystem};
use crate::reduce::{ReductionConfig, ReductionPlan, ReductionRequest, ReductionStack};
use crate::report::{CheckScope, RUST};
use crate::search::{CheckSelection, SearchControl, SearchLimits, StateStorage};
use crate::source::SourceMap;
use crate::system::{PackedSystem, PackingError, RestrictedSystem};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A search to be made: exact, on disk, in a fixed memory budget.
///
/// ```no_run
/// # use spillway::{Check, TransitionSystem};
/// # fn check(system: &impl TransitionSystem) -> Result<(), spillway::Error> {
/// let found = Check::new(system).memory(256 << 20).dir("search").run()?;
/// print!("{found}");
/// # Ok(())
/// # }
/// ```
pub struct Check<'m> {
    subject: CheckSubject<'m>,
    /// Bytes of a state of a Rust type, if that is said.
    state_bytes: Option<usize>,
    config: CheckConfig,
    storage: StateStorage,
    /// Whether a model from a text is reduced as it wishes itself, and not as the configuration says.
    is_reduced_as_wished: bool,
    dir: Option<PathBuf>,
    control: Option<Arc<SearchControl>>,
    /// How many levels are visited, if that is bounded.
    levels_max: Option<u64>,
    is_enough: Option<Arc<PropertyStopPredicate<'m>>>,
}

/// Whether a search stops with the properties for which there is a state, given by their names.
pub(super) type PropertyStopPredicate<'m> = dyn Fn(&BTreeSet<&str>) -> bool + Send + Sync + 'm;

/// Searches a transition system: to a verdict, in a GiB of memory, in a temporary directory. [`Check`] says
/// more of what is wanted.
///
/// # Errors
///
/// Those of [`Check::run`].
pub fn check<T: TransitionSystem>(system: &T) -> Result<CheckResult<'_>, Error> {
    Check::new(system).run()
}

/// What is to be searched.
enum CheckSubject<'m> {
    Rust(RustType<'m>),
    Text(&'m TextModel),
}

/// A Rust type.
struct RustType<'m> {
    name: String,
    /// Makes a model of it with states of so many bytes, if that is said.
    model: Box<dyn Fn(Option<usize>) -> Box<dyn StateSpace + 'm> + 'm>,
    /// What is said to be so eventually, asked of such a model.
    promised: Box<dyn Fn(usize) -> Vec<EventuallyCheck<'m>> + 'm>,
    /// Whether a search stops with the first state of a level that violates something.
    stops_within_level: bool,
}

impl<'m> Check<'m> {
    /// A search of a transition system.
    pub fn new<T: TransitionSystem>(system: &'m T) -> Check<'m> {
        let model = |width: Option<usize>| -> Box<dyn StateSpace + 'm> {
            Box::new(match width {
                None => PackedSystem::new(system),
                Some(width) => PackedSystem::with_width(system, width),
            })
        };
        let promised = |width| {
            let all = RestrictedSystem::of_eventualities(system, width).into_iter();
            all.map(|(name, avoiding)| EventuallyCheck::new(name, Box::new(avoiding))).collect()
        };
        let (model, promised) = (Box::new(model), Box::new(promised));
        Check::of(CheckSubject::Rust(RustType {
            name: type_name::<T>(),
            model,
            promised,
            stops_within_level: true,
        }))
    }

    /// A search of a model.
    pub fn of_model<M: StateSpace>(model: &'m M) -> Check<'m> {
        let name = type_name::<M>();
        let (model, promised) = (Box::new(move |_| Box::new(model) as _), Box::new(|_| Vec::new()));
        let stops_within_level = false;
        Check::of(CheckSubject::Rust(RustType { name, model, promised, stops_within_level }))
    }

    /// A search of a model that came from a text.
    pub fn of_text(model: &'m TextModel) -> Check<'m> {
        Check::of(CheckSubject::Text(model))
    }

    fn of(subject: CheckSubject<'m>) -> Check<'m> {
        let mut config = CheckConfig::default();
        if let CheckSubject::Text(model) = &subject {
            config.model = ModelConfig::of(&model.options);
            config.properties.named_conditions = model.options.conditions.clone();
        }
        Check {
            subject,
            state_bytes: None,
            config,
            storage: StateStorage::default(),
            is_reduced_as_wished: true,
            dir: None,
            control: None,
            levels_max: None,
            is_enough: None,
        }
    }

    /// What is checked, and how. It replaces all that was said before.
    pub fn config(mut self, config: CheckConfig) -> Self {
        self.config = config;
        self.is_reduced_as_wished = false;
        self
    }

    /// The most bytes that the process may hold resident; by default a GiB. What the program holds besides
    /// counts when the search begins. Blocks that were freed count, too, and glibc keeps large ones, but for
    /// programs that begin with [`return_large_blocks`](crate::search::return_large_blocks).
    pub fn memory(mut self, bytes: u64) -> Self {
        self.config.limits.memory = bytes;
        self
    }

    /// How many threads search; by default as many as there are cores and memory is enough for.
    pub fn threads(mut self, threads: u16) -> Self {
        self.config.limits.threads = Some(threads.max(1));
        self
    }

    /// Where the search lies: a new or empty directory, or one in which this search was stopped, with
    /// which it goes on. By default a temporary one, removed with what was [`CheckResult`].
    pub fn dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.dir = Some(path.into());
        self
    }

    /// The most bytes that a state of a [`TransitionSystem`] may take. By default that is told from the first
    /// states; a search in a temporary directory begins anew with more where a state takes more.
    pub fn state_bytes(mut self, bytes: usize) -> Self {
        self.state_bytes = Some(bytes);
        self
    }

    /// The most bytes that the directory may take.
    pub fn disk_limit(mut self, bytes: u64) -> Self {
        self.config.limits.disk_limit = Some(bytes);
        self
    }

    /// What counts as a violation; by default everything.
    pub fn checks(mut self, checks: CheckSelection) -> Self {
        self.config.properties.set_checks(checks);
        self
    }

    /// Visits all states, whatever is violated. By default the search ends with the level of the first violation; that of
    /// a [`TransitionSystem`] with the first state of the level that violates something, in the order of their bytes.
    pub fn keep_going(mut self) -> Self {
        self.config.search.keep_going = true;
        self
    }

    /// Stops, to be gone on with, at the end of the level that reaches so many states.
    pub fn max_states(mut self, states: u64) -> Self {
        self.config.limits.max_states = Some(states);
        self
    }

    /// Visits the states that at most so many steps lead to, and stops there, to be gone on with. All of them are checked.
    pub fn max_depth(mut self, steps: u64) -> Self {
        self.levels_max = Some(steps.saturating_add(1));
        self
    }

    /// Stops, to be gone on with, at the end of the level by which `is_enough` says so of the names of the properties for
    /// which there is a state: one that violates what should be so [always](crate::Property::always), or one that has what
    /// should be so [sometimes](crate::Property::sometimes). A violation does not end the search then. What nothing was
    /// found of stays open.
    pub fn stop_once(
        mut self,
        is_enough: impl Fn(&BTreeSet<&str>) -> bool + Send + Sync + 'm,
    ) -> Self {
        self.is_enough = Some(Arc::new(is_enough));
        self.keep_going()
    }

    /// Stops, to be gone on with, after this time.
    pub fn max_time(mut self, time: Duration) -> Self {
        self.config.limits.max_time = Some(time);
        self
    }

    /// The longest time between two checkpoints; by default ten minutes.
    pub fn checkpoint_every(mut self, time: Duration) -> Self {
        self.config.limits.checkpoint_every = time;
        self
    }

    /// How states are stored; by default as compressed sorted runs.
    pub fn storage(mut self, storage: StateStorage) -> Self {
        self.storage = storage;
        self
    }

    /// Which reductions a search of a model from a text uses; by default what it [wishes](TextModel::wished),
    /// which is none unless it was told. A search that goes on keeps those that it began with. Rust types are
    /// never reduced: there is no program to tell by what.
    pub fn reduce(mut self, reduce: impl Into<ReductionConfig>) -> Self {
        self.config.search.reductions = reduce.into();
        self.is_reduced_as_wished = false;
        self
    }

    /// Searches on after a violation that was found with steps put off, without that, for one after fewer
    /// steps.
    pub fn shortest(mut self) -> Self {
        self.config.search.shortest = true;
        self
    }

    /// How a model from a text is run; by default as machine code, where that can be made.
    pub fn exec(mut self, exec: ExecutionMode) -> Self {
        self.config.limits.exec = exec;
        self
    }

    /// Who can stop the search from another thread, and see how far it is. It brings its own deadline and time
    /// between checkpoints.
    pub fn control(mut self, control: Arc<SearchControl>) -> Self {
        self.control = Some(control);
        self
    }

    /// Searches: to a verdict, or until it is told to stop.
    ///
    /// # Errors
    ///
    /// If the budget is too small, the directory is not this search's, the disk fails or is full, or the
    /// model fails. What was searched up to the last checkpoint is kept.
    pub fn run(self) -> Result<CheckResult<'m>, Error> {
        let RunLimits { checkpoint_every, max_time, .. } = self.config.limits;
        let deadline = max_time.and_then(|time| Instant::now().checked_add(time));
        let control = self.control.clone();
        let control =
            control.unwrap_or_else(|| Arc::new(SearchControl::new(checkpoint_every, deadline)));
        let mut state_bytes = self.state_bytes;
        loop {
            match self.attempt(state_bytes, &control) {
                Err(Error::Misfit(PackingError::TooLong { takes, .. }))
                    if self.dir.is_none() && self.state_bytes.is_none() =>
                {
                    state_bytes = Some(2 * takes);
                }
                found => return found,
            }
        }
    }

    /// What the search checks and when it stops.
    fn search_limits(&self) -> SearchLimits {
        let stop_within_level = match &self.subject {
            CheckSubject::Rust(it) => it.stops_within_level,
            CheckSubject::Text(_) => false,
        };
        SearchLimits { stop_within_level, ..self.config.search_limits() }
    }

    /// Searches with states of a Rust type that have so many bytes, if that is said.
    fn attempt(
        &self,
        state_bytes: Option<usize>,
        control: &Arc<SearchControl>,
    ) -> Result<CheckResult<'m>, Error> {
        let Check { subject, config, storage, dir, .. } = self;
        let RunLimits { memory, threads, disk_limit, exec, .. } = config.limits;
        let limits = &self.search_limits();
        let goes_on = dir.as_deref().is_some_and(SearchDirectory::has_search);
        let budget = SearchBudget { memory, threads, exec, goes_on, counts: true };
        let settings = SearchSettings { config, limits, storage, budget };
        let mut unreduced = None;
        let (prepared, job) = match subject {
            CheckSubject::Text(model) => {
                let decided = dir.as_deref().filter(|_| goes_on).map(SearchDirectory::decided);
                let decided = decided.transpose()?;
                let resolved = || config.search.reduction_request();
                let request = (!self.is_reduced_as_wished).then(resolved);
                let how = ReductionChoice::of(request, decided);
                let plan = how.plan(model, limits.checks);
                let analysis = AnalysisBudget::new(budget.memory, &**control);
                let runs = model.runnable(&plan, &analysis, |it| {
                    let _heeding = control.heed();
                    budget.executor(it)
                });
                let again = config.search.shortest.then(|| runs.clone());
                let ready = prepare_text(model, runs, &settings, how, control)?;
                let wished = ready.0.searched.wished();
                let shortened = ShortenedSearch { wished, config, storage };
                let shorter = |it| model.unreduced(it, shortened, &analysis);
                unreduced = again.map(shorter);
                ready
            }
            CheckSubject::Rust(it) => {
                prepare_rust((it.model)(state_bytes), it.name.clone(), &settings)?
            }
        };
        check_room(storage, &prepared.plan, prepared.searched.model().width())?;
        let (directory, saved) = match dir {
            Some(path) if goes_on => SearchDirectory::resume(path, &job, disk_limit)?,
            path => (SearchDirectory::create(path.as_deref(), &job, disk_limit)?, None),
        };
        let disk_limit = directory.disk.limit();
        let limits_to_save = RunLimits { disk_limit, ..config.limits.clone() };
        directory.save_limits(&SavedLimits::new(limits_to_save, SearchOutputs::default()))?;
        let session = Session::new(prepared, directory);
        let mut session = session.with_stop_conditions(self.levels_max, self.is_enough.clone());
        if let CheckSubject::Rust(it) = subject {
            let promised = (it.promised)(session.searched().model().width());
            session.set_eventually_checks(promised, memory / 4)?;
        }
        let outcome = session.run(saved, control)?;
        let shortened = unreduced.map(|it| session.shorten(it, control));
        let failed = shortened.and_then(Result::err);
        Ok(CheckResult::new(session, control.clone(), outcome, failed))
    }
}

/// How a model from a text is to be reduced.
enum ReductionChoice {
    /// As it wishes itself.
    AsWished,
    /// As it was decided when the search began.
    AsDecided(DecidedReductions),
    /// As it is asked for.
    Asked(ReductionRequest),
}

impl ReductionChoice {
    /// What was asked for, if anything was, in a search of which something was decided, if it goes on.
    fn of(
        request: Option<ReductionRequest>,
        decided: Option<DecidedReductions>,
    ) -> ReductionChoice {
        match (request, decided) {
            (None, _) => ReductionChoice::AsWished,
            (Some(request), Some(decided)) if request.is_tried && !decided.is_open => {
                ReductionChoice::AsDecided(decided)
            }
            (Some(request), _) => ReductionChoice::Asked(request),
        }
    }

    /// The reductions by which the model's program is rewritten, in a search for some checks.
    fn plan(&self, model: &TextModel, checks: CheckSelection) -> ReductionPlan {
        let selection = match self {
            ReductionChoice::AsWished => &model.wished.selection,
            ReductionChoice::AsDecided(decided) => &decided.wished.selection,
            ReductionChoice::Asked(request) => &request.selection,
        };
        ReductionPlan::new(selection.clone(), checks)
    }
}

/// What a search is prepared with.
struct SearchSettings<'s> {
    config: &'s CheckConfig,
    limits: &'s SearchLimits,
    storage: &'s StateStorage,
    budget: SearchBudget,
}

/// Prepares a search of a model from a text, and what its directory keeps.
fn prepare_text<'m>(
    model: &'m TextModel,
    runs: ExecutableProgram<'m>,
    settings: &SearchSettings<'_>,
    how: ReductionChoice,
    control: &SearchControl,
) -> Result<(PreparedSearch<'m>, SearchJob), Error> {
    let SearchSettings { config, limits, storage, budget } = *settings;
    let about = model.about(limits);
    reject_empty_scope(&about)?;
    let analysis = AnalysisBudget::new(budget.memory, control);
    let searched = match how {
        ReductionChoice::AsWished => model.searched_by(runs, &analysis),
        // What was applied when the search began is applied again, whatever the memory budget is now.
        ReductionChoice::AsDecided(decided) => {
            model.reduced_as(runs, decided, &AnalysisBudget::largest_watched(control))
        }
        ReductionChoice::Asked(reduce) => {
            let settings = ReductionSettings { limits, storage, control, budget: &analysis };
            model.reduced(runs, reduce, settings)
        }
    };
    if control.is_stopped() && !searched.is_undecided() {
        return Err(Error::Stopped(control.progress.describe_phase()));
    }
    let plan = budget.plan(model, storage.stored_width(searched.model()))?;
    let job = SearchJob::new(config, model, &searched, storage);
    let (limits, storage) = (limits.clone(), storage.clone());
    Ok((PreparedSearch { searched, about, limits, storage, plan }, job))
}

/// Prepares a search of a Rust type, and what its directory keeps.
fn prepare_rust<'m>(
    model: Box<dyn StateSpace + 'm>,
    name: String,
    settings: &SearchSettings<'_>,
) -> Result<(PreparedSearch<'m>, SearchJob), Error> {
    let SearchSettings { config, limits, storage, budget } = *settings;
    let scope = CheckScope::of_model(model.description(), &limits.checks);
    let job = SearchJob::of_rust(config, &name, &*model, storage);
    let sources = Cow::Owned(SourceMap::default());
    let about = ModelSummary {
        name: name.into(),
        language: RUST,
        key_order: "declared",
        sources,
        conditions: &[],
        claim: None,
        scope,
    };
    reject_empty_scope(&about)?;
    let searched =
        SearchedModel::new(model, ReductionStack::default(), None, ReductionPlan::default());
    let plan = budget.plan_for_rust(storage.stored_width(searched.model()))?;
    let (limits, storage) = (limits.clone(), storage.clone());
    Ok((PreparedSearch { searched, about, limits, storage, plan }, job))
}

/// A type's name, and those of its parameters, without the ways there.
fn type_name<T: ?Sized>() -> String {
    let full = std::any::type_name::<T>().replace("'_, ", "").replace("<'_>", "");
    let is_between = |it: char| !it.is_alphanumeric() && !matches!(it, '_' | ':');
    let names = full.split_inclusive(is_between);
    names.filter_map(|it| it.rsplit("::").next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::marker::PhantomData;

    struct Of<'a, T, const N: usize>(PhantomData<&'a T>);

    #[test]
    fn types_are_called_by_their_names() {
        assert_eq!(type_name::<Check>(), "Check");
        assert_eq!(type_name::<Of<Option<SearchLimits>, 2>>(), "Of<Option<SearchLimits>, 2>");
    }
}
