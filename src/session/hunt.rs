//! Bug hunts: inexact searches in memory, whose finding the reference semantics replays.

use super::searched_model::ModelSummary;
use super::{Error, reject_empty_scope};
#[cfg(feature = "languages")]
use super::{LivenessSummary, ProductCheck, SourceModel};
use crate::model::{Finding, PreservedProperties, StateSpace, Violation};
use crate::report::{ViolationReport, violations};
use crate::search::hunt::{
    HuntFinding, HuntOptions, HuntOutcome, HuntProgress, HuntTarget, STRATEGIES, ShortenLimits,
    ShortenedPath, StrategyEntry, TargetDistance, hunt, shorten_path,
};
#[cfg(feature = "languages")]
use crate::search::liveness::nested_dfs::{ProbeLimits, ProbeResult, ProbeVerdict};
use crate::search::trace::Counterexample;
use crate::search::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchVerdict};
use crate::source::SourceMap;
use crate::system::PackingError;

/// The most transitions for shortening a path.
const SHORTEN_TRANSITIONS: u64 = 500_000;

/// The most states for shortening a run.
#[cfg(feature = "languages")]
const SHORTEN_STATES: u64 = 200_000;

/// The share of a hunt's memory for shortening.
const SHORTEN_SHARE: u64 = 2;

/// What a user requests of a hunt.
#[derive(Clone)]
pub struct HuntRequest {
    /// The seed of all random choices.
    pub seed: u64,
    /// The most walks. `None`: no limit.
    pub walks: Option<u64>,
    /// The strategies.
    pub strategies: Vec<&'static StrategyEntry>,
}

impl Default for HuntRequest {
    fn default() -> HuntRequest {
        HuntRequest { seed: 1, walks: None, strategies: STRATEGIES.iter().collect() }
    }
}

impl HuntRequest {
    /// Returns the options of a hunt within a memory plan.
    pub fn within(&self, plan: &MemoryPlan) -> HuntOptions {
        let buffers = 2 * plan.threads as u64 * plan.buffer;
        HuntOptions {
            seed: self.seed,
            threads: plan.threads,
            walks: self.walks,
            transitions: None,
            bytes: plan.young + plan.filter + buffers,
            strategies: self.strategies.clone(),
        }
    }
}

/// A hunt for violations of properties of states and transitions.
pub struct StateHunt<'h> {
    model: &'h dyn StateSpace,
    sources: &'h SourceMap,
    limits: SearchLimits,
    distances: Vec<TargetDistance<'h>>,
}

/// The result of a hunt for violations.
pub struct StateHuntResult<'h> {
    /// The outcome.
    pub outcome: HuntOutcome,
    /// The violation and a path to it, replayed and shortened.
    pub counterexample: Option<(ViolationReport, Counterexample<'h>)>,
    /// The number of steps of the path before it was shortened.
    pub found_depth: Option<u64>,
}

