//! The verdict on each property, as continuous integration tools need it.
//!
//! A property has the same identifier for every verdict, so that such a tool can follow it from one run to the next.

#[cfg(feature = "cli")]
use super::CheckScope;
use super::coverage::is_whole;
#[cfg(feature = "cli")]
use super::page::TraceView;
use super::{Report, SearchVerdict, UncheckedSpec, ViolationReport};
use crate::model::{ACCEPTANCE, NON_PROGRESS, POSTCONDITION};
use crate::model::{PropertyInfo, SystemDescription, TRACE, Violation};
use crate::numbers::count;
use crate::source::{SourceLocation, SourceMap};
#[cfg(feature = "cli")]
use serde_json::{Value, json};

/// The verdict on a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyVerdict {
    /// It holds.
    Held,
    /// It is violated.
    Violated,
    /// The search is not complete.
    Open,
    /// It was not checked.
    Unchecked,
}

impl From<SearchVerdict> for PropertyVerdict {
    /// Converts the verdict of a search of one property.
    fn from(verdict: SearchVerdict) -> PropertyVerdict {
        match verdict {
            SearchVerdict::Verified => PropertyVerdict::Held,
            SearchVerdict::Violated => PropertyVerdict::Violated,
            SearchVerdict::Incomplete => PropertyVerdict::Open,
        }
    }
}

impl PropertyVerdict {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            PropertyVerdict::Held => "verified",
            PropertyVerdict::Violated => "violated",
            PropertyVerdict::Open => "incomplete",
            PropertyVerdict::Unchecked => "unchecked",
        }
    }
}

/// A property and its verdict.
#[derive(Clone, Debug)]
pub struct PropertyJudgement {
    /// The identifier, stable over runs and unique in a list: `deadlock`, `assert`, `invariant/low`, `ltl/ends`.
    pub id: String,
    /// The kind: `deadlock`, `assert`, `error`, `invariant`, `ltl`, ...
    pub kind: String,
    /// The name.
    pub name: String,
    /// The position in the source, if there is one.
    pub place: Option<SourceLocation>,
    /// The verdict.
    pub verdict: PropertyVerdict,
    /// Why it is not known whether the property holds, if so.
    pub says: String,
    /// The violations.
    pub breaches: Vec<PropertyBreach>,
}

/// A violation of a property.
#[derive(Clone, Debug)]
pub struct PropertyBreach {
    /// The violation, if the property forbids a whole kind: `assertion failed in P: assert(x < 3)`.
    pub what: Option<String>,
    /// When the property is violated, in words.
    pub says: String,
    /// The position in the source, if there is one.
    pub place: Option<SourceLocation>,
    /// Whether the counterexample belongs to this violation.
    pub has_trace: bool,
}

impl PropertyJudgement {
    /// Creates a judgement of a property by kind and name.
    fn of(
        kind: &str,
        name: &str,
        place: Option<SourceLocation>,
        verdict: PropertyVerdict,
        says: &str,
    ) -> PropertyJudgement {
        let is_one = [ACCEPTANCE.0, NON_PROGRESS.0].contains(&kind);
        let id = kind.replace(' ', "-");
        PropertyJudgement {
            id: if is_one { id } else { format!("{id}/{name}") },
            kind: kind.to_owned(),
            name: name.to_owned(),
            place,
            verdict,
            says: says.to_owned(),
            breaches: Vec::new(),
        }
    }

    /// Creates the judgement of a temporal property.
    pub fn of_runs(kind: &str, name: &str, came: PropertyVerdict) -> PropertyJudgement {
        let says = if came == PropertyVerdict::Open { NOT_ENDED } else { "" };
        let breach = || PropertyBreach {
            what: None,
            says: "a run does not have it".to_owned(),
            place: None,
            has_trace: true,
        };
        let breaches = (came == PropertyVerdict::Violated).then(breach).into_iter().collect();
        PropertyJudgement { breaches, ..PropertyJudgement::of(kind, name, None, came, says) }
    }

    /// Creates the judgement of a property of the model that was not checked.
    fn of_missed(missed: &UncheckedSpec) -> PropertyJudgement {
        let (kind, name) = missed.property();
        PropertyJudgement::of(
            kind,
            name,
            missed.place.clone(),
            PropertyVerdict::Unchecked,
            NOT_CHECKED,
        )
    }

    /// Creates the judgement of a general property.
    fn of_general(
        general: &GeneralProperty,
        came: PropertyVerdict,
        says: &str,
    ) -> PropertyJudgement {
        let id = general.kind.to_owned();
        PropertyJudgement {
            id,
            ..PropertyJudgement::of(general.kind, general.name, None, came, says)
        }
    }

    /// Returns the kind and the name.
    pub fn title(&self) -> String {
        format!("{}: {}", self.kind, self.name)
    }

    /// Returns the kind and the violation.
    #[cfg(feature = "cli")]
    pub(super) fn title_of(&self, breach: &PropertyBreach) -> String {
        format!("{}: {}", self.kind, breach.what.as_ref().unwrap_or(&self.name))
    }
}

