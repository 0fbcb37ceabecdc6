//! The bounded checks that editors start.

use super::positions::location_of;
use crate::cli::args::EditorArgs;
use crate::cli::explored_trace::{ExploredModel, ExploredTrace};
use crate::model::{CallSite, PropertyInfo, StepOutcome};
use crate::report::{PropertyJudgement, PropertyVerdict, overall_verdict};
use crate::search::SearchControl;
use crate::session::config::CheckKind;
use crate::session::{
    CheckConfig, EditedModel, Error, FoundTrace, ModelSymbol, SearchJob, SymbolKind,
};
use crate::source::Span;
use lsp_types::Location;
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The default of the maximum resident memory, in bytes.
const MEMORY: u64 = 512 << 20;

/// The default of the maximum time.
const TIME: Duration = Duration::from_secs(60);

/// The maximum number of calls that are shown of an error in a function.
const CALLS_MAX: usize = 20;

/// The properties that an editor selects. The default is all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct SelectedProperties {
    /// LTL formulas, or names of properties of the model.
    pub ltl: Vec<String>,
    /// The safety checks that count.
    pub only: Option<Vec<CheckKind>>,
}

/// A counterexample with the positions of its steps.
pub(super) struct LocatedTrace {
    /// The violation.
    pub to: String,
    /// The position of the violated property, or of the failing expression in the last step.
    pub place: Option<Location>,
    /// The initial state, then each step.
    pub steps: Vec<LocatedStep>,
    /// The number of the step after which a cycle begins, if the last step closes one.
    pub loop_start: Option<usize>,
    /// The counterexample as the explorer and the debugger read it.
    pub explored: ExploredModel,
}

/// A step of a counterexample.
pub(super) struct LocatedStep {
    /// Its number, 0 for the initial state. `None` for a detail of the last step.
    pub number: Option<usize>,
    /// The action.
    pub title: String,
    /// Its position in the model.
    pub place: Option<Location>,
}

/// The result of a check.
pub(super) struct BoundedCheckResult {
    pub properties: Vec<PropertyJudgement>,
    pub traces: Vec<LocatedTrace>,
}

/// Returns the configuration of a check within the bounds of the command line.
pub(super) fn bounded_config(args: &EditorArgs, selected: &SelectedProperties) -> CheckConfig {
    let mut config = CheckConfig::default();
    config.limits.memory = args.memory.unwrap_or(MEMORY);
    config.limits.max_time = Some(args.max_time.unwrap_or(TIME));
    config.limits.max_states = args.max_states;
    // An editor shows the steps: a shortest counterexample is worth more than an early one.
    config.search.no_dive = true;
    let SelectedProperties { ltl, only } = selected.clone();
    (config.properties.ltl, config.properties.only) = (ltl, only);
    config
}

/// Returns the control of a check. Its time begins now.
pub(super) fn control_of(config: &CheckConfig) -> Arc<SearchControl> {
    let deadline = config.limits.max_time.and_then(|it| Instant::now().checked_add(it));
    Arc::new(SearchControl::new(config.limits.checkpoint_every, deadline))
}

/// Checks a model.
pub(super) fn check(
    model: &EditedModel,
    config: &CheckConfig,
    control: &Arc<SearchControl>,
) -> Result<BoundedCheckResult, Error> {
    let mut traces = Vec::new();
    let properties = model.check(config, control, &mut |job, found| {
        traces.push(LocatedTrace::of(job, found));
    })?;
    if traces.iter().any(|it| it.place.is_none()) {
        place_run_properties(model, &mut traces)?;
    }
    Ok(BoundedCheckResult { properties, traces })
}

impl LocatedTrace {
    /// Returns the number of steps after the initial state.
    pub(super) fn depth(&self) -> usize {
        self.explored.trace.as_ref().map_or(0, |it| it.choices.len() - 1)
    }

    fn of(job: &SearchJob, found: &FoundTrace<'_>) -> LocatedTrace {
        let sources = found.model.sources();
        let mut steps = Vec::new();
        for (number, step) in found.steps.iter().enumerate() {
            let place = step.spans.first().and_then(|it| location_of(sources, *it));
            steps.push(LocatedStep { number: Some(number), title: step.title(), place });
            if let StepOutcome::Fault(fault) = &step.outcome {
                let (title, place) = (fault.title(), location_of(sources, fault.span));
                steps.push(LocatedStep { number: None, title, place });
                let call = |it: &CallSite| LocatedStep {
                    number: None,
                    title: format!("call of {}", it.function),
                    place: location_of(sources, it.span),
                };
                steps.extend(fault.calls.iter().take(CALLS_MAX).map(call));
            }
        }
        let place = violated_span(found).and_then(|it| location_of(sources, it));
        let trace = Some(ExploredTrace::of(found));
        let explored = ExploredModel { job: job.clone(), trace, dir: None };
        let (to, loop_start) = (found.to.clone(), found.loop_start);
        LocatedTrace { to, place, steps, loop_start, explored }
    }
}

/// Sets the positions of the violated temporal properties. The model of such a search has an automaton in place of the
/// property.
fn place_run_properties(model: &EditedModel, traces: &mut [LocatedTrace]) -> Result<(), Error> {
    let reading = model.read(&CheckConfig::default())?;
    let symbols = reading.symbols.unwrap_or_default();
    for trace in traces.iter_mut().filter(|it| it.place.is_none()) {
        let is_violated = |it: &&ModelSymbol| {
            matches!(it.kind, SymbolKind::RunProperty(_)) && it.name == trace.to
        };
        let span = symbols.iter().find(is_violated).map(|it| it.span);
        trace.place = span.and_then(|it| location_of(&reading.sources, it));
    }
    Ok(())
}

/// Returns the position of a violation: that of the property, or of the failing expression in the last step.
fn violated_span(found: &FoundTrace<'_>) -> Option<Span> {
    if let Some(StepOutcome::Fault(fault)) = found.steps.last().map(|it| &it.outcome) {
        return Some(fault.span);
    }
    let properties = found.walked.properties();
    let is_violated = |it: &&PropertyInfo| format!("{}: {}", it.kind, it.name) == found.to;
    properties.iter().find(is_violated).map(|it| it.span)
}

impl BoundedCheckResult {
    /// Returns the result as one sentence about the model of this name.
    pub(super) fn sentence(&self, name: &str) -> String {
        let count = |verdict| self.properties.iter().filter(|it| it.verdict == verdict).count();
        let titles = |verdict| {
            let all = self.properties.iter().filter(|it| it.verdict == verdict);
            all.map(PropertyJudgement::title).collect::<Vec<_>>().join(", ")
        };
        let verdict = overall_verdict(&self.properties).name();
        match (count(PropertyVerdict::Violated), count(PropertyVerdict::Open)) {
            (0, 0) => format!("{name}: {verdict}: {}", titles(PropertyVerdict::Held)),
            (0, _) => format!(
                "{name}: {verdict}: the check ended at its bounds, before these were decided: {}",
                titles(PropertyVerdict::Open)
            ),
            _ => format!("{name}: {verdict}: {}", titles(PropertyVerdict::Violated)),
        }
    }
}
