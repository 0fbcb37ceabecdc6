//! Pseudo-random numbers that depend only on the seed, on any machine: splitmix64 (Steele, Lea and Flood, "Fast
//! splittable pseudorandom number generators", 2014).

/// The increment of the state, from the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scrambles a number, bijectively.
#[inline]
pub fn scramble(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the next number of a generator in this state.
#[inline]
pub fn mix(state: u64) -> u64 {
    scramble(state.wrapping_add(STEP))
}

/// A generator.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Returns the next number.
    pub fn next_number(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    /// Returns a number below a bound, which must be small and not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next_number() % bound as u64) as usize
    }
}
