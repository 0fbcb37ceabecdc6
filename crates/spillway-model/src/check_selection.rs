//! The selection of findings that count as violations.

use super::{EndViolation, Findings, SearchOutcome, StateSpace, TRACE, Violation};

/// The kind of reachability properties, which must hold in some state. A state in which one holds is a finding and not
/// a violation.
pub const SOMETIMES: &str = "sometimes";

/// The name of [`SOMETIMES`] in Murphi.
pub const COVER: &str = "cover";

/// Returns whether properties of a kind are reachability properties.
pub fn is_reachability_kind(kind: &str) -> bool {
    kind == SOMETIMES || kind == COVER
}

/// The kind of properties that must hold somewhere on every run. No single state decides them.
pub const EVENTUALLY: &str = "eventually";

/// The kind of properties of the counts of a search. They are decided once all states have been visited.
pub const POSTCONDITION: &str = "postcondition";

/// The selection of checks that count as violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckSelection {
    /// Deadlocks: states without a successor that are not valid ends.
    pub deadlock: bool,
    /// Assertions of the model, in its steps and at its locations.
    pub assertions: bool,
    /// Invariants of the model, and properties of the kinds [`SOMETIMES`] and [`EVENTUALLY`].
    pub invariants: bool,
    /// Run-time errors other than failed assertions.
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
    /// All checks.
    pub const ALL: CheckSelection = CheckSelection {
        deadlock: true,
        assertions: true,
        invariants: true,
        faults: true,
        claims: true,
    };

    /// No checks.
    pub const NONE: CheckSelection = CheckSelection {
        deadlock: false,
        assertions: false,
        invariants: false,
        faults: false,
        claims: false,
    };

    /// Returns whether `check` counts as a violation.
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

    /// Returns whether a finding of a property of this kind is a violation.
    fn selects_kind(&self, kind: &str) -> bool {
        match kind {
            // A finding shows that the property is reached.
            SOMETIMES | COVER | EVENTUALLY | POSTCONDITION => false,
            "invariant" => self.invariants,
            "claim" => self.claims,
            TRACE => self.deadlock,
            _ => self.assertions,
        }
    }

    /// Returns whether properties of a kind are checked: in states, as violations or as reachability, or at the end of a
    /// search.
    pub fn checks_kind(&self, kind: &str) -> bool {
        let is_of_end = is_reachability_kind(kind) || kind == POSTCONDITION;
        self.selects_kind(kind) || self.invariants && is_of_end
    }

    /// Returns the violations that no state shows. They are known once all states have been visited. These are the
    /// reachability properties that hold in no visited state, and the violated properties of counts.
    pub fn violated_at_end(
        &self,
        model: &dyn StateSpace,
        outcome: &SearchOutcome,
    ) -> Vec<EndViolation> {
        let unreached = self.unreached_properties(model, &outcome.findings).into_iter();
        let unreached = unreached.map(|property| EndViolation { property, failure: None });
        let of_counts = match self.invariants {
            true => model.description().violated_at_end(outcome),
            false => Vec::new(),
        };
        unreached.chain(of_counts).collect()
    }

    fn unreached_properties(&self, model: &dyn StateSpace, findings: &Findings) -> Vec<u32> {
        let properties = model.description().properties().into_iter().zip(0..);
        let wanted = properties.filter(|(it, _)| self.invariants && is_reachability_kind(it.kind));
        let numbers = wanted.map(|(_, number)| number);
        numbers.filter(|it| findings.count(Violation::Property(*it)) == 0).collect()
    }

    /// Returns whether the findings decide each selected property. No finding decides the absence of deadlocks.
    pub fn all_decided(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        let properties = model.description().properties().into_iter().zip(0..);
        let mut all = properties.filter(|(it, _)| self.checks_kind(it.kind));
        !self.deadlock && all.all(|(_, number)| findings.count(Violation::Property(number)) > 0)
    }

    /// Returns whether a check is violated, once all states have been visited.
    pub fn has_violation(&self, model: &dyn StateSpace, outcome: &SearchOutcome) -> bool {
        self.any_selected(model, &outcome.findings)
            || !self.violated_at_end(model, outcome).is_empty()
    }

    /// Returns whether any finding counts as a violation.
    pub fn any_selected(&self, model: &dyn StateSpace, findings: &Findings) -> bool {
        findings.iter().any(|(check, _)| self.selects(model, check))
    }
}
