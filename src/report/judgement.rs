//! What came of each thing that was looked for, one by one, as tools of continuous integration want it.

use super::coverage::is_whole;
use super::page::Way;
use super::{Report, Verdict, ViolationReport};
use crate::exec::{TRACE, Violation};
use crate::numbers::count;
use crate::source::Place;

/// What came of something that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is so.
    Held,
    /// It is not, and where that was found.
    Violated,
    /// The search has not come to its end.
    Open,
    /// It was not looked for.
    Unchecked,
}

/// Something that was looked for, and what came of it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// `deadlock`, `assert`, `invariant`, `error`, `property`, ...
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// Where it stands, if it stands anywhere.
    pub place: Option<Place>,
    /// What came of it.
    pub came: Came,
    /// In words.
    pub says: String,
    /// Whether it is this that the counterexample is for.
    pub has_way: bool,
}

impl Judgement {
    /// What came of a property of runs: in words, where it is not known to hold.
    pub fn of_runs(name: &str, came: Came, says: &str) -> Judgement {
        let (kind, name, says) = (PROPERTY.to_owned(), name.to_owned(), says.to_owned());
        Judgement { kind, name, place: None, came, says, has_way: came == Came::Violated }
    }

    /// What it is called, with its kind.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.kind, self.name)
    }
}

/// The kind of what is said of whole runs.
const PROPERTY: &str = "property";

/// All that was looked for.
pub struct Judgements {
    /// The model's name.
    pub model: String,
    /// Seconds of searching.
    pub seconds: f64,
    /// One by one, what is violated first.
    pub all: Vec<Judgement>,
    /// The whole report as text.
    pub told: String,
    /// The counterexample that is shown.
    pub way: Option<Way>,
}

/// What is looked for in all states and steps: as scopes call it, the kind of its violations, and what it is called where
/// there is none.
const EVERYWHERE: [(&str, &str, &str); 4] = [
    ("deadlocks", "deadlock", "no state without successor"),
    ("assertions", "assert", "no assertion fails"),
    ("trace", TRACE, "every event is allowed"),
    ("run-time errors", "error", "no run-time error"),
];

impl Judgements {
    /// Those of a report, with the counterexample to one of its violations, and the whole as text.
    pub fn of(report: &Report, shown: Option<(Violation, Way)>, told: String) -> Judgements {
        let (came, says) = match (report.verdict(), is_whole(report)) {
            (_, true) => (Came::Held, ""),
            (Verdict::Violated, false) => (Came::Open, "the search ended at a violation"),
            (_, false) => (Came::Open, "the search has not come to its end"),
        };
        let judged = |kind: &str, name: &str, place| {
            let (kind, name, says) = (kind.to_owned(), name.to_owned(), says.to_owned());
            Judgement { kind, name, place, came, says, has_way: false }
        };
        let violations = report.violations();
        let is_shown = |it: &ViolationReport| shown.as_ref().is_some_and(|(at, _)| *at == it.check);
        let mut all: Vec<Judgement> =
            violations.iter().map(|it| Judgement::of_violation(it, is_shown(it))).collect();
        let (checks, model) = (&report.limits.checks, report.model);
        for (property, number) in model.explained().properties().iter().zip(0..) {
            let check = Violation::Property(number);
            let is_told = violations.iter().any(|it| it.check == check);
            if checks.looks_for(property.kind) && !is_told {
                let place = report.sources.place(property.span);
                all.push(judged(property.kind, &property.name, place));
            }
        }
        for (word, kind, name) in EVERYWHERE {
            let is_wanted = report.scope.checked.iter().any(|it| it == word);
            if is_wanted && violations.iter().all(|it| it.kind != kind) {
                all.push(judged(kind, name, None));
            }
        }
        let known = report.scope.known.iter();
        all.extend(known.map(|name| Judgement::of_runs(name, Came::Held, "")));
        all.extend(report.scope.unchecked.iter().map(|it| Judgement {
            place: it.place.clone(),
            came: Came::Unchecked,
            says: "it was not looked for".to_owned(),
            ..judged(it.what, &it.name, None)
        }));
        let (model, seconds) = (report.model_name.to_owned(), report.seconds);
        Judgements { model, seconds, all, told, way: shown.map(|it| it.1) }
    }
}

impl Judgement {
    fn of_violation(violation: &ViolationReport, has_way: bool) -> Judgement {
        let ViolationReport { kind, name, place, depth, .. } = violation.clone();
        let says = match violation.has_a_way() {
            true => format!("violated after {}", count(depth, "step")),
            false => "it is so in no state".to_owned(),
        };
        Judgement { kind: kind.to_owned(), name, place, came: Came::Violated, says, has_way }
    }
}
