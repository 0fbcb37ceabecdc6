//! A search as a whole: a model, its reductions, its storage, its limits, its directory, and its result.
//!
//! [`Check`] and [`TextCheck`] are the entry points of a program. They and the command line prepare a [`Session`] by a
//! [`TextSearch`], or a [`LivenessSession`] by [`with_product`]. This module prints nothing.

#[cfg(feature = "languages")]
mod branching;
mod check;
#[cfg(feature = "languages")]
mod check_directory;
#[cfg(feature = "languages")]
mod check_of_text;
#[cfg(feature = "languages")]
mod check_plan;
mod check_result;
#[cfg(feature = "languages")]
mod compatibility;
#[cfg(feature = "languages")]
mod composite_runs;
#[cfg(feature = "languages")]
mod condition_value;
pub mod config;
mod decided_invariant;
#[cfg(feature = "languages")]
mod described_values;
mod directory;
#[cfg(feature = "languages")]
mod edited_model;
mod emptiness_search;
mod error;
mod eventually_check;
mod eventually_verdicts;
#[cfg(feature = "languages")]
mod executable;
#[cfg(feature = "languages")]
mod fair_run;
#[cfg(feature = "languages")]
mod found_trace;
mod frequency_table;
mod hunt;
#[cfg(feature = "languages")]
mod invariant_search;
mod job;
#[cfg(feature = "languages")]
mod liveness;
mod liveness_answer;
#[cfg(feature = "languages")]
mod liveness_check;
#[cfg(feature = "languages")]
mod liveness_session;
#[cfg(feature = "languages")]
mod liveness_summary;
mod memory_budget;
#[cfg(feature = "languages")]
mod observed_values;
#[cfg(feature = "languages")]
mod product_check;
#[cfg(feature = "languages")]
mod product_emptiness;
mod quantity;
#[cfg(feature = "languages")]
mod reading_options;
#[cfg(feature = "languages")]
mod reduction_request;
#[cfg(feature = "languages")]
mod reduction_trial;
mod removal;
mod replayed_run;
mod restarted_search;
mod run_limits;
mod run_property;
mod run_status;
mod saved_check;
#[cfg(feature = "languages")]
mod saved_reductions;
mod searched_model;
#[cfg(feature = "languages")]
mod second_trial;
mod session_log;
mod shortest_counterexample;
#[cfg(feature = "languages")]
mod slots;
mod snapshot;
#[cfg(feature = "languages")]
mod source_model;
#[cfg(feature = "languages")]
mod specification;
mod storage_choice;
mod stored_search;
mod stores;
mod sweep_config;
#[cfg(feature = "languages")]
mod symbols;
#[cfg(feature = "languages")]
mod tasks;
mod temporary_search;
#[cfg(feature = "languages")]
mod text_budget;
#[cfg(feature = "languages")]
mod text_check;
#[cfg(feature = "languages")]
mod text_job;
#[cfg(feature = "languages")]
mod text_model;
#[cfg(feature = "languages")]
mod text_search;
#[cfg(feature = "languages")]
mod trial_contender;
#[cfg(feature = "languages")]
mod trial_decision;
#[cfg(feature = "languages")]
mod trial_field;
#[cfg(feature = "languages")]
mod trial_limits;
mod type_hunt;
mod unreduced_model;
#[cfg(feature = "languages")]
mod unreduced_search;
mod verdict;

