//! Outcomes of a power loss: pseudo-random choices that a seed reproduces.

/// Chooses the outcomes of unsynced changes.
pub(super) struct PowerLossSampler {
    pub(super) random: FaultRng,
    /// The outcome, if the seed always gives the same.
    fixed: Option<UnsyncedOutcome>,
}

/// The outcome of an unsynced change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum UnsyncedOutcome {
    Lost,
    Kept,
    /// Only for bytes: a part of them is there.
    Torn,
}

impl PowerLossSampler {
    pub(super) fn new(seed: u64) -> PowerLossSampler {
        let fixed = match seed {
            0 => Some(UnsyncedOutcome::Lost),
            1 => Some(UnsyncedOutcome::Kept),
            _ => None,
        };
        PowerLossSampler { random: FaultRng::new(seed), fixed }
    }

    pub(super) fn draw_outcome(&mut self) -> UnsyncedOutcome {
        self.fixed.unwrap_or_else(|| match self.random.below(4) {
            0 => UnsyncedOutcome::Lost,
            1 | 2 => UnsyncedOutcome::Kept,
            _ => UnsyncedOutcome::Torn,
        })
    }

    /// Returns the outcome of a change that cannot be torn.
    pub(super) fn draw_kept(&mut self) -> bool {
        self.fixed.map_or_else(|| self.random.below(2) == 0, |end| end == UnsyncedOutcome::Kept)
    }
}

/// Pseudo-random numbers: splitmix64 (Steele, Lea and Flood 2014).
pub(super) struct FaultRng(u64);

impl FaultRng {
    pub(super) fn new(seed: u64) -> FaultRng {
        FaultRng(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number less than `bound`, which is small.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
