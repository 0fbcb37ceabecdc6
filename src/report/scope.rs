//! The scope of a verdict: the checked and the unchecked properties.
//!
//! A property is unchecked for one of three reasons:
//!
//! - The model has it, and no search checks it.
//! - A flag leaves it out.
//! - It is reachable only after a step that ends in an error, and a flag leaves that error out.

use crate::ir::walk;
use crate::ir::{
    AssertionKind, AssertionRule, Program, PropertyKind, Stmt, StmtKind, UncheckedKind,
};
use crate::model::{COVER, EVENTUALLY, FaultKind, SOMETIMES, SystemDescription, TRACE, Violation};
use crate::search::{CheckSelection, SearchOutcome};
use crate::source::{SourceLocation, SourceMap};

const ASSERTIONS: &str = "assertions";
const INVARIANTS: &str = "invariants";
const COVERS: &str = "covers";
/// The name of Promela's `trace` and `notrace`.
const EVENTS: &str = "trace";
const SO_SOMETIMES: &str = "sometimes properties";
const SO_EVENTUALLY: &str = "eventually properties";

/// The checked and the unchecked properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckScope {
    /// The checked properties: `deadlocks`, `never claim p`.
    pub checked: Vec<String>,
    /// The properties of the model that a flag or its claim leaves out.
    pub left_out: Vec<String>,
    /// Why properties that flags select cannot be checked.
    pub impossible: Vec<String>,
    /// The properties of the model that no search checks.
    pub unchecked: Vec<UncheckedSpec>,
    /// The property that every run without errors is known to satisfy.
    pub known: Option<UncheckedSpec>,
    checks: CheckSelection,
    assertions: AssertionRule,
    /// Errors of actions from this number on occur in the evaluation of properties, not in steps.
    judging_from: u32,
}

/// A property of the model that was not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncheckedSpec {
    /// The kind.
    pub kind: UncheckedKind,
    /// The kind in words: `ltl`, `progress label`, `cover`.
    pub what: &'static str,
    /// The user's name.
    pub name: String,
    /// The position in the source, if there is one.
    pub place: Option<SourceLocation>,
    /// The flag that checks it, if there is one.
    pub flag: Option<String>,
}

impl UncheckedSpec {
    /// Returns all properties of a program that no search of it checks.
    pub fn all(program: &Program, sources: &SourceMap) -> Vec<UncheckedSpec> {
        let missed = program.unchecked.iter().map(|it| UncheckedSpec {
            kind: it.kind,
            what: it.kind.name(),
            name: it.name.clone(),
            place: sources.place(it.span),
            flag: it.kind.flag(&it.name),
        });
        missed.collect()
    }

    /// Returns the kind and the name of the property that it is or belongs to.
    pub(super) fn property(&self) -> (&'static str, &str) {
        self.kind.property(&self.name)
    }
}

impl CheckScope {
    /// Returns the scope of a search of `program` for `checks`.
    pub fn of(program: &Program, checks: &CheckSelection, sources: &SourceMap) -> CheckScope {
        let claim = claim_of(program);
        let steps = (program.actions.len() + program.starts.len()) as u32;
        let mut scope = CheckScope {
            checks: *checks,
            assertions: program.assertions,
            // The moves of a claim also have numbers after those of steps.
            judging_from: if claim.is_some() { u32::MAX } else { steps },
            ..Self::default()
        };
        match claim {
            None => scope.add(checks.deadlock, Ok("deadlocks")),
            Some(name) => {
                scope.left_out.push("deadlocks".into());
                let why = format!("with the never claim {name}, deadlocks are not checked");
                scope.impossible.extend(checks.deadlock.then_some(why));
            }
        }
        let invariants = has(program, |kind| matches!(kind, PropertyKind::Invariant(_)));
        let given = |there: bool, word, why| if there { Ok(word) } else { Err(why) };
        let at_locations = has(program, |it| matches!(it, PropertyKind::AssertionAt { .. }));
        let conditions = at_locations || asserts(program, AssertionKind::Condition);
        let events = asserts(program, AssertionKind::Event);
        if conditions || !events {
            let assertions = given(conditions, ASSERTIONS, "the model has no assertion");
            scope.add(checks.assertions, assertions);
        }
        if events {
            scope.add(checks.assertions, Ok(EVENTS));
        }
        let covers =
            has(program, |kind| matches!(kind, PropertyKind::Cover(_) | PropertyKind::Reached));
        if invariants || !covers {
            let invariants = given(invariants, INVARIANTS, "the model has no invariant");
            scope.add(checks.invariants, invariants);
        }
        if covers {
            scope.add(checks.invariants, Ok(COVERS));
        }
        scope.add(checks.faults, Ok("run-time errors"));
        let claim = claim_word(program);
        let no_claim = "the model has no never claim";
        scope.add(checks.claims, claim.as_deref().ok_or(no_claim));
        scope.unchecked = UncheckedSpec::all(program, sources);
        scope
    }

    /// Records that every run without errors satisfies the property of this name.
    pub fn set_known(&mut self, name: &str) {
        let at = self.unchecked.iter().position(|it| it.name == name);
        self.known = at.map(|at| self.unchecked.remove(at));
    }