#[cfg(feature = "languages")]
pub use branching::{BranchingAnswers, UnansweredFormula};
pub use check::{Check, check};
#[cfg(feature = "languages")]
pub use check_directory::CheckDirectory;
#[cfg(feature = "languages")]
pub use check_plan::{CheckPlan, PlannedSearch};
pub use check_result::CheckResult;
#[cfg(feature = "languages")]
pub use compatibility::{ApplicableReduction, ReductionSaving};
pub use config::CheckConfig;
pub use decided_invariant::DecidedInvariant;
#[cfg(feature = "languages")]
pub use described_values::observe_described_values;
pub use directory::{DirectoryContents, SearchDirectory};
#[cfg(feature = "languages")]
pub use edited_model::{EditedModel, EditedModelReading, is_same_file};
pub use emptiness_search::{EmptinessOutcome, EmptinessSearch, EmptinessTarget, SweepStatus};
pub use error::{DirectoryConflict, Error};
pub use eventually_check::{EventuallyCheck, EventuallyVerdict};
#[cfg(feature = "languages")]
pub use executable::ExecutableProgram;
#[cfg(feature = "languages")]
pub use found_trace::{FoundTrace, TraceVisitor};
pub use frequency_table::FrequencyTableError;
pub use hunt::{HuntRequest, StateHunt, StateHuntResult};
#[cfg(feature = "languages")]
pub use hunt::{RunHuntResult, hunt_run};
pub use job::SearchJob;
#[cfg(feature = "languages")]
pub use liveness::{AcceptingComponents, probe_product, probe_reduced};
pub use liveness_answer::LivenessAnswer;
#[cfg(feature = "languages")]
pub use liveness_check::{LivenessCheck, PropertyRequest};
#[cfg(feature = "languages")]
pub use liveness_session::{
    CheckObserver, LivenessResult, LivenessSession, ProductOptions, SilentObserver, with_product,
};
#[cfg(feature = "languages")]
pub use liveness_summary::{LivenessStage, LivenessSummary};
pub use memory_budget::{SearchBudget, threads_to_trace};
#[cfg(feature = "languages")]
pub use observed_values::{ObservedValues, ValueSum, VariableValues, observe_values};
#[cfg(feature = "languages")]
pub use product_check::{ProductCheck, RunShortening};
#[cfg(feature = "languages")]
pub use reduction_trial::ReductionSettings;
pub use replayed_run::{ReplayedRun, replay, verdict};
pub use restarted_search::{RestartDecision, RestartedSearch};
pub use run_limits::{DirectoryIdentity, RunLimits, SavedLimits, SearchOutputs};
pub use run_property::{Fairness, RunProperty, SavedProperty};
pub use run_status::{CheckpointPosition, RunStatus};
pub use saved_check::SavedCheck;
#[cfg(feature = "languages")]
pub use searched_model::DecidedReductions;
pub use searched_model::{ModelSummary, SearchedModel};
pub use session_log::SessionStart;
pub use shortest_counterexample::{UnreducedSearch, trace_directory};
#[cfg(feature = "languages")]
pub use slots::{SlotCounts, process_without_slot};
pub use snapshot::{SearchForecast, SearchSnapshot, SearchState};
#[cfg(feature = "languages")]
pub use source_model::SourceModel;
#[cfg(feature = "languages")]
pub use specification::SpecificationModel;
pub use stored_search::{ReadySession, StoredSearch};
pub use stores::{STORES, StoreEntry, StoreOption, StoreOptionError};
#[cfg(feature = "languages")]
pub use symbols::{ModelSymbol, StoredRange, SymbolKind};
#[cfg(feature = "languages")]
pub use tasks::{SharedSearch, TaskRunner};
pub use temporary_search::{DirectoryJob, RemovalOutcome, TemporarySearch, temporary_in};
#[cfg(feature = "languages")]
pub use text_check::{CheckReport, ModelText, TextCheck};
#[cfg(feature = "languages")]
pub use text_model::{TextModel, read_text};
#[cfg(feature = "languages")]
pub use text_search::{ReducedSearch, ReductionChoice, TextSearch};
pub use type_hunt::{HUNT_TIME, Hunt, HuntResult};
#[cfg(feature = "languages")]
pub use unreduced_search::{ShortenedSearch, shortened_in};
pub use verdict::CheckpointEvidence;

use crate::model::{Violation, preserves_depth};
use crate::report::{CheckScope, EventuallyResult, Report, ShorteningResult, ViolationReport};
use crate::search::checkpoint::{DiskFigures, SavedSearch};
use crate::search::comback::{
    CacheSize, CombackSettings, RebuildStats, StateCacheConfig, cache_states_max,
};
use crate::search::files::EVENTUALLY_VERDICTS;
use crate::search::store_stats::StorePart;
use crate::search::trace::{Counterexample, TraceFinder};
use crate::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchResources,
    SearchVerdict, StateStorage,
};
use check::PropertyStopPredicate;
use directory::SessionSetup;
use eventually_verdicts::EventuallyVerdicts;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::Arc;
use unreduced_model::UnreducedModel;