const NOT_ENDED: &str = "the search is not complete";
const NOT_CHECKED: &str = "it was not checked";

/// The verdicts on all properties.
#[cfg(feature = "cli")]
pub struct JudgementReport {
    /// The model's name.
    pub model: String,
    /// The seconds of searching.
    pub seconds: f64,
    /// The verdicts, violated ones first.
    pub all: Vec<PropertyJudgement>,
    /// The whole report as text.
    pub told: String,
    /// The counterexample that is shown.
    pub way: Option<TraceView>,
    /// Whether unchecked properties count as violated.
    pub strict: bool,
}

/// A property of all states and steps of any model.
struct GeneralProperty {
    /// The name in scopes.
    word: &'static str,
    /// The kind of its violations.
    kind: &'static str,
    /// The name.
    name: &'static str,
}

const GENERAL: [GeneralProperty; 4] = [
    GeneralProperty { word: "deadlocks", kind: "deadlock", name: "no state without successor" },
    GeneralProperty { word: "assertions", kind: "assert", name: "no assertion fails" },
    GeneralProperty { word: "trace", kind: TRACE, name: "every event is allowed" },
    GeneralProperty { word: "run-time errors", kind: "error", name: "no run-time error" },
];

/// Returns the verdict of a search on each property, violated ones first. `shown` is the violation whose
/// counterexample is shown.
pub fn judgements(report: &Report, shown: Option<Violation>) -> Vec<PropertyJudgement> {
    let (came, says) = match (report.verdict(), is_whole(report)) {
        (_, true) => (PropertyVerdict::Held, ""),
        (SearchVerdict::Violated, false) => {
            (PropertyVerdict::Open, "the search ended at a violation")
        }
        (_, false) => (PropertyVerdict::Open, NOT_ENDED),
    };
    let model = report.model.description();
    let properties = properties(model, report.sources, came, says);
    let mut all = violated_properties(report, &properties, shown);
    let asked = properties.into_iter().filter(|it| report.limits.checks.checks_kind(&it.kind));
    let is_checked = |word: &str| report.scope.checked.iter().any(|it| it == word);
    let general = general(model).filter(|it| is_checked(it.word));
    let general = general.map(|it| PropertyJudgement::of_general(it, came, says));
    asked.chain(general).for_each(|it| add(&mut all, it));
    if let Some(known) = &report.scope.known {
        let (kind, name) = known.property();
        let place = known.place.clone();
        add(&mut all, PropertyJudgement::of(kind, name, place, PropertyVerdict::Held, ""));
    }
    let unchecked = report.scope.unchecked.iter();
    unchecked.for_each(|it| add(&mut all, PropertyJudgement::of_missed(it)));
    all
}

#[cfg(feature = "cli")]
impl JudgementReport {
    /// Creates the judgements of a report, with the counterexample to one of its violations and the whole text.
    pub fn of(
        report: &Report,
        shown: Option<(Violation, TraceView)>,
        told: String,
        strict: bool,
    ) -> JudgementReport {
        let all = judgements(report, shown.as_ref().map(|it| it.0));
        let (model, seconds) = (report.model_name.to_owned(), report.seconds);
        JudgementReport { model, seconds, all, told, way: shown.map(|it| it.1), strict }
    }
}

/// Adds the judgements of another search of the same model. The verdict on a property is that of the first search that
/// checked it.
pub fn merge_judgements(all: &mut Vec<PropertyJudgement>, more: Vec<PropertyJudgement>) {
    for judgement in more {
        match all.iter_mut().find(|it| it.id == judgement.id) {
            None => all.push(judgement),
            Some(known) if known.verdict == PropertyVerdict::Unchecked => *known = judgement,
            Some(_) => {}
        }
    }
}

/// Moves violated properties to the front.
pub fn sort_violated_first(all: &mut [PropertyJudgement]) {
    all.sort_by_key(|it| it.verdict != PropertyVerdict::Violated);
}

/// Returns the verdict on all checked properties.
pub fn overall_verdict(all: &[PropertyJudgement]) -> SearchVerdict {
    let is_any = |verdict| all.iter().any(|it| it.verdict == verdict);
    match (is_any(PropertyVerdict::Violated), is_any(PropertyVerdict::Open)) {
        (true, _) => SearchVerdict::Violated,
        (false, true) => SearchVerdict::Incomplete,
        (false, false) => SearchVerdict::Verified,
    }
}

#[cfg(feature = "cli")]
impl JudgementReport {
    /// Merges the judgements of several searches of a model. The verdict on a property is that of the first search
    /// that checked it.
    pub fn merge(model: &str, reports: Vec<JudgementReport>, strict: bool) -> JudgementReport {
        let mut merged = JudgementReport {
            model: model.to_owned(),
            seconds: 0.0,
            all: Vec::new(),
            told: String::new(),
            way: None,
            strict,
        };
        for JudgementReport { seconds, all, told, way, .. } in reports {
            merged.seconds += seconds;
            merged.told += &told;
            merged.way = merged.way.or(way);
            merge_judgements(&mut merged.all, all);
        }
        sort_violated_first(&mut merged.all);
        merged
    }

