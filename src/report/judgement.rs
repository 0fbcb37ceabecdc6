//! What came of each property, one by one, as tools of continuous integration want it.
//!
//! A property has one id, whatever comes of it, so that such a tool can follow it from one run to the next.

use super::coverage::is_whole;
use super::page::Way;
use super::{Missed, Report, Scope, Verdict, ViolationReport};
use crate::exec::{Explain, PropertyInfo, TRACE, Violation};
use crate::ir::{ACCEPTANCE, NON_PROGRESS};
use crate::numbers::count;
use crate::source::{Place, Sources};

/// What came of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It holds.
    Held,
    /// It is violated.
    Violated,
    /// The search has not come to its end.
    Open,
    /// It was not checked.
    Unchecked,
}

/// A property, and what came of it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The same in every run: `deadlock`, `assert`, `invariant/low`, `ltl/ends`. Each in a list has its own.
    pub id: String,
    /// `deadlock`, `assert`, `error`, `invariant`, `ltl`, ...
    pub kind: String,
    /// What it is called.
    pub name: String,
    /// Where it stands, if it stands anywhere.
    pub place: Option<Place>,
    /// What came of it.
    pub came: Came,
    /// Why it is not known whether it holds, if that is so.
    pub says: String,
    /// How it is violated.
    pub breaches: Vec<Breach>,
}

/// A violation of a property.
#[derive(Clone, Debug)]
pub struct Breach {
    /// What is violated, where the property is that nothing of its kind is: `assertion failed in P: assert(x < 3)`.
    pub what: Option<String>,
    /// When it is violated, in words.
    pub says: String,
    /// Where that stands, if it stands anywhere.
    pub place: Option<Place>,
    /// Whether the counterexample is to it.
    pub has_way: bool,
}

impl Judgement {
    /// A property of a kind and a name.
    fn of(kind: &str, name: &str, place: Option<Place>, came: Came, says: &str) -> Judgement {
        let is_one = [ACCEPTANCE.0, NON_PROGRESS.0].contains(&kind);
        let id = kind.replace(' ', "-");
        Judgement {
            id: if is_one { id } else { format!("{id}/{name}") },
            kind: kind.to_owned(),
            name: name.to_owned(),
            place,
            came,
            says: says.to_owned(),
            breaches: Vec::new(),
        }
    }

    /// A property of runs, of a kind.
    fn of_runs((kind, name): (&str, &str), came: Came) -> Judgement {
        let says = if came == Came::Open { NOT_ENDED } else { "" };
        let breach = || Breach {
            what: None,
            says: "a run does not have it".to_owned(),
            place: None,
            has_way: true,
        };
        let breaches = (came == Came::Violated).then(breach).into_iter().collect();
        Judgement { breaches, ..Judgement::of(kind, name, None, came, says) }
    }

    /// What the model asks for and was not checked.
    fn of_missed(missed: &Missed) -> Judgement {
        let (kind, name) = missed.property();
        Judgement::of(kind, name, missed.place.clone(), Came::Unchecked, NOT_CHECKED)
    }

    /// One of those that are asked of all states and steps.
    fn of_general(general: &General, came: Came, says: &str) -> Judgement {
        let id = general.kind.to_owned();
        Judgement { id, ..Judgement::of(general.kind, general.name, None, came, says) }
    }

    /// What it is called, with its kind.
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.kind, self.name)
    }

    /// What is violated, with its kind.
    pub(super) fn title_of(&self, breach: &Breach) -> String {
        format!("{}: {}", self.kind, breach.what.as_ref().unwrap_or(&self.name))
    }
}

const NOT_ENDED: &str = "the search has not come to its end";
const NOT_CHECKED: &str = "it was not checked";

/// All properties.
pub struct Judgements {
    /// The model's name.
    pub model: String,
    /// Seconds of searching.
    pub seconds: f64,
    /// One by one, those that are violated first.
    pub all: Vec<Judgement>,
    /// The whole report as text.
    pub told: String,
    /// The counterexample that is shown.
    pub way: Option<Way>,
    /// Whether what was not checked counts as violated.
    pub strict: bool,
}

/// What is asked of all states and steps.
struct General {
    /// As scopes call it.
    word: &'static str,
    /// The kind of its violations.
    kind: &'static str,
    /// What it is called.
    name: &'static str,
}

const GENERAL: [General; 4] = [
    General { word: "deadlocks", kind: "deadlock", name: "no state without successor" },
    General { word: "assertions", kind: "assert", name: "no assertion fails" },
    General { word: "trace", kind: TRACE, name: "every event is allowed" },
    General { word: "run-time errors", kind: "error", name: "no run-time error" },
];

