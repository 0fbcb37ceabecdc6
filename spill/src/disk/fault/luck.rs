//! What the power takes with it: pseudo-random choices that a seed repeats.

/// Chooses the ends of what was not synced.
pub(super) struct Luck {
    pub(super) random: Random,
    /// The choice, where the seed makes always the same.
    fixed: Option<End>,
}

/// What has become of a change that was not synced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Lost,
    Kept,
    /// Of bytes: a part of them is there.
    Torn,
}

impl Luck {
    pub(super) fn new(seed: u64) -> Luck {
        let fixed = match seed {
            0 => Some(End::Lost),
            1 => Some(End::Kept),
            _ => None,
        };
        Luck { random: Random::new(seed), fixed }
    }

    pub(super) fn end(&mut self) -> End {
        self.fixed.unwrap_or_else(|| match self.random.below(4) {
            0 => End::Lost,
            1 | 2 => End::Kept,
            _ => End::Torn,
        })
    }

    /// The end of what cannot be torn.
    pub(super) fn is_kept(&mut self) -> bool {
        self.fixed.map_or_else(|| self.random.below(2) == 0, |end| end == End::Kept)
    }
}

/// Pseudo-random numbers: splitmix64 (Steele, Lea and Flood 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `bound`, which is small.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
