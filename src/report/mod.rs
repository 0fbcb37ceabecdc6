//! Telling what a search found: as text for people, as JSON for programs.

mod answers;
mod changes;
mod chart;
#[cfg(feature = "cli")]
mod contest;
mod counterexample_end;
mod coverage;
mod cycle;
mod disabled;
mod final_state;
mod folding;
#[cfg(feature = "cli")]
mod formats;
mod json;
mod judgement;
mod lasso;
#[cfg(feature = "cli")]
mod page;
mod refusals;
mod scope;
mod steps;
mod table;
mod text;
mod values;

pub use crate::numbers::{count, grouped};
pub use changes::{print_changes, print_state};
#[cfg(feature = "cli")]
pub use contest::{contest_line, contest_lines, contest_space, truth};
pub use counterexample_end::CounterexampleEnd;
pub use coverage::{ActionCoverage, coverage};
pub use final_state::FinalStateView;
#[cfg(feature = "cli")]
pub use formats::{
    FailureReport, TraceFormat, format_counterexample, format_run, junit, junit_of_failure, sarif,
    sarif_of_failure,
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
    AnnotatedSources, PanelStatus, RenderedPage, ReportPage, StateDiagram, StateDiagramEdge,
    StatusPanel, TraceView, overview,
};
pub use refusals::print_refusal;
pub use scope::{CheckScope, UncheckedSpec};
pub use steps::{TraceDisplayOptions, call_lines};
pub use table::{row, wrapped};
pub use text::{
    print_compiled, print_next, print_result, print_scope, print_shortened, print_unchecked,
    print_verdict, print_violated, write_trace,
};
pub use values::print_values;

use crate::exec::{CompilationStats, InterpretationReason};
use crate::ir::StateCondition;
use crate::model::{
    FaultKind, PropertyInfo, RuntimeFault, StateSpace, StateValue, StepDescription, StepOutcome,
    SystemDescription, Violation, is_reachability_kind, preserves_depth,
};
use crate::reduce::{PreservedProperties, PropertyClass, ReductionRefusal, ReductionSummary};
use crate::search::checkpoint::DiskFigures;
use crate::search::comback::RebuildStats;
use crate::search::store_stats::StorePart;
use crate::search::trace::{Counterexample, find_faulty_step};
use crate::search::{SearchLimits, SearchOutcome, SearchVerdict};
use crate::source::{SourceLocation, SourceMap, Span};
use rkyv::{Archive, Deserialize, Serialize};

/// What is in the place of a language where the model is a Rust type.
pub const RUST: &str = "rust";

/// A state as the user's variables, each with its name.
type NamedValues = [(String, StateValue)];

/// Something that is so in some state, as it should.
struct CoverWitness {
    check: Violation,
    /// `sometimes` or `cover`.
    kind: &'static str,
    name: String,
    /// In how many of the states that were visited.
    states: u64,
    /// Steps to the first of them.
    depth: u64,
}

/// A search and all that is told about it.
pub struct Report<'a> {
    /// The model's file.
    pub model_name: &'a str,
    /// Its language.
    pub language: &'a str,
    /// How the order of its variables in a state was chosen: `declared`, `static`, `sampled`.
    pub key_order: &'a str,
    /// How states are stored: `sorted`, `raw`, `rle`, `huffman`, `comback`.
    pub store: &'a str,
    /// What each part of the store takes; nothing if there is no store yet.
    pub parts: &'a [StorePart],
    /// What was done to rebuild states, if they are.
    pub rebuilt: Option<RebuildStats>,
    /// What compiling it gave, or why it was interpreted; nothing if it was not run.
    pub compiled: Option<Result<CompilationStats, &'a InterpretationReason>>,
    /// The model, as it was searched.
    pub model: &'a dyn StateSpace,
    /// How fewer states were visited: `symmetry exact`.
    pub reductions: Vec<ReductionSummary>,
    /// Those that were asked for, or tried, and are not used.
    pub unused: Vec<ReductionRefusal>,
    /// The never claim that it was searched with.
    pub claim: Option<&'a str>,
    /// Its texts.
    pub sources: &'a SourceMap,
    /// The conditions on states that were checked beside its own properties.
    pub conditions: &'a [StateCondition],
    /// What was looked for.
    pub limits: &'a SearchLimits,
    /// The same in words, with what was not.
    pub scope: &'a CheckScope,
    /// What was found.
    pub outcome: &'a SearchOutcome,
    /// Seconds of searching, all sittings together.
    pub seconds: f64,
    /// The most bytes resident in this process.
    pub peak_rss_bytes: u64,
    /// What came of searching for a shorter counterexample; nothing if that was not done.
    pub shortened: Option<ShorteningResult>,
    /// What came of what is said to be so eventually.
    pub eventually: Vec<EventuallyResult>,
    /// What was asked beside conditions on states.
    pub further: Vec<StateSpaceAnswer>,
    /// What was asked of the disk.
    pub disk: DiskFigures,
    /// The bytes on disk now.
    pub store_bytes: u64,
    /// The search directory, if it is kept.
    pub dir: Option<String>,
    /// Commands that show more of the counterexample.
    pub next: Vec<String>,
}

