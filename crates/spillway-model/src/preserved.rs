//! The properties that a reduction preserves.

use std::fmt;

/// A class of properties of a state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyClass {
    /// The existence of a deadlock.
    Deadlocks,
    /// Errors in transitions, including failed assertions.
    StepErrors,
    /// Invariants, and assertions at locations.
    Invariants,
    /// Violations of claims, including those that are not stutter invariant.
    Claims,
    /// Violations of stutter-invariant claims.
    StutteringClaims,
    /// The depth of the shallowest violation of each kind.
    Depth,
    /// The stutter-invariant properties of runs: linear temporal logic without `next`.
    StutterInvariant,
}

impl PropertyClass {
    /// All classes.
    pub const ALL: [PropertyClass; 7] = [
        PropertyClass::Deadlocks,
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::Claims,
        PropertyClass::StutteringClaims,
        PropertyClass::Depth,
        PropertyClass::StutterInvariant,
    ];

    /// Returns a description.
    pub fn name(self) -> &'static str {
        match self {
            PropertyClass::Deadlocks => "deadlocks",
            PropertyClass::StepErrors => "errors in steps",
            PropertyClass::Invariants => "invariants",
            PropertyClass::Claims => "claims",
            PropertyClass::StutteringClaims => "stutter-invariant claims",
            PropertyClass::Depth => "the depth of counterexamples",
            PropertyClass::StutterInvariant => "LTL without next",
        }
    }
}

/// The set of classes that a reduction preserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreservedProperties {
    /// A bit for each class.
    kept: u8,
}

impl PreservedProperties {
    /// All classes.
    pub const ALL: PreservedProperties =
        PreservedProperties { kept: (1 << PropertyClass::ALL.len()) - 1 };

    /// No class.
    pub const NONE: PreservedProperties = PreservedProperties { kept: 0 };

    /// Returns the set without one class.
    pub const fn without(self, lost: PropertyClass) -> PreservedProperties {
        PreservedProperties { kept: self.kept & !(1 << lost as u8) }
    }

    /// Returns the set without one class, unless `is_kept` holds.
    pub const fn without_unless(self, is_kept: bool, lost: PropertyClass) -> PreservedProperties {
        if is_kept { self } else { self.without(lost) }
    }

    /// Returns the intersection.
    pub const fn and(self, other: PreservedProperties) -> PreservedProperties {
        PreservedProperties { kept: self.kept & other.kept }
    }

    /// Whether a class is preserved.
    pub const fn has(self, wanted: PropertyClass) -> bool {
        self.kept >> wanted as u8 & 1 == 1
    }
}

impl fmt::Display for PreservedProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // If all claims are preserved, the stutter-invariant ones need no mention.
        let is_told = |kept: &PropertyClass| match kept {
            PropertyClass::StutteringClaims => self.has(*kept) && !self.has(PropertyClass::Claims),
            _ => self.has(*kept),
        };
        let kept = PropertyClass::ALL.into_iter().filter(is_told).map(PropertyClass::name);
        match (*self == PreservedProperties::ALL, kept.collect::<Vec<_>>()) {
            (true, _) => f.write_str("everything"),
            (false, none) if none.is_empty() => f.write_str("nothing"),
            (false, some) => f.write_str(&some.join(", ")),
        }
    }
}
