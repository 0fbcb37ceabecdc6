//! Reports of search results: text for people, JSON for programs.

mod answers;
mod changes;
mod chart;
mod constraints;
#[cfg(feature = "cli")]
mod contest;
mod counterexample_end;
mod coverage;
mod cycle;
#[cfg(feature = "cli")]
mod difference;
mod disabled;
#[cfg(feature = "cli")]
mod evaluations;
mod final_state;
mod folding;
#[cfg(feature = "cli")]
mod formats;
mod json;
mod judgement;
mod lasso;
#[cfg(feature = "cli")]
mod page;
mod position_names;
#[cfg(feature = "languages")]
mod program_scope;
mod refusals;
mod scope;
#[cfg(feature = "languages")]
mod specification_scope;
mod steps;
mod table;
mod text;
mod values;
#[cfg(feature = "cli")]
mod walk_chart;
#[cfg(feature = "cli")]
mod walked_steps;

pub use crate::numbers::{count, grouped};
pub use changes::{print_changes, print_state};
pub use constraints::{SearchConstraint, constraint_rows, constraints};
#[cfg(feature = "cli")]
pub use contest::{contest_line, contest_lines, contest_space, truth};
pub use counterexample_end::CounterexampleEnd;
pub use coverage::{ActionCoverage, coverage};
#[cfg(feature = "cli")]
pub use difference::{
    ComparedStep, ComparedTrace, TraceDifference, difference_as_json, find_difference,
    print_difference,
};
#[cfg(feature = "cli")]
pub use evaluations::{EvaluatedTrace, evaluations_as_json, print_evaluations};
pub use final_state::FinalStateView;
#[cfg(feature = "cli")]
pub use formats::{
    FailureReport, TraceFormat, format_counterexample, format_run, format_steps, junit,
    junit_of_failure, sarif, sarif_of_failure,
};
pub use json::{
    promise_as_json, result_as_json, scope as scope_as_json, shortening_as_json, unchecked_as_json,
    write_result as write_json_result, write_trace as write_json_trace,
};
#[cfg(feature = "cli")]
pub use judgement::{JudgementReport, judgement_as_json, of_runs as judgements_of_runs};
pub use judgement::{
    PropertyJudgement, PropertyVerdict, judgements, merge_judgements, overall_verdict,
    sort_violated_first,
};
pub use lasso::{ViolatingRun, ViolatingRunEnd};
#[cfg(feature = "cli")]
pub use page::{
    AnnotatedSources, ExploredBreakpoint, ExploredBreakpoints, ExploredProperty, ExploredStep,
    ExplorerForm, ExplorerLink, ExplorerPage, LineBreakpoint, PanelStatus, RenderedPage,
    ReportPage, RunWay, StateDiagram, StateDiagramEdge, StatusPanel, TraceView, explorer_refusal,
    overview,
};
pub use refusals::print_refusal;
pub use scope::{CheckScope, ConfiguredConstraint, UncheckedSpec};
pub use steps::{TraceDisplayOptions, call_lines};
pub use table::{row, wrapped};
pub use text::{
    print_compiled, print_next, print_result, print_scope, print_shortened, print_unchecked,
    print_verdict, print_violated, print_violation, write_trace,
};
pub use values::print_values;
#[cfg(feature = "cli")]
pub use walk_chart::WalkChart;
#[cfg(feature = "cli")]
pub use walked_steps::WalkedSteps;

use crate::model::{
    CompilationStats, EndViolation, FaultKind, InterpretationReason, POSTCONDITION,
    PreservedProperties, PropertyClass, PropertyInfo, ReductionRefusal, ReductionSummary,
    RuntimeFault, StateCondition, StateSpace, StateValue, StepDescription, StepOutcome,
    SystemDescription, TrialOutcome, Violation, is_reachability_kind, preserves_depth,
};
use crate::search::checkpoint::DiskFigures;
use crate::search::comback::RebuildStats;
use crate::search::store_stats::StorePart;
use crate::search::trace::{Counterexample, find_faulty_step};
use crate::search::{SearchLimits, SearchOutcome, SearchVerdict};
use crate::source::{SourceLocation, SourceMap, Span};
use rkyv::{Archive, Deserialize, Serialize};

/// The language name of a model that is a Rust type.
pub const RUST: &str = "rust";

/// A state as the user's variables, each with its name.
type NamedValues = [(String, StateValue)];