/// The order of variables in the key by which states are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyOrder {
    /// The order in which the model declares its variables.
    #[default]
    Declared,
    /// An order by the owners of the variables.
    Static,
    /// The order with the smallest stored sample of states, if it is much smaller than with the declared order.
    Sampled,
}

/// A search that is prepared except for its directory. It can begin or resume.
pub struct PreparedSearch<'m> {
    /// The model that is searched.
    pub searched: SearchedModel<'m>,
    /// The description of the model for reports.
    pub about: ModelSummary<'m>,
    /// The checks, and when the search stops.
    pub limits: SearchLimits,
    /// How states are stored.
    pub storage: StateStorage,
    /// The memory of the search.
    pub plan: MemoryPlan,
    /// Decides whether the search is restarted with other reductions, if anything does.
    pub restart: Option<Box<dyn RestartDecision<'m> + 'm>>,
}

/// One session of a search.
pub struct Session<'m> {
    searched: SearchedModel<'m>,
    about: ModelSummary<'m>,
    limits: SearchLimits,
    storage: StateStorage,
    plan: MemoryPlan,
    /// The search directory.
    pub directory: SearchDirectory,
    came_to: Option<SessionResult<'m>>,
    /// The maximum number of levels that are expanded.
    levels_max: Option<u64>,
    is_enough: Option<Arc<PropertyStopPredicate<'m>>>,
    shorter: Option<ShorteningSearch<'m>>,
    promised: Vec<EventuallyCheck<'m>>,
    /// The bytes for the search of violating runs in memory.
    probe_bytes: u64,
    restart: Option<Box<dyn RestartDecision<'m> + 'm>>,
    /// The job of the search, if it can be restarted.
    job: Option<SearchJob>,
}

/// A search for a shorter counterexample, in the levels above the one that was found, without postponing transitions.
struct ShorteningSearch<'m> {
    below: u64,
    session: Box<Session<'m>>,
}

/// The result of a session.
struct SessionResult<'m> {
    outcome: SearchOutcome,
    promised: Vec<EventuallyCheck<'m>>,
    /// Whether the check of `eventually` properties failed.
    judged: Result<(), Error>,
    seconds: f64,
    disk: DiskFigures,
    parts: Vec<StorePart>,
    rebuilt: Option<RebuildStats>,
    /// The search that replaces this one, if it was abandoned.
    replacement: Option<RestartedSearch<'m>>,
}

impl<'m> Session<'m> {
    /// Creates a session of a search in a directory.
    pub fn new(prepared: PreparedSearch<'m>, directory: SearchDirectory) -> Session<'m> {
        let PreparedSearch { searched, about, limits, storage, plan, restart } = prepared;
        Session {
            searched,
            about,
            limits,
            storage,
            plan,
            directory,
            came_to: None,
            levels_max: None,
            is_enough: None,
            shorter: None,
            promised: Vec::new(),
            probe_bytes: 0,
            restart,
            job: None,
        }
    }

    /// Sets the job of the directory. Only then the search may be restarted with other reductions.
    pub(super) fn with_job(self, job: SearchJob) -> Self {
        Session { job: Some(job), ..self }
    }

    /// Adds stop conditions: the maximum number of expanded levels, and `is_enough`, which is given the names of the
    /// properties for which a state was found.
    pub(super) fn with_stop_conditions(
        self,
        levels_max: Option<u64>,
        is_enough: Option<Arc<PropertyStopPredicate<'m>>>,
    ) -> Self {
        Session { levels_max, is_enough, ..self }
    }

    /// Returns the model that is searched.
    pub fn searched(&self) -> &SearchedModel<'m> {
        &self.searched
    }

    /// Returns the checked and the unchecked properties.
    pub fn scope(&self) -> &CheckScope {
        &self.about.scope
    }