impl Report<'_> {
    /// The answer, with what was said of runs.
    pub fn verdict(&self) -> SearchVerdict {
        EventuallyResult::verdict_with(self.outcome.verdict, &self.eventually)
    }

    /// What is so in some state, as it should.
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

    /// What counts as a violation, shallowest first.
    pub fn violations(&self) -> Vec<ViolationReport> {
        let preserved = self.reductions.iter().map(|it| it.preserves);
        let preserved = preserved.fold(PreservedProperties::ALL, PreservedProperties::and);
        violations(self.model, preserved, self.sources, self.limits, self.outcome)
    }
}

/// Something that was asked beside conditions on states, and the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSpaceAnswer {
    /// What it is called.
    pub name: String,
    /// The answer.
    pub result: StateSpaceResult,
}

/// The answer to something that was asked beside conditions on states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateSpaceResult {
    /// What variables come to at most in all states, their numbers added up; nothing where there is no number.
    UpperBound(Option<i64>),
    /// Whether a formula holds.
    Holds(bool),
    /// There is no answer, for this reason.
    Open(String),
}

/// Something that is said to be so eventually.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct EventuallyResult {
    /// What it is called.
    pub name: String,
    /// Whether it is not known yet.
    pub is_open: bool,
    /// Of a run that never comes to it, if there is one: the steps before it repeats, and those that repeat.
    pub broken: Option<(u64, u64)>,
}

impl EventuallyResult {
    /// The answer of a search of all states with this verdict, with what was said of runs.
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

    /// What came of it, in a line.
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

/// What came of searching for a shorter counterexample than the one found: with all steps, where it was found with steps put
/// off, or among the runs nearer than it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShorteningResult {
    /// The steps to what was found first, at most.
    pub below: u64,
    /// The states that were visited for that.
    pub states: u64,
    /// The fewest steps to a violation found then, if one was.
    pub depth: Option<u64>,
    /// Whether it is known now what the least number of steps is.
    pub is_done: bool,
}

/// Something found wrong, as reports tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolationReport {
    /// What was violated.
    pub check: Violation,
    /// `deadlock`, `assert`, `invariant`, `claim` or `error`.
    pub kind: &'static str,
    /// The property's name, or the sort of error.
    pub name: String,
    /// Steps of a shortest way there, a faulty one included; where steps were put off, no less than that.
    pub depth: u64,
    /// Whether it is that of a shortest way.
    pub shortest: bool,
    /// Whether that is a number of levels, and several steps may lead from one to the next: a way has as many steps
    /// or more.
    pub in_levels: bool,
    /// How many states, or faulty steps, were found.
    pub count: u64,
    /// Where it stands in the source, if it stands anywhere.
    pub place: Option<SourceLocation>,
}

impl ViolationReport {
    /// Whether there is a way to it: none leads to what should be so in some state, and is in none.
    pub fn has_trace(&self) -> bool {
        self.count > 0
    }

    /// How often it was found, if that is more than once, behind what is told of one.
    fn all(&self) -> String {
        let what = match self.check {
            Violation::Fault(..) => "faulty steps",
            Violation::Deadlock | Violation::Property(_) => "such states",
        };
        match self.count {
            1 => String::new(),
            all => format!("; {} {what} found", grouped(all)),
        }
    }

    /// The same as it is at the end of a way there: of processes that are exchanged it may be another's than
    /// was found.
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

/// What a violation is called, and where it stands.
struct ViolationLabel {
    kind: &'static str,
    name: String,
    place: Option<SourceLocation>,
}

impl ViolationLabel {
    /// Of a model that explains itself; `step` is the faulty one, if it is one that is at fault.
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
                        // What an error statement says is what the model calls the error.
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

/// What an error is in: the property that is judged, or the action; of one that is several statements in braces, the one
/// that fails.
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

/// What counts as a violation, shallowest first, in a model by reductions that preserve so much.
pub fn violations(
    model: &dyn StateSpace,
    preserved: PreservedProperties,
    sources: &SourceMap,
    limits: &SearchLimits,
    outcome: &SearchOutcome,
) -> Vec<ViolationReport> {
    let in_levels = !preserves_depth(model);
    let is_whole = model.capabilities().postponing.is_none() && preserved.has(PropertyClass::Depth);
    let shortest = is_whole && !in_levels;
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
            let count = finding.count;
            ViolationReport { check, kind, name, depth, shortest, in_levels, count, place }
        })
        .collect();
    all.sort_by_key(|violation| (violation.depth, violation.check));
    // A search that ended before has not seen all states.
    if outcome.verdict == SearchVerdict::Violated && (all.is_empty() || !limits.stop_on_violation) {
        let missing = limits.checks.unreached_properties(model, &outcome.findings).into_iter();
        all.extend(missing.map(|check| {
            let ViolationLabel { kind, name, place } =
                ViolationLabel::new(model.description(), check, None, sources);
            let (depth, shortest, in_levels, count) = (0, true, false, 0);
            ViolationReport { check, kind, name, depth, shortest, in_levels, count, place }
        }));
    }
    all
}