/// A witness of a reachability property.
struct CoverWitness {
    check: Violation,
    /// `sometimes` or `cover`.
    kind: &'static str,
    name: String,
    /// The number of visited states that satisfy the property.
    states: u64,
    /// The depth of the first of them.
    depth: u64,
}

/// A search and its results, as reports need them.
pub struct Report<'a> {
    /// The name of the model's file.
    pub model_name: &'a str,
    /// The name of its language.
    pub language: &'a str,
    /// The name of its key order: `declared`, `static`, `sampled`.
    pub key_order: &'a str,
    /// The storage of states: `sorted`, `raw`, `rle`, `huffman`, `comback`.
    pub store: &'a str,
    /// The sizes of the parts of the store. Empty if there is no store yet.
    pub parts: &'a [StorePart],
    /// The work of reconstructing states, if the storage does that.
    pub rebuilt: Option<RebuildStats>,
    /// The result of compilation, or why the model was interpreted. `None` if it was not executed.
    pub compiled: Option<Result<CompilationStats, InterpretationReason>>,
    /// The model that was searched.
    pub model: &'a dyn StateSpace,
    /// The reductions in use: `symmetry exact`.
    pub reductions: Vec<ReductionSummary>,
    /// The reductions that were requested or tried, and are not used.
    pub unused: Vec<ReductionRefusal>,
    /// The decision of the trial of reductions.
    pub trial: TrialOutcome,
    /// The never claim of the search.
    pub claim: Option<&'a str>,
    /// The source texts of the model.
    pub sources: &'a SourceMap,
    /// The conditions on states that were checked in addition to the model's own properties.
    pub conditions: &'a [StateCondition],
    /// The checks and the stop conditions.
    pub limits: &'a SearchLimits,
    /// The checked and the unchecked properties, in words.
    pub scope: &'a CheckScope,
    /// The results.
    pub outcome: &'a SearchOutcome,
    /// The seconds of searching in all sessions.
    pub seconds: f64,
    /// The peak resident memory of this process in bytes.
    pub peak_rss_bytes: u64,
    /// The result of the search for a shorter counterexample. `None` if there was none.
    pub shortened: Option<ShorteningResult>,
    /// The verdicts on `eventually` properties.
    pub eventually: Vec<EventuallyResult>,
    /// The answers to questions other than conditions on states.
    pub further: Vec<StateSpaceAnswer>,
    /// The input and output on disk.
    pub disk: DiskFigures,
    /// The current bytes on disk.
    pub store_bytes: u64,
    /// The search directory, if it is kept.
    pub dir: Option<String>,
    /// Commands that show more of the counterexample.
    pub next: Vec<String>,
}

impl Report<'_> {
    /// Returns the verdict, including that on `eventually` properties.
    pub fn verdict(&self) -> SearchVerdict {
        EventuallyResult::verdict_with(self.outcome.verdict, &self.eventually)
    }

    /// Returns the number of generated states, if users of the language compare it.
    fn generated(&self) -> Option<u64> {
        self.model.description().counts_generated_states().then(|| self.outcome.generated())
    }

    /// Returns the witnesses of reachability properties.
    fn examples(&self) -> Vec<CoverWitness> {
        let properties = self.model.description().properties().into_iter().zip(0..);
        let wanted = properties.filter(|(it, _)| is_reachability_kind(it.kind));
        let found = wanted.filter_map(|(it, number)| {
            let check = Violation::Property(number);
            let found = self.outcome.findings.get(check)?;
            let depth = found.level;
            Some(CoverWitness { check, kind: it.kind, name: it.name, states: found.count, depth })
        });
        found.collect()
    }

    /// Returns the constraints that bound the search.
    pub fn constraints(&self) -> impl Iterator<Item = SearchConstraint<'_>> {
        constraints(self.conditions, self.scope)
    }

    /// Returns the violations, shallowest first.
    pub fn violations(&self) -> Vec<ViolationReport> {
        let preserved = self.reductions.iter().map(|it| it.preserves);
        let preserved = preserved.fold(PreservedProperties::ALL, PreservedProperties::and);
        violations(self.model, preserved, self.sources, self.limits, self.outcome)
    }
}

/// A question other than a condition on states, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSpaceAnswer {
    /// The name.
    pub name: String,
    /// The answer.
    pub result: StateSpaceResult,
}

