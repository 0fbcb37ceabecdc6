//! What a reduction keeps of the space that it leaves states out of.

use std::fmt;

/// Something that can be looked for in a state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kept {
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

impl Kept {
    /// Every one.
    pub const ALL: [Kept; 7] = [
        Kept::Deadlocks,
        Kept::StepErrors,
        Kept::Invariants,
        Kept::Claims,
        Kept::StutteringClaims,
        Kept::Depth,
        Kept::StutterInvariant,
    ];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kept::Deadlocks => "deadlocks",
            Kept::StepErrors => "errors in steps",
            Kept::Invariants => "invariants",
            Kept::Claims => "claims",
            Kept::StutteringClaims => "claims that do not count steps",
            Kept::Depth => "the depth of counterexamples",
            Kept::StutterInvariant => "LTL without next",
        }
    }
}

/// All that a reduction keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preserved {
    /// A bit for each.
    kept: u8,
}

impl Preserved {
    /// Everything.
    pub const ALL: Preserved = Preserved { kept: (1 << Kept::ALL.len()) - 1 };

    /// The same but for one.
    pub const fn without(self, lost: Kept) -> Preserved {
        Preserved { kept: self.kept & !(1 << lost as u8) }
    }

    /// What both keep.
    pub const fn and(self, other: Preserved) -> Preserved {
        Preserved { kept: self.kept & other.kept }
    }

    /// Whether it keeps this.
    pub const fn has(self, wanted: Kept) -> bool {
        self.kept >> wanted as u8 & 1 == 1
    }
}

impl fmt::Display for Preserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Where all claims are kept it goes without saying that some are.
        let is_told = |kept: &Kept| match kept {
            Kept::StutteringClaims => self.has(*kept) && !self.has(Kept::Claims),
            _ => self.has(*kept),
        };
        let kept = Kept::ALL.into_iter().filter(is_told).map(Kept::name);
        match (*self == Preserved::ALL, kept.collect::<Vec<_>>()) {
            (true, _) => f.write_str("everything"),
            (false, none) if none.is_empty() => f.write_str("nothing"),
            (false, some) => f.write_str(&some.join(", ")),
        }
    }
}
