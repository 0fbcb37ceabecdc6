//! What a reduction keeps of the space that it leaves states out of.

use std::fmt;

/// Something that can be looked for in a state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PropertyClass {
    /// Whether there is a deadlock.
    Deadlocks,
    /// Whether a step, or an assertion in one, fails.
    StepErrors,
    /// Whether each invariant, and each assertion at a location, holds.
    Invariants,
    /// Whether a claim is violated, one that counts steps included.
    Claims,
    /// Whether a claim is violated that does not see how often a state is repeated.
    StutteringClaims,
    /// How deep the shallowest violation of each kind lies.
    Depth,
    /// What linear temporal logic without `next` can tell of runs.
    StutterInvariant,
}

impl PropertyClass {
    /// Every one.
    pub const ALL: [PropertyClass; 7] = [
        PropertyClass::Deadlocks,
        PropertyClass::StepErrors,
        PropertyClass::Invariants,
        PropertyClass::Claims,
        PropertyClass::StutteringClaims,
        PropertyClass::Depth,
        PropertyClass::StutterInvariant,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            PropertyClass::Deadlocks => "deadlocks",
            PropertyClass::StepErrors => "errors in steps",
            PropertyClass::Invariants => "invariants",
            PropertyClass::Claims => "claims",
            PropertyClass::StutteringClaims => "claims that do not count steps",
            PropertyClass::Depth => "the depth of counterexamples",
            PropertyClass::StutterInvariant => "LTL without next",
        }
    }
}

/// All that a reduction keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreservedProperties {
    /// A bit for each.
    kept: u8,
}

impl PreservedProperties {
    /// Everything.
    pub const ALL: PreservedProperties =
        PreservedProperties { kept: (1 << PropertyClass::ALL.len()) - 1 };

    /// The same but for one.
    pub const fn without(self, lost: PropertyClass) -> PreservedProperties {
        PreservedProperties { kept: self.kept & !(1 << lost as u8) }
    }

    /// The same but for one, unless that one is kept.
    pub const fn without_unless(self, is_kept: bool, lost: PropertyClass) -> PreservedProperties {
        if is_kept { self } else { self.without(lost) }
    }

    /// What both keep.
    pub const fn and(self, other: PreservedProperties) -> PreservedProperties {
        PreservedProperties { kept: self.kept & other.kept }
    }

    /// Whether it keeps this.
    pub const fn has(self, wanted: PropertyClass) -> bool {
        self.kept >> wanted as u8 & 1 == 1
    }
}

impl fmt::Display for PreservedProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Where all claims are kept it goes without saying that some are.
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