impl<'h> StateHunt<'h> {
    /// Creates the hunt of a model with this description.
    ///
    /// # Errors
    ///
    /// If the limits leave nothing to check.
    pub fn new(
        model: &'h dyn StateSpace,
        about: &'h ModelSummary<'_>,
        limits: &SearchLimits,
    ) -> Result<StateHunt<'h>, Error> {
        reject_empty_scope(about)?;
        let distances = TargetDistance::for_checks(limits.checks);
        Ok(StateHunt { model, sources: &about.sources, limits: limits.clone(), distances })
    }

    /// Adds the distance to a violation of the properties of a model that was read from a text, if it has some. The
    /// states of the hunt are those of this model.
    #[cfg(feature = "languages")]
    pub fn with_source(mut self, source: &'h dyn SourceModel) -> Self {
        let (model, checks) = (self.model, self.limits.checks);
        let is_selected = |number| checks.selects(model, Violation::Property(number));
        if let Some(distance) = source.distance(&is_selected) {
            self.distances.insert(0, TargetDistance::Function(distance));
        }
        self
    }

    /// Hunts until there is a finding or a limit is reached. Shortening and replaying a finding are bounded by counts,
    /// and not by `control`.
    ///
    /// # Errors
    ///
    /// If the model fails.
    pub fn run(
        self,
        options: &HuntOptions,
        control: &SearchControl,
        progress: &HuntProgress,
    ) -> Result<StateHuntResult<'h>, Error> {
        let StateHunt { model, sources, limits, distances } = self;
        let target = HuntTarget { model, checks: limits.checks, accepts: None, distances };
        let mut outcome = hunt(&target, options, control, progress).map_err(in_memory)?;
        let Some(HuntFinding::Violation { check, states }) = outcome.finding.take() else {
            return Ok(StateHuntResult { outcome, counterexample: None, found_depth: None });
        };
        let is_step = matches!(check, Violation::Fault(..));
        let depth = |states: &[Vec<u8>]| match states.len() {
            0 => 0,
            all => all as u64 - 1 + u64::from(is_step),
        };
        let found_depth = Some(depth(&states));
        let (bytes, control) = (options.bytes / SHORTEN_SHARE, SearchControl::default());
        let bounds = ShortenLimits { transitions: SHORTEN_TRANSITIONS, bytes };
        let shortened = shorten_path(model, check, states, bounds, &control).map_err(in_memory)?;
        let violation = report(model, sources, &limits, check, &shortened);
        let path = Counterexample::along(model, check, shortened.states, &control);
        let path = path.map_err(in_memory)?;
        let counterexample = violation.zip(path);
        Ok(StateHuntResult { outcome, counterexample, found_depth })
    }
}

/// Returns the report of the violation at the end of a path.
fn report(
    model: &dyn StateSpace,
    sources: &SourceMap,
    limits: &SearchLimits,
    check: Violation,
    path: &ShortenedPath,
) -> Option<ViolationReport> {
    let level = path.states.len().saturating_sub(1) as u64;
    let witness = path.states.last().cloned().unwrap_or_default();
    let mut outcome =
        SearchOutcome { verdict: SearchVerdict::Violated, ..SearchOutcome::default() };
    outcome.findings.restore(check, Finding { count: 1, level, witness });
    let found = violations(model, PreservedProperties::ALL, sources, limits, &outcome);
    let first = found.into_iter().next();
    first.map(|it| ViolationReport { shortest: path.is_shortest, in_levels: false, ..it })
}

/// The result of a hunt for a run that violates a temporal property.
#[cfg(feature = "languages")]
pub struct RunHuntResult {
    /// The outcome.
    pub outcome: HuntOutcome,
    /// The run, shortened, if one was found.
    pub summary: LivenessSummary,
}

/// Hunts for a run that violates a temporal property.
///
/// # Errors
///
/// If the model fails.
#[cfg(feature = "languages")]
pub fn hunt_run(
    product: &ProductCheck<'_, '_>,
    options: &HuntOptions,
    control: &SearchControl,
    progress: &HuntProgress,
) -> Result<RunHuntResult, Error> {
    let accepts = |state: &[u8]| product.product.is_accepting(state);
    let target = HuntTarget {
        model: product.searched.model(),
        checks: crate::search::CheckSelection::NONE,
        accepts: Some(&accepts),
        distances: Vec::new(),
    };
    let mut outcome = hunt(&target, options, control, progress).map_err(in_memory)?;
    let found = match outcome.finding.take() {
        Some(HuntFinding::Run(run)) => ProbeVerdict::Found(run),
        _ => ProbeVerdict::Open,
    };
    let transitions = outcome.totals().transitions;
    let probe = ProbeResult { found, states: 0, transitions, faults: 0, strategy: None };
    let bytes = options.bytes / SHORTEN_SHARE;
    let limits = ProbeLimits { states: SHORTEN_STATES, bytes };
    let summary = LivenessSummary::of_probe(probe);
    let summary = summary.with_shortest_run(product, limits, &SearchControl::default());
    Ok(RunHuntResult { outcome, summary })
}

/// Wraps a failure in memory.
pub(super) fn in_memory(error: spill::Error) -> Error {
    match error {
        spill::Error::Source { reason } => match reason.downcast::<PackingError>() {
            Ok(misfit) => Error::Misfit(*misfit),
            Err(reason) => Error::Sample(spill::Error::Source { reason }),
        },
        other => Error::Sample(other),
    }
}