/// The answer to a question other than a condition on states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSpaceResult {
    /// The maximum over all states of the sum of some variables. `None` if there is no number.
    UpperBound(Option<i64>),
    /// Whether a formula holds.
    Holds(bool),
    /// Unknown, for this reason.
    Open(String),
}

/// The verdict on an `eventually` property.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct EventuallyResult {
    /// The name.
    pub name: String,
    /// Whether the property is undecided.
    pub is_open: bool,
    /// The lengths of the stem and of the cycle of a violating run, if there is one.
    pub broken: Option<(u64, u64)>,
}

impl EventuallyResult {
    /// Combines the verdict on all states with the verdicts on `eventually` properties.
    pub fn verdict_with(states: SearchVerdict, promises: &[EventuallyResult]) -> SearchVerdict {
        match states {
            SearchVerdict::Verified if promises.iter().any(|it| it.broken.is_some()) => {
                SearchVerdict::Violated
            }
            SearchVerdict::Verified if promises.iter().any(|it| it.is_open) => {
                SearchVerdict::Incomplete
            }
            verdict => verdict,
        }
    }

    /// Returns the verdict as a line.
    pub fn summary(&self) -> String {
        let name = &self.name;
        match self.broken {
            Some((stem, cycle)) => {
                format!("{name}: violated, after {}", lasso::length(stem, cycle))
            }
            None if self.is_open => {
                format!("{name}: decided by the program that created this directory")
            }
            None => format!("{name}: holds"),
        }
    }
}

/// The result of the search for a shorter counterexample: after a search with postponed transitions, one with all
/// transitions; for a lasso, one among the shorter runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShorteningResult {
    /// The upper bound: the number of steps of the first counterexample.
    pub below: u64,
    /// The number of states that were visited.
    pub states: u64,
    /// The number of steps of the shortest violation found, if there is one.
    pub depth: Option<u64>,
    /// Whether the minimum number of steps is now known.
    pub is_done: bool,
}

/// A violation, as reports present it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolationReport {
    /// The violated check.
    pub check: Violation,
    /// `deadlock`, `assert`, `invariant`, `claim` or `error`.
    pub kind: &'static str,
    /// The property's name, or the kind of error.
    pub name: String,
    /// The number of steps of a shortest path, a failing one included. With postponed transitions it is an upper
    /// bound.
    pub depth: u64,
    /// Whether `depth` is that of a shortest path.
    pub shortest: bool,
    /// Whether `depth` counts levels that may consist of several steps. The path then has at least as many steps.
    pub in_levels: bool,
    /// The number of violating states or failing steps.
    pub count: u64,
    /// The position in the source, if there is one.
    pub place: Option<SourceLocation>,
}

impl ViolationReport {
    /// Returns whether there is a path to the violation. There is none for a property that is decided after all states
    /// have been visited: a reachability property, or a property of counts.
    pub fn has_trace(&self) -> bool {
        self.count > 0
    }

    /// Returns where the violation is, if there is no path to it.
    fn place_without_trace(&self) -> &'static str {
        match self.kind {
            POSTCONDITION => "after the search",
            _ => "in no reachable state",
        }
    }

    /// Formats the number of violations, if it is above one, as a suffix.
    fn all(&self) -> String {
        let what = match self.check {
            Violation::Fault(..) => "failing steps",
            Violation::Deadlock | Violation::Property(_) => "such states",
        };
        match self.count {
            1 => String::new(),
            all => format!("; {} {what} found", grouped(all)),
        }
    }

    /// Returns the violation at the end of a path to it. With symmetry of processes it may be that of another process.
    fn at_end_of(&self, way: &Counterexample, sources: &SourceMap) -> ViolationReport {
        if way.check() == self.check {
            return self.clone();
        }
        let (check, step) = (way.check(), way.faulty_step());
        let ViolationLabel { kind, name, place } =
            ViolationLabel::new(way.explained(), check, step, sources);
        ViolationReport { check, kind, name, place, ..self.clone() }
    }
}

/// The name and the position of a violation.
struct ViolationLabel {
    kind: &'static str,
    name: String,
    place: Option<SourceLocation>,
}