    /// Searches until there is a result or `control` stops the search. Starts from the checkpoint, if there is one.
    /// Then checks `eventually` properties.
    pub fn run(
        &mut self,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> Result<SearchOutcome, Error> {
        let start = SessionStart::after(saved.as_ref());
        let setup = SessionSetup { start, plan: self.plan, control };
        let mut promised = std::mem::take(&mut self.promised);
        let verdict = |it: &SessionResult<'m>| {
            let told: Vec<EventuallyResult> =
                it.promised.iter().map(EventuallyCheck::to_promise).collect();
            EventuallyResult::verdict_with(it.outcome.verdict, &told).name()
        };
        let search = || {
            let mut came_to = self.search(saved, control)?;
            came_to.judged = self.judge(&mut promised, &came_to.outcome, control);
            Ok(SessionResult { promised, ..came_to })
        };
        let came_to = self.directory.run_session(setup, verdict, search);
        let mut came_to = came_to.map_err(|error| {
            let failed = Error::run(&self.directory.path, error);
            // Such a search cannot be resumed: its states have or need another layout.
            if !matches!(failed, Error::Misfit(_)) && !failed.is_out_of_slots() {
                self.directory.keep();
            }
            failed
        })?;
        self.promised = std::mem::take(&mut came_to.promised);
        if let Some(RestartedSearch { searched, job }) = came_to.replacement {
            self.directory.restart(&job)?;
            (self.searched, self.job, self.restart) = (searched, Some(job), None);
            return self.run(None, control);
        }
        if !self.is_whole(&came_to.outcome) {
            self.about.scope.leave_out_eventually();
        }
        std::mem::replace(&mut came_to.judged, Ok(())).inspect_err(|_| self.directory.keep())?;
        Ok(self.came_to.insert(came_to).outcome.clone())
    }