    /// Returns the checked properties.
    pub fn decided(&self) -> impl Iterator<Item = &PropertyJudgement> {
        self.all.iter().filter(|it| it.verdict != PropertyVerdict::Unchecked)
    }

    /// Returns the verdict on all checked properties.
    pub fn verdict(&self) -> SearchVerdict {
        overall_verdict(&self.all)
    }
}

/// Returns a judgement as JSON.
#[cfg(feature = "cli")]
pub fn judgement_as_json(judgement: &PropertyJudgement) -> Value {
    let PropertyJudgement { kind, name, place, verdict, .. } = judgement;
    json!({
        "kind": kind,
        "name": name,
        "verdict": verdict.name(),
        "file": place.as_ref().map(|it| &it.file),
        "line": place.as_ref().map(|it| it.position.line),
    })
}

/// Returns the judgements of a search for a violating run: the temporal property, then the other properties.
#[cfg(feature = "cli")]
pub fn of_runs(
    property: PropertyJudgement,
    model: &dyn SystemDescription,
    sources: &SourceMap,
    scope: &CheckScope,
) -> Vec<PropertyJudgement> {
    let mut all = vec![property];
    scope.unchecked.iter().for_each(|it| add(&mut all, PropertyJudgement::of_missed(it)));
    let asked = properties(model, sources, PropertyVerdict::Unchecked, NOT_CHECKED).into_iter();
    asked.filter(|it| scope.leaves_out(&it.kind)).for_each(|it| add(&mut all, it));
    // A search without errors has verified that there are none.
    let is_checked = |word: &str| scope.checked.iter().any(|it| it == word);
    for it in general(model) {
        if is_checked(it.word) {
            add(&mut all, PropertyJudgement::of_general(it, PropertyVerdict::Held, ""));
        } else if scope.leaves_out(it.kind) {
            add(
                &mut all,
                PropertyJudgement::of_general(it, PropertyVerdict::Unchecked, NOT_CHECKED),
            );
        }
    }
    all
}

/// Returns the general properties of a model. If its assertions are properties of states, each has a judgement of its
/// own.
fn general(model: &dyn SystemDescription) -> impl Iterator<Item = &'static GeneralProperty> {
    let has_own_asserts = model.properties().iter().any(|it| it.kind == "assert");
    GENERAL.iter().filter(move |it| it.kind != "assert" || !has_own_asserts)
}

/// Adds a property unless it is present.
fn add(all: &mut Vec<PropertyJudgement>, it: PropertyJudgement) {
    if all.iter().all(|other| other.id != it.id) {
        all.push(it);
    }
}

/// Returns the model's properties of states, each with its own identifier and with this verdict.
fn properties(
    model: &dyn SystemDescription,
    sources: &SourceMap,
    came: PropertyVerdict,
    says: &str,
) -> Vec<PropertyJudgement> {
    let mut all: Vec<PropertyJudgement> = Vec::new();
    for PropertyInfo { kind, name, span } in model.properties() {
        let mut it = PropertyJudgement::of(kind, &name, sources.place(span), came, says);
        // Names may coincide.
        let before = all.iter().filter(|other| other.kind == kind && other.name == name).count();
        if before > 0 {
            it.id += &format!("#{}", before + 1);
        }
        all.push(it);
    }
    all
}

/// Returns the violated properties of the model. `shown` is the violation whose counterexample is shown.
fn violated_properties(
    report: &Report,
    properties: &[PropertyJudgement],
    shown: Option<Violation>,
) -> Vec<PropertyJudgement> {
    let mut all: Vec<PropertyJudgement> = Vec::new();
    for violation in report.violations() {
        let ViolationReport { check, kind, name, place, depth, .. } = violation.clone();
        let (it, what) = match check {
            Violation::Property(number) => (properties[number as usize].clone(), None),
            Violation::Deadlock | Violation::Fault(..) => {
                let general = GENERAL.iter().find(|it| it.kind == kind);
                let general = general.unwrap_or(&GENERAL[2]);
                let is_named = check != Violation::Deadlock;
                (
                    PropertyJudgement::of_general(general, PropertyVerdict::Violated, ""),
                    is_named.then_some(name),
                )
            }
        };
        let says = match violation.has_trace() {
            true => format!("violated after {}", count(depth, "step")),
            false if kind == POSTCONDITION => "false after the search".to_owned(),
            false => "it is so in no state".to_owned(),
        };
        let breach = PropertyBreach { what, says, place, has_trace: shown == Some(check) };
        match all.iter_mut().find(|other| other.id == it.id) {
            Some(other) => other.breaches.push(breach),
            None => all.push(PropertyJudgement {
                verdict: PropertyVerdict::Violated,
                says: String::new(),
                breaches: vec![breach],
                ..it
            }),
        }
    }
    all
}
