//! What is looked for in a state space.

use super::{FaultKind, Findings, Model, Violation};

/// Which checks count as violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// States without a successor that should have one.
    pub deadlock: bool,
    /// Assertions of the model, in its steps and at its locations.
    pub assertions: bool,
    /// Invariants of the model.
    pub invariants: bool,
    /// Run-time errors; a failed assertion is none.
    pub faults: bool,
    /// Never claims of the model.
    pub claims: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Checks::ALL
    }
}

impl Checks {
    /// Every one.
    pub const ALL: Checks =
        Checks { deadlock: true, assertions: true, invariants: true, faults: true, claims: true };

    /// None.
    pub const NONE: Checks = Checks {
        deadlock: false,
        assertions: false,
        invariants: false,
        faults: false,
        claims: false,
    };

    /// Whether `check` counts as a violation.
    pub fn selects(&self, model: &dyn Model, check: Violation) -> bool {
        match check {
            Violation::Deadlock => self.deadlock,
            Violation::Fault(FaultKind::Assertion, _) => self.assertions,
            Violation::Fault(..) => self.faults,
            Violation::Property(number) => {
                match model.explained().properties()[number as usize].kind {
                    "invariant" => self.invariants,
                    "claim" => self.claims,
                    _ => self.assertions,
                }
            }
        }
    }

    /// Whether any finding counts as a violation.
    pub fn any_selected(&self, model: &dyn Model, findings: &Findings) -> bool {
        findings.iter().any(|(check, _)| self.selects(model, check))
    }
}
