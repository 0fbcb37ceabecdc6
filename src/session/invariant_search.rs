//! The check of a temporal property that is equivalent to an invariant: a search for a state that violates it.
//!
//! Such a search has all reductions of safety properties. A state that violates the invariant shows that a run violates
//! the property if an infinite run continues from it, or one to its end. In the rare case that every continuation ends
//! in an error, the emptiness check decides instead.

use super::config::{CheckKind, PropertyConfig};
use super::directory::SearchDirectory;
use super::job::{SavedRunProperty, SearchJob};
use super::liveness_summary::{LivenessSummary, faults};
use super::stored_search::{ReadySession, StoredSearch};
use super::text_search::{ReductionChoice, TextSearch};
use super::{
    CheckConfig, DecidedInvariant, DirectoryContents, Error, LivenessAnswer, LivenessCheck,
    ProductCheck, SavedLimits, SearchedModel, TextModel,
};
use crate::model::{Counters, StateSpace as _, SuccessorSink};
use crate::reduce::ReductionRefusal;
use crate::report::ViolationReport;
use crate::search::lasso::Lasso;
use crate::search::liveness::continuation::AcceptingContinuations;
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::{SearchControl, SearchOutcome, SearchVerdict, model_failure};
use std::path::Path;

/// The most states among which a run is searched for that continues from a violating state.
const CONTINUATION_STATES_MAX: u64 = 100_000;

/// The inputs of a search for a violating state.
#[derive(Clone, Copy)]
pub(super) struct InvariantSetup<'s, 'm> {
    /// The model with the invariant.
    pub model: &'s TextModel,
    /// The product with the automaton of the property.
    pub product: &'s ProductCheck<'s, 'm>,
    /// The job of the emptiness check.
    pub job: &'s SearchJob,
    /// The limits of the session.
    pub limits: &'s SavedLimits,
    /// Stops the search.
    pub control: &'s SearchControl,
}

/// A search for a violating state that can run.
pub(super) struct InvariantSearch<'s, 'm> {
    setup: InvariantSetup<'s, 'm>,
    ready: ReadySession<'s>,
    digest: [u8; 32],
    decided: DecidedInvariant,
}

/// The result of a search for a violating state.
pub(super) struct InvariantOutcome {
    /// The verdict. `None` if no run is known that continues from the violating state.
    pub found: Option<ProbeVerdict>,
    /// The levels, transitions and run-time errors of the visited states.
    pub outcome: SearchOutcome,
    /// The reductions of the search.
    pub decided: DecidedInvariant,
    /// The result as the directory stores it, if it is conclusive.
    pub answer: Option<LivenessAnswer>,
    /// The seconds of all sessions.
    pub seconds: f64,
    /// The directory of the search.
    pub directory: SearchDirectory,
}

impl<'s, 'm> InvariantSetup<'s, 'm> {
    /// Returns the configuration of the search. It checks the invariant alone.
    fn config(&self) -> CheckConfig {
        let only = Some(vec![CheckKind::Invariant]);
        let properties = PropertyConfig { only, ..PropertyConfig::default() };
        let limits = self.limits.limits.clone();
        CheckConfig { properties, limits, ..self.job.config() }
    }

    /// Settles the reductions of a new search, and creates its directory.
    ///
    /// # Errors
    ///
    /// If the budget is too small, or the directory cannot be used.
    pub fn begin(self, dir: Option<&Path>) -> Result<InvariantSearch<'s, 'm>, Error> {
        let config = self.config();
        let request = config.search.reduction_request();
        let is_listed = !request.is_tried;
        let search = TextSearch::new(self.model, &config, false, self.control);
        let reduced = search.reduce(ReductionChoice::Requested(request))?;
        let refusals = match is_listed {
            true => reduced.searched().stack().unused_reductions(),
            false => Vec::new(),
        };
        let storage = reduced.storage()?;
        let stored = self.with_job(reduced.store(storage)?);
        self.ready(stored, refusals, |it| it.begin(dir, self.limits))
    }

    /// Resumes the search in a directory.
    ///
    /// # Errors
    ///
    /// If the budget is too small, or the disk fails.
    pub fn resume(
        self,
        directory: SearchDirectory,
        contents: DirectoryContents,
    ) -> Result<InvariantSearch<'s, 'm>, Error> {
        let config = self.config();
        let width = self.model.searched().model().width();
        let storage = contents.job.storage(&directory.path, width)?;
        let search = TextSearch::new(self.model, &config, true, self.control);
        let search = search.with_storage(Some(storage.clone()));
        let reduced = search.reduce(ReductionChoice::of_job(&contents.job))?;
        let stored = self.with_job(reduced.store(storage)?);
        self.ready(stored, Vec::new(), |it| it.resume_in(directory, contents, self.limits))
    }

