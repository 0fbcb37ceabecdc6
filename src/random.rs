//! Pseudo-random numbers, the same from the same seed on any machine: splitmix64 (Steele, Lea and
//! Flood, "Fast splittable pseudorandom number generators", 2014).

/// Added for each next number: the golden ratio's.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Scrambles a number, bijectively.
#[inline]
pub fn scramble(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The number that a generator in this state gives next.
#[inline]
pub fn mix(state: u64) -> u64 {
    scramble(state.wrapping_add(STEP))
}

/// A generator.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// One that the seed decides.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        let number = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        number
    }

    /// A number below a bound, which is not 0 and small.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