impl ViolationLabel {
    /// Creates the label from a model that describes itself. `step` is the failing step, if there is one.
    fn new(
        model: &dyn SystemDescription,
        check: Violation,
        step: Option<StepDescription>,
        sources: &SourceMap,
    ) -> ViolationLabel {
        match check {
            Violation::Deadlock => {
                ViolationLabel { kind: "deadlock", name: "no successor".to_string(), place: None }
            }
            Violation::Property(number) => {
                let known = model.property(number);
                let info = known.unwrap_or_else(|| unreachable!("findings are of properties"));
                let place = sources.place(info.span);
                ViolationLabel { kind: info.kind, name: info.name, place }
            }
            Violation::Fault(kind, action) => {
                let fault = step.and_then(|step| match step.outcome {
                    StepOutcome::Fault(fault) => Some(fault),
                    StepOutcome::Successor(_) => None,
                });
                let place = fault.as_ref().and_then(|it| sources.place(it.span));
                let name = match fault {
                    // A Rust type has no other name for it.
                    Some(RuntimeFault { message, .. })
                        if place.is_none() && kind == FaultKind::Error =>
                    {
                        message
                    }
                    fault => {
                        let span = fault.as_ref().map_or(Span::default(), |it| it.span);
                        let at = at_fault(model, action, sources.text(span));
                        // The text of an error statement is the model's name of the error.
                        let said = fault.filter(|_| kind == FaultKind::Error);
                        let said = said.map(|it| it.message).filter(|it| !it.trim().is_empty());
                        let what = said.unwrap_or_else(|| kind.name().to_owned());
                        format!("{what} in {at}")
                    }
                };
                ViolationLabel { kind: kind.violation(), name, place }
            }
        }
    }
}

/// Returns where an error is: the evaluated property, or the action. For an action of several statements in braces, it
/// is the failing statement.
fn at_fault(model: &dyn SystemDescription, action: u32, failed: &str) -> String {
    let judged = model.property_judged_by(action).and_then(|number| model.property(number));
    if let Some(PropertyInfo { kind, name, .. }) = judged {
        return format!("{kind} {name}");
    }
    let name = model.action_name(action);
    match name.split_once('{') {
        Some((before, _)) if !failed.is_empty() => {
            let process =
                before.split_once(": ").map_or(String::new(), |it| it.0.to_owned() + ": ");
            let words: Vec<&str> = failed.split_whitespace().collect();
            process + &words.join(" ")
        }
        _ => name,
    }
}

/// Returns the violations, shallowest first. `preserved` says which properties the reductions preserve.
pub fn violations(
    model: &dyn StateSpace,
    preserved: PreservedProperties,
    sources: &SourceMap,
    limits: &SearchLimits,
    outcome: &SearchOutcome,
) -> Vec<ViolationReport> {
    let in_levels = !preserves_depth(model);
    let is_whole = model.capabilities().postponing.is_none() && preserved.has(PropertyClass::Depth);
    let may_be_longer =
        |check| outcome.hunted.as_ref().is_some_and(|it| it.check == check && !it.is_shortest);
    let mut all: Vec<ViolationReport> = outcome
        .findings
        .iter()
        .filter(|(check, _)| limits.checks.selects(model, *check))
        .map(|(check, finding)| {
            let mut depth = finding.level;
            let found = match check {
                Violation::Fault(..) => {
                    find_faulty_step(model, check, finding.level, &finding.witness)
                }
                Violation::Deadlock | Violation::Property(_) => None,
            };
            if matches!(check, Violation::Fault(..)) {
                let at_start = found.as_ref().is_some_and(|(_, at_start)| *at_start);
                depth += u64::from(!at_start);
            }
            let step = found.map(|(step, _)| step);
            let ViolationLabel { kind, name, place } =
                ViolationLabel::new(model.description(), check, step, sources);
            let (count, shortest) =
                (finding.count, is_whole && !in_levels && !may_be_longer(check));
            ViolationReport { check, kind, name, depth, shortest, in_levels, count, place }
        })
        .collect();
    all.sort_by_key(|violation| (violation.depth, violation.check));
    // An incomplete search has not visited all states.
    if outcome.verdict == SearchVerdict::Violated && (all.is_empty() || !limits.stop_on_violation) {
        let at_end = limits.checks.violated_at_end(model, outcome).into_iter();
        all.extend(at_end.map(|EndViolation { property, failure }| {
            let check = Violation::Property(property);
            let ViolationLabel { kind, name, place } =
                ViolationLabel::new(model.description(), check, None, sources);
            let name = match failure {
                Some(failure) => format!("{name}: {failure}"),
                None => name,
            };
            let (depth, shortest, in_levels, count) = (0, true, false, 0);
            ViolationReport { check, kind, name, depth, shortest, in_levels, count, place }
        }));
    }
    all
}