    /// Returns a search with a job of the temporal property.
    fn with_job(&self, stored: StoredSearch<'s>) -> StoredSearch<'s> {
        let runs = self.job.runs.clone();
        let runs = runs.map(|it| SavedRunProperty { is_invariant: true, ..it });
        let job = SearchJob { runs, config: self.job.config.clone(), ..stored.job };
        StoredSearch { job, ..stored }
    }

    fn ready(
        self,
        stored: StoredSearch<'s>,
        refusals: Vec<ReductionRefusal>,
        enter: impl FnOnce(StoredSearch<'s>) -> Result<ReadySession<'s>, Error>,
    ) -> Result<InvariantSearch<'s, 'm>, Error> {
        let reductions = reductions_of(&stored.prepared.searched);
        let decided = DecidedInvariant { reductions, refusals, is_shortest: false };
        let digest = stored.job.digest();
        Ok(InvariantSearch { setup: self, ready: enter(stored)?, digest, decided })
    }
}

impl LivenessSummary {
    /// Returns the result of an undecided search for a violating state.
    pub fn of_open_invariant(check: &LivenessCheck, outcome: &SearchOutcome) -> LivenessSummary {
        let searched = check.invariant().map(TextModel::searched);
        let reductions = searched.as_ref().map_or(Vec::new(), reductions_of);
        let decided = DecidedInvariant { reductions, ..DecidedInvariant::default() };
        LivenessSummary::of_invariant(ProbeVerdict::Open, outcome, decided)
    }
}

/// Returns the names of the reductions of a search.
fn reductions_of(searched: &SearchedModel<'_>) -> Vec<String> {
    searched.summaries(&Counters::default()).into_iter().map(|it| it.name).collect()
}

impl InvariantSearch<'_, '_> {
    /// Returns the directory of the search.
    pub fn directory(&self) -> &SearchDirectory {
        &self.ready.session.directory
    }

    /// Removes the files of a search that will be repeated.
    fn discard_if(self, is_new: bool, error: Error) -> Error {
        if is_new && error.lacks_slots().is_some() {
            self.ready.session.directory.discard();
        }
        error
    }

    /// Searches until there is a result or the control stops the search.
    ///
    /// # Errors
    ///
    /// If the disk or the model fails.
    pub fn run(mut self) -> Result<InvariantOutcome, Error> {
        let control = self.setup.control;
        let saved = self.ready.saved.take();
        let is_new = saved.is_none();
        let outcome = match self.ready.session.run(saved, control) {
            Ok(outcome) => outcome,
            Err(error) => return Err(self.discard_if(is_new, error)),
        };
        let found = match outcome.verdict {
            SearchVerdict::Verified => Some(ProbeVerdict::None),
            SearchVerdict::Incomplete => Some(ProbeVerdict::Open),
            SearchVerdict::Violated => self.violating_run()?,
        };
        let InvariantSearch { ready: ReadySession { session, .. }, digest, decided, .. } = self;
        let seconds = session.report().map_or(0.0, |it| it.seconds);
        let answer = found.clone().and_then(|found| {
            let (states, transitions) = (outcome.states(), outcome.counters.transitions);
            let (faults, strategy) = (faults(&outcome), None);
            let probe = ProbeResult { found, states, transitions, faults, strategy };
            let answer = LivenessAnswer::of(digest, &probe)?;
            Some(answer.of_invariant(&decided))
        });
        let directory = session.directory;
        if let Some(answer) = &answer {
            directory.save_answer(answer)?;
        }
        Ok(InvariantOutcome { found, outcome, decided, answer, seconds, directory })
    }

    /// Returns a run through the violating state. The result is open if the control stops the search for it, and `None`
    /// if no run is found.
    fn violating_run(&mut self) -> Result<Option<ProbeVerdict>, Error> {
        let control = self.setup.control;
        if let Some(unreduced) = self.ready.unreduced.take() {
            self.ready.session.shorten(unreduced, control)?;
        }
        let Some((violation, way)) = self.ready.session.counterexample(control)? else {
            return Ok(Some(ProbeVerdict::Open));
        };
        let ViolationReport { shortest, in_levels, .. } = violation;
        self.decided.is_shortest = shortest && !in_levels;
        let product = self.setup.product.product;
        let mut states = Vec::new();
        way.each_step(&mut |_, state| states.extend(state.map(|it| product.at_start(it))));
        let lasso = self.continued(states).map_err(Error::Sample)?;
        Ok(match lasso {
            Some(lasso) => Some(ProbeVerdict::Found(lasso)),
            None if control.is_stopped() => Some(ProbeVerdict::Open),
            None => None,
        })
    }

    /// Returns a run that continues a finite run of the product, and that the automaton accepts.
    fn continued(&self, mut states: Vec<Vec<u8>>) -> spill::Result<Option<Lasso>> {
        let InvariantSetup { product: judged, limits, control, .. } = self.setup;
        let (product, mut all) = (judged.product, Vec::new());
        let Some(last) = states.last() else { return Ok(None) };
        let expand = |out: &mut SuccessorSink| product.expand(last, out);
        SuccessorSink::collect(last.len(), &mut all, expand).map(drop).map_err(model_failure)?;
        let starts = all.chunks_exact(last.len()).filter(|it| product.accepts_all(it));
        let starts = starts.collect::<Vec<_>>().concat();
        let continuations = AcceptingContinuations {
            model: product,
            accepts: &|state| product.is_accepting(state),
            fair: judged.fair_steps(),
        };
        let bytes = limits.limits.memory / 4;
        let limits = ProbeLimits { states: CONTINUATION_STATES_MAX, bytes };
        let found = continuations.find(&starts, limits, control)?;
        let ProbeVerdict::Found(behind) = found else { return Ok(None) };
        let back = states.len() + behind.back;
        states.extend(behind.states);
        Ok(Some(Lasso { states, back, fair_to: behind.fair_to }))
    }
}
