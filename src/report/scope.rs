//! The scope of a verdict: the checked and the unchecked properties.
//!
//! A property is unchecked for one of three reasons:
//!
//! - The model has it, and no search checks it.
//! - A flag excludes it.
//! - It is reachable only after a step that ends in an error, and a flag excludes that error.

use crate::model::{
    COVER, EVENTUALLY, FaultKind, SOMETIMES, SystemDescription, TRACE, UncheckedKind, Violation,
};
use crate::search::{CheckSelection, SearchOutcome};
use crate::source::SourceLocation;
#[cfg(feature = "languages")]
use crate::{model::UncheckedRequirement, source::SourceMap};

pub(super) const ASSERTIONS: &str = "assertions";
pub(super) const INVARIANTS: &str = "invariants";
pub(super) const COVERS: &str = "covers";
/// The name of Promela's `trace` and `notrace`.
pub(super) const EVENTS: &str = "trace";
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
    /// The constraints of the model's configuration, which bound the search.
    pub constraints: Vec<ConfiguredConstraint>,
    pub(super) checks: CheckSelection,
    /// Whether a step continues after a failed assertion.
    pub(super) continues_after_assertions: bool,
    /// Errors of actions from this number on occur in the evaluation of properties, not in steps.
    pub(super) judging_from: u32,
}

/// A constraint of the configuration of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredConstraint {
    /// The name of its definition.
    pub name: String,
    /// Whether it is about steps and not about states.
    pub bounds_steps: bool,
}

/// Which conditions on states a model has.
#[cfg(feature = "languages")]
pub(super) struct GivenConditions {
    pub invariants: bool,
    pub covers: bool,
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
    /// Describes a requirement for reports.
    #[cfg(feature = "languages")]
    pub(super) fn of(requirement: &UncheckedRequirement, sources: &SourceMap) -> UncheckedSpec {
        let UncheckedRequirement { kind, name, span } = requirement;
        UncheckedSpec {
            kind: *kind,
            what: kind.name(),
            name: name.clone(),
            place: sources.place(*span),
            flag: kind.flag(name),
        }
    }

    /// Returns the kind and the name of the property that it is or belongs to.
    pub(super) fn property(&self) -> (&'static str, &str) {
        self.kind.property(&self.name)
    }
}

impl CheckScope {
    /// Records that every run without errors satisfies the property of this name.
    pub fn set_known(&mut self, name: &str) {
        let at = self.unchecked.iter().position(|it| it.name == name);
        self.known = at.map(|at| self.unchecked.remove(at));
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

    /// Adds the conditions on states, and run-time errors. `there` says which conditions the model has, and
    /// `no_invariant` why it has no invariant.
    #[cfg(feature = "languages")]
    pub(super) fn add_states(&mut self, there: GivenConditions, no_invariant: &str) {
        let GivenConditions { invariants, covers } = there;
        let checks = self.checks;
        if invariants || !covers {
            let given = if invariants { Ok(INVARIANTS) } else { Err(no_invariant) };
            self.add(checks.invariants, given);
        }
        if covers {
            self.add(checks.invariants, Ok(COVERS));
        }
        self.add(checks.faults, Ok("run-time errors"));
    }

    /// Adds a property to the checked, the left out or the impossible ones. `given` says why the model does not have
    /// it.
    pub(super) fn add(&mut self, wanted: bool, given: Result<&str, &str>) {
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
            true => !self.checks.assertions && !self.continues_after_assertions,
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