impl Judgements {
    /// Those of a report, with the counterexample to one of its violations, and the whole as text.
    pub fn of(
        report: &Report,
        shown: Option<(Violation, Way)>,
        told: String,
        strict: bool,
    ) -> Judgements {
        let (came, says) = match (report.verdict(), is_whole(report)) {
            (_, true) => (Came::Held, ""),
            (Verdict::Violated, false) => (Came::Open, "the search ended at a violation"),
            (_, false) => (Came::Open, NOT_ENDED),
        };
        let model = report.model.explained();
        let properties = properties((model, report.sources), came, says);
        let mut all = violated(report, &properties, shown.as_ref().map(|it| it.0));
        let asked = properties.into_iter().filter(|it| report.limits.checks.looks_for(&it.kind));
        let is_checked = |word: &str| report.scope.checked.iter().any(|it| it == word);
        let general = general(model).filter(|it| is_checked(it.word));
        let general = general.map(|it| Judgement::of_general(it, came, says));
        asked.chain(general).for_each(|it| add(&mut all, it));
        if let Some(known) = &report.scope.known {
            let (kind, name) = known.property();
            add(&mut all, Judgement::of(kind, name, known.place.clone(), Came::Held, ""));
        }
        report.scope.unchecked.iter().for_each(|it| add(&mut all, Judgement::of_missed(it)));
        let (model, seconds) = (report.model_name.to_owned(), report.seconds);
        Judgements { model, seconds, all, told, way: shown.map(|it| it.1), strict }
    }
}

/// Those of a search about whole runs: the property, of a kind and a name, with what came of it, and what was not checked beside it.
pub fn of_runs(
    property: (&str, &str),
    came: Came,
    (model, sources): (&dyn Explain, &Sources),
    scope: &Scope,
) -> Vec<Judgement> {
    let mut all = vec![Judgement::of_runs(property, came)];
    scope.unchecked.iter().for_each(|it| add(&mut all, Judgement::of_missed(it)));
    let asked = properties((model, sources), Came::Unchecked, NOT_CHECKED).into_iter();
    asked.filter(|it| scope.leaves_out(&it.kind)).for_each(|it| add(&mut all, it));
    // A search that met no error has checked that, too.
    let is_checked = |word: &str| scope.checked.iter().any(|it| it == word);
    for it in general(model) {
        if is_checked(it.word) {
            add(&mut all, Judgement::of_general(it, Came::Held, ""));
        } else if scope.leaves_out(it.kind) {
            add(&mut all, Judgement::of_general(it, Came::Unchecked, NOT_CHECKED));
        }
    }
    all
}

/// What is asked of all states and steps of a model. Where its assertions are properties of states, each is one by itself.
fn general(model: &dyn Explain) -> impl Iterator<Item = &'static General> {
    let has_own_asserts = model.properties().iter().any(|it| it.kind == "assert");
    GENERAL.iter().filter(move |it| it.kind != "assert" || !has_own_asserts)
}

/// Adds a property, if it is not there yet.
fn add(all: &mut Vec<Judgement>, it: Judgement) {
    if all.iter().all(|other| other.id != it.id) {
        all.push(it);
    }
}

/// What the model says of its states, each with an id of its own, as it came where it is not violated.
fn properties(
    (model, sources): (&dyn Explain, &Sources),
    came: Came,
    says: &str,
) -> Vec<Judgement> {
    let mut all: Vec<Judgement> = Vec::new();
    for PropertyInfo { kind, name, span } in model.properties() {
        let mut it = Judgement::of(kind, &name, sources.place(span), came, says);
        // Names may be the same.
        let before = all.iter().filter(|other| other.kind == kind && other.name == name).count();
        if before > 0 {
            it.id += &format!("#{}", before + 1);
        }
        all.push(it);
    }
    all
}

/// What is violated, of all properties of the model; the counterexample is to that which is shown.
fn violated(report: &Report, properties: &[Judgement], shown: Option<Violation>) -> Vec<Judgement> {
    let mut all: Vec<Judgement> = Vec::new();
    for violation in report.violations() {
        let ViolationReport { check, kind, name, place, depth, .. } = violation.clone();
        let (it, what) = match check {
            Violation::Property(number) => (properties[number as usize].clone(), None),
            Violation::Deadlock | Violation::Fault(..) => {
                let general = GENERAL.iter().find(|it| it.kind == kind);
                let general = general.unwrap_or(&GENERAL[2]);
                let is_named = check != Violation::Deadlock;
                (Judgement::of_general(general, Came::Violated, ""), is_named.then_some(name))
            }
        };
        let says = match violation.has_a_way() {
            true => format!("violated after {}", count(depth, "step")),
            false => "it is so in no state".to_owned(),
        };
        let breach = Breach { what, says, place, has_way: shown == Some(check) };
        match all.iter_mut().find(|other| other.id == it.id) {
            Some(other) => other.breaches.push(breach),
            None => all.push(Judgement {
                came: Came::Violated,
                says: String::new(),
                breaches: vec![breach],
                ..it
            }),
        }
    }
    all
}