    /// Returns the scope of an emptiness check of `program`, whose claim is the automaton, apart from the temporal
    /// property. The scope includes errors in steps if `errors` is set: the search covered all steps.
    pub fn of_runs(program: &Program, errors: bool, sources: &SourceMap) -> CheckScope {
        let of_states = |kind: &PropertyKind| matches!(kind, PropertyKind::AssertionAt { .. });
        let assertions = errors && !has(program, of_states);
        let checks =
            CheckSelection { claims: true, assertions, faults: errors, ..CheckSelection::NONE };
        let mut scope = CheckScope::of(program, &checks, sources);
        // The temporal property has a name of its own in such a report.
        scope.checked.retain(|it| Some(it) != claim_word(program).as_ref());
        scope.impossible.clear();
        scope
    }

    /// Returns whether assertions or properties of states of the model are unchecked.
    pub fn leaves_out_asked(&self) -> bool {
        ["assert", TRACE, "invariant", COVER].into_iter().any(|it| self.leaves_out(it))
    }

    /// Returns whether the model's properties of a kind are unchecked.
    pub fn leaves_out(&self, kind: &str) -> bool {
        let word = match kind {
            "assert" => ASSERTIONS,
            TRACE => EVENTS,
            "invariant" => INVARIANTS,
            COVER => COVERS,
            _ => return false,
        };
        self.left_out.iter().any(|it| it == word)
    }

    /// Returns the scope of a search of a model without a text.
    pub fn of_model(model: &dyn SystemDescription, checks: &CheckSelection) -> CheckScope {
        let mut scope = CheckScope { checks: *checks, judging_from: u32::MAX, ..Self::default() };
        scope.add(checks.deadlock, Ok("deadlocks"));
        let properties = model.properties();
        for (wanted, kind, word, none) in [
            (checks.assertions, "assert", ASSERTIONS, "the model has no assertion"),
            (checks.invariants, "invariant", INVARIANTS, "the model has no invariant"),
        ] {
            let there = properties.iter().any(|it| it.kind == kind);
            scope.add(wanted, if there { Ok(word) } else { Err(none) });
        }
        for (kind, word) in [(SOMETIMES, SO_SOMETIMES), (EVENTUALLY, SO_EVENTUALLY)] {
            if properties.iter().any(|it| it.kind == kind) {
                scope.add(checks.invariants, Ok(word));
            }
        }
        scope.add(checks.faults, Ok("run-time errors"));
        scope
    }

    /// Records that `eventually` properties were not checked, since not all states were visited or another property is
    /// violated.
    pub fn leave_out_eventually(&mut self) {
        if let Some(at) = self.checked.iter().position(|it| it == SO_EVENTUALLY) {
            self.left_out.push(self.checked.remove(at));
        }
    }

    /// Adds a property to the checked, the left out or the impossible ones. `given` says why the model does not have
    /// it.
    fn add(&mut self, wanted: bool, given: Result<&str, &str>) {
        match given {
            Ok(word) if wanted => self.checked.push(word.into()),
            Ok(word) => self.left_out.push(word.into()),
            Err(why) if wanted => self.impossible.push(why.into()),
            Err(_) => {}
        }
    }

    /// Returns the number of steps that ended in unchecked errors. Their successors were not visited.
    pub fn cut_off_steps(&self, outcome: &SearchOutcome) -> u64 {
        self.errors(outcome, |action| action < self.judging_from)
    }

    /// Returns the number of states in which the evaluation of a property ended in an unchecked error. The property is
    /// undecided there.
    pub fn unjudged_states(&self, outcome: &SearchOutcome) -> u64 {
        self.errors(outcome, |action| action >= self.judging_from)
    }

    fn errors(&self, outcome: &SearchOutcome, wanted: impl Fn(u32) -> bool) -> u64 {
        let cuts = |kind: FaultKind| match kind.is_assertion() {
            true => !self.checks.assertions && self.assertions == AssertionRule::Stop,
            false => !self.checks.faults && !kind.always_continues_step(),
        };
        let counts = outcome.findings.iter().map(|(check, finding)| match check {
            Violation::Fault(kind, action) if wanted(action) && cuts(kind) => finding.count,
            _ => 0,
        });
        counts.sum()
    }

    /// Formats the checked properties.
    pub fn checked(&self) -> String {
        match self.checked.is_empty() {
            true => "nothing".into(),
            false => self.checked.join(", "),
        }
    }
}

fn has(program: &Program, wanted: impl Fn(&PropertyKind) -> bool) -> bool {
    program.properties.values().any(|property| wanted(&property.kind))
}

/// Returns the name of the claim of a program's search.
fn claim_of(program: &Program) -> Option<&str> {
    let mut properties = program.properties.values();
    let claim = properties.find(|it| matches!(it.kind, PropertyKind::Claim(_)));
    claim.map(|it| it.name.as_str())
}

fn claim_word(program: &Program) -> Option<String> {
    claim_of(program).map(|name| format!("never claim {name}"))
}

/// Returns whether a program has assertions of this kind.
fn asserts(program: &Program, wanted: AssertionKind) -> bool {
    let is_wanted =
        |it: &StmtKind| matches!(it, StmtKind::Assert { asserted, .. } if *asserted == wanted);
    let asserts = |body: &[Stmt]| walk::any_stmt(body, &is_wanted);
    program.actions.values().any(|it| asserts(&it.body))
        || program.functions.values().any(|it| asserts(&it.body))
        || program.starts.iter().any(|it| asserts(&it.body))
        || program.processes.values().any(|it| asserts(&it.life.prologue))
}