    fn search(
        &self,
        saved: Option<SavedSearch>,
        control: &SearchControl,
    ) -> spill::Result<SessionResult<'m>> {
        let disk = self.directory.disk.clone();
        let (model, limits) = (self.searched.model(), self.limits.clone());
        let replacement = RefCell::new(None);
        let resources = SearchResources { disk, plan: self.plan, control };
        let mut search = match saved {
            None => {
                let storage = self.storage.clone();
                ExternalSearch::begin_stored(model, resources, limits, storage)?
            }
            Some(saved) => ExternalSearch::resume(model, resources, limits, saved)?,
        };
        if let Some(levels) = self.levels_max {
            search = search.with_max_levels(levels);
        }
        if let Some(is_enough) = &self.is_enough {
            let properties = model.description().properties();
            search = search.with_stop_predicate(move |findings| {
                let is_found =
                    |number: &usize| findings.count(Violation::Property(*number as u32)) > 0;
                let found = (0..properties.len()).filter(is_found);
                is_enough(&found.map(|number| properties[number].name.as_str()).collect())
            });
        }
        if let (Some(restart), Some(job)) = (&self.restart, &self.job) {
            search = search.with_midway_question(restart.after(), |states| {
                let replaced = restart.decide(states, &self.searched, job);
                replacement.replace(replaced);
                replacement.borrow().is_some()
            });
        }
        let outcome = search.run()?;
        let (seconds, disk) = (search.seconds(), search.disk_figures());
        let (parts, rebuilt) = (search.store().parts(), search.store().rebuilt());
        let (promised, judged) = (Vec::new(), Ok(()));
        drop(search);
        let replacement = replacement.into_inner();
        Ok(SessionResult { outcome, promised, judged, seconds, disk, parts, rebuilt, replacement })
    }

    /// Searches for a shorter counterexample, if there may be one: in the levels above the first, without postponing
    /// transitions. Resumes such a search if one was stopped. The first counterexample remains valid in any case.
    pub fn shorten(
        &mut self,
        unreduced: UnreducedSearch<'m>,
        control: &SearchControl,
    ) -> Result<(), Error> {
        // Levels of such a model do not determine depth.
        if !preserves_depth(self.searched.model()) {
            return Ok(());
        }
        let found = self.report().map(|report| report.violations()).unwrap_or_default();
        let Some(below) = shortest_counterexample::bound(&found) else { return Ok(()) };
        let path = shortest_counterexample::search_path(&self.directory.path);
        directory::reject_link(&path)?;
        let disk = &self.directory.disk;
        let left = disk.remaining_limit();
        let UnreducedSearch { searched, about, job } = unreduced;
        let (directory, saved) = match SearchDirectory::has_search(&path) {
            true => SearchDirectory::resume(&path, &job, left)?,
            false => (SearchDirectory::create(Some(&path), &job, left)?, None),
        };
        let (limits, storage, plan) = (self.limits.clone(), self.storage.clone(), self.plan);
        let prepared = PreparedSearch { searched, about, limits, storage, plan, restart: None };
        let mut session = Session::new(prepared, directory);
        session.levels_max = Some(below);
        session.run(saved, control)?;
        self.shorter = Some(ShorteningSearch { below, session: Box::new(session) });
        Ok(())
    }

    /// Sets the `eventually` properties, which are checked once all states are visited, and the bytes of memory for
    /// that.
    pub(super) fn set_eventually_checks(
        &mut self,
        promised: Vec<EventuallyCheck<'m>>,
        memory: u64,
    ) -> Result<(), Error> {
        if !self.limits.checks.invariants || promised.is_empty() {
            return Ok(());
        }
        (self.promised, self.probe_bytes) = (promised, memory);
        // An observer of the directory sees that they are undecided.
        match self.directory.has_file(EVENTUALLY_VERDICTS) {
            true => Ok(()),
            false => self.keep_verdicts(&self.promised),
        }
    }

    fn keep_verdicts(&self, promised: &[EventuallyCheck<'m>]) -> Result<(), Error> {
        let verdicts = EventuallyVerdicts::of(
            self.searched.model().digest(),
            promised.iter().map(EventuallyCheck::to_promise).collect(),
        );
        let SearchDirectory { path, disk, .. } = &self.directory;
        verdicts.commit(&**disk).map_err(|error| Error::run(path, error))
    }

    /// Checks `eventually` properties if all states were visited. Otherwise they stay undecided.
    fn judge(
        &self,
        promised: &mut [EventuallyCheck<'m>],
        outcome: &SearchOutcome,
        control: &SearchControl,
    ) -> Result<(), Error> {
        if promised.is_empty() || !self.is_whole(outcome) {
            return Ok(());
        }
        let SearchDirectory { path, disk, .. } = &self.directory;
        let disk_left = disk.remaining_limit();
        let (probe, plan) = (self.probe_bytes, self.plan);
        let room = eventually_check::EventuallyBudget { probe, plan, dir: path, disk_left };
        for (number, it) in promised.iter_mut().enumerate() {
            it.judge(number, &room, control)?;
        }
        self.keep_verdicts(promised)
    }

    /// Returns whether a search with this outcome visited all states.
    fn is_whole(&self, outcome: &SearchOutcome) -> bool {
        self.limits.visited_all(self.searched.model(), outcome)
    }

    /// Returns the checks of `eventually` properties, with their results.
    pub fn eventually_checks(&self) -> &[EventuallyCheck<'m>] {
        &self.promised
    }

    /// Returns the result of the search for a shorter counterexample, if there was one.
    fn shortened(&self) -> Option<ShorteningResult> {
        let ShorteningSearch { below, session } = self.shorter.as_ref()?;
        let report = session.report()?;
        let saved = SavedSearch::load(&*session.directory.disk).ok()?;
        Some(shortest_counterexample::shortened_from(*below, &saved, &report.violations()))
    }

    /// Returns the outcome. `None` before the session has run.
    pub fn outcome(&self) -> Option<&SearchOutcome> {
        self.came_to.as_ref().map(|it| &it.outcome)
    }

    /// Returns a path to the first state found for a property. `None` if there is none, or if the control stops the
    /// replay.
    pub fn path_to_property<'s>(
        &'s self,
        property: u32,
        control: &'s SearchControl,
    ) -> Result<Option<Counterexample<'s>>, Error> {
        let check = Violation::Property(property);
        let is_found = self.outcome().is_some_and(|it| it.findings.count(check) > 0);
        match is_found {
            true => self.with_evidence(control, |evidence, finder| evidence.find(finder, check)),
            false => Ok(None),
        }
    }

    /// Returns the shallowest violation and a path to it. `None` if there is none, or if the control stops the replay.
    pub fn counterexample<'s>(
        &'s self,
        control: &'s SearchControl,
    ) -> Result<Option<(ViolationReport, Counterexample<'s>)>, Error> {
        let shortened = self.shortened();
        if let (Some(ShorteningSearch { session, .. }), Some(_)) =
            (&self.shorter, shortened.and_then(|it| it.depth))
        {
            return session.counterexample(control);
        }
        // A stopped search may have found a violation.
        let model = self.searched.model();
        let is_violated = |it: &SearchOutcome| {
            it.verdict == SearchVerdict::Violated
                || self.limits.checks.any_selected(model, &it.findings)
        };
        if !self.outcome().is_some_and(is_violated) {
            return Ok(None);
        }
        self.with_evidence(control, |evidence, finder| {
            let found = evidence.violations(&self.searched)?;
            let Some(mut violation) = found.into_iter().find(ViolationReport::has_trace) else {
                return Ok(None);
            };
            violation.shortest |= shortened.is_some_and(|it| it.is_done);
            let way = evidence.find(finder, violation.check)?;
            Ok(way.map(|way| (violation, way)))
        })
    }

    /// Evaluates the checkpoint of the directory.
    fn with_evidence<'s, T>(
        &'s self,
        control: &'s SearchControl,
        find: impl FnOnce(&CheckpointEvidence<'_>, &TraceFinder<'s>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let SearchDirectory { path, disk, .. } = &self.directory;
        let saved = SavedSearch::load(&**disk).map_err(Error::open(path))?;
        let (limits, sources) = (&self.limits, &*self.about.sources);
        let evidence = CheckpointEvidence { saved: &saved, dir: path, limits, sources };
        let finder = TraceFinder {
            model: self.searched.model(),
            disk: &**disk,
            threads: self.plan.threads,
            control,
            folder: Some(path),
        };
        find(&evidence, &finder)
    }

    /// Returns the report. `None` before the session has run.
    pub fn report(&self) -> Option<Report<'_>> {
        let SessionResult { outcome, seconds, disk, parts, rebuilt, .. } = self.came_to.as_ref()?;
        let Session { searched, about, directory, limits, .. } = self;
        Some(Report {
            model_name: &about.name,
            language: about.language,
            key_order: about.key_order,
            store: self.storage.name(),
            parts,
            rebuilt: *rebuilt,
            compiled: searched.compiled(),
            model: searched.model(),
            reductions: searched.summaries(&outcome.counters),
            unused: searched.unused_reductions(),
            trial: searched.trial(),
            claim: about.claim,
            sources: &about.sources,
            conditions: about.conditions,
            limits,
            scope: &about.scope,
            outcome,
            seconds: *seconds,
            peak_rss_bytes: MemoryPlan::peak_resident(),
            shortened: self.shortened(),
            eventually: self.promised.iter().map(EventuallyCheck::to_promise).collect(),
            further: Vec::new(),
            disk: *disk,
            store_bytes: directory.disk.usage().live,
            dir: (!directory.is_temporary()).then(|| directory.path.display().to_string()),
            next: Vec::new(),
        })
    }
}

/// Returns an error if the plan has no space for the requested cache.
fn check_room(storage: &StateStorage, plan: &MemoryPlan, width: usize) -> Result<(), Error> {
    let StateStorage::Comback(CombackSettings {
        cache: StateCacheConfig { size: CacheSize::States(wanted), .. },
        ..
    }) = storage
    else {
        return Ok(());
    };
    let room = cache_states_max(plan, width) as u64;
    match *wanted <= room {
        true => Ok(()),
        false => Err(Error::Cache { wanted: *wanted, room }),
    }
}

/// Returns an error if the options leave nothing to check. A verdict would be meaningless.
fn reject_empty_scope(about: &ModelSummary) -> Result<(), Error> {
    let scope = &about.scope;
    if !scope.checked.is_empty() {
        return Ok(());
    }
    let (model, there) = (about.name.clone().into_owned(), scope.left_out.join(", "));
    Err(Error::Nothing { model, impossible: scope.impossible.join(", "), there })
}
