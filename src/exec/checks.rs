//! What is looked for in a state space.

use super::expansion::TRACE;
use super::{Findings, StateSpace, Violation};

/// The kind of properties that should hold in some state; where one does is a finding, and no violation.
pub const SOMETIMES: &str = "sometimes";

/// What [`SOMETIMES`] is called in Murphi.
pub const COVER: &str = "cover";

/// Whether it is hoped for that properties of a kind are found.
pub fn is_reachability_kind(kind: &str) -> bool {
    kind == SOMETIMES || kind == COVER
}

/// The kind of properties that every run comes to; no state tells whether it does.
pub const EVENTUALLY: &str = "eventually";

/// Which checks count as violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckSelection {
    /// States without a successor that should have one.
    pub deadlock: bool,
    /// Assertions of the model, in its steps and at its locations.
    pub assertions: bool,
    /// Invariants of the model, and what it says to be so sometimes or eventually.
    pub invariants: bool,
    /// Run-time errors; a failed assertion is none.
    pub faults: bool,
    /// Never claims of the model.
    pub claims: bool,
}

impl Default for CheckSelection {
    fn default() -> Self {
        CheckSelection::ALL
    }
}

impl CheckSelection {
    /// Every one.
    pub const ALL: CheckSelection = CheckSelection {
        deadlock: true,
        assertions: true,
        invariants: true,
        faults: true,
        claims: true,
    };

    /// None.
    pub const NONE: CheckSelection = CheckSelection {
        deadlock: false,
        assertions: false,
        invariants: false,
        faults: false,
        claims: false,
    };

    /// Whether `check` counts as a violation.
    pub fn selects(&self, model: &dyn StateSpace, check: Violation) -> bool {
        match check {
            Violation::Deadlock => self.deadlock,
            Violation::Fault(kind, _) if kind.is_assertion() => self.assertions,
            Violation::Fault(..) => self.faults,
            Violation::Property(number) => {
                let property = model.description().property(number);
                property.is_some_and(|it| self.selects_kind(it.kind))
            }
        }
    }

    /// Whether it counts as a violation where properties of a kind are found.
    fn selects_kind(&self, kind: &str) -> bool {
        match kind {
            // That there is such a state is what is hoped for.
            SOMETIMES | COVER | EVENTUALLY => false,
            "invariant" => self.invariants,
            "claim" => self.claims,
            TRACE => self.deadlock,
            _ => self.assertions,
        }
    }

    /// Whether properties of a kind are looked for in states, be they feared or hoped for.
    pub fn checks_kind(&self, kind: &str) -> bool {
        self.selects_kind(kind) || self.invariants && is_reachability_kind(kind)
    }

    /// The properties that should hold in some state, of which none was found.
    pub fn unreached_properties(
        &self,
        model: &dyn StateSpace,
        findings: &Findings,
    ) -> Vec<Violation> {
        let properties = model.description().properties().into_iter().zip(0..);
        let wanted = properties.filter(|(it, _)| self.invariants && is_reachability_kind(it.kind));
        let checks = wanted.map(|(_, number)| Violation::Property(number));
        checks.filter(|check| findings.count(*check) == 0).collect()
    }

    /// Whether there is a state for or against each property of states; nothing else that is selected can be answered so.
    pub fn all_decided(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        let properties = model.description().properties().into_iter().zip(0..);
        let mut all = properties.filter(|(it, _)| self.checks_kind(it.kind));
        !self.deadlock && all.all(|(_, number)| findings.count(Violation::Property(number)) > 0)
    }

    /// Whether something is violated, once all states were visited.
    pub fn has_violation(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        self.any_selected(model, findings) || !self.unreached_properties(model, findings).is_empty()
    }

    /// Whether any finding counts as a violation.
    pub fn any_selected(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        findings.iter().any(|(check, _)| self.selects(model, check))
    }
}
