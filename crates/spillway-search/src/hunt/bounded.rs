//! Hunts within a search: short ones, on one thread, in little memory.
//!
//! All bounds are counts. So such a hunt has the same result on every machine and with any number of threads.

use super::portfolio::HuntOptions;
use super::strategies::STRATEGIES;

/// The most bytes of a hunt within a search.
pub const BOUNDED_BYTES_MAX: u64 = 24 << 20;

/// The least bytes of a hunt with strategies that keep sets of fingerprints.
const BYTES_WITH_SETS: u64 = 16 << 20;

/// The least bytes of any hunt.
const BYTES_MIN: u64 = 1 << 20;

/// The strategy without a set of fingerprints.
const WITHOUT_SETS: &str = "uniform";

/// The bytes of a state from which a transition counts in proportion to the bytes.
const STATE_BYTES: u64 = 128;

/// The bounds of a hunt within a search.
#[derive(Clone, Copy, Debug)]
pub struct HuntBounds {
    /// The seed of its random numbers.
    pub seed: u64,
    /// About the most transitions of a system with small states. It is less for large states.
    pub transitions: u64,
    /// The bytes of memory.
    pub bytes: u64,
    /// The bytes of a state.
    pub width: usize,
}

impl HuntBounds {
    /// Returns the options of the hunt. `None` if the memory does not suffice for a hunt.
    pub fn options(self) -> Option<HuntOptions> {
        let HuntBounds { seed, transitions, bytes, width } = self;
        let has_sets = bytes >= BYTES_WITH_SETS;
        let strategies = STRATEGIES.iter().filter(|it| has_sets || it.name == WITHOUT_SETS);
        let transitions = transitions * STATE_BYTES / STATE_BYTES.max(width as u64);
        (bytes >= BYTES_MIN).then(|| HuntOptions {
            seed,
            threads: 1,
            walks: None,
            transitions: Some(transitions),
            bytes: bytes.min(BOUNDED_BYTES_MAX),
            strategies: strategies.collect(),
        })
    }
}
