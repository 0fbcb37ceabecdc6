//! Hunts within a search: short ones, on one thread, in little memory.
//!
//! All bounds are counts. So such a hunt has the same result on every machine and with any number of threads.

use super::portfolio::HuntOptions;
use super::strategies::STRATEGIES;

/// The most bytes of a hunt within a search.
pub const BOUNDED_BYTES_MAX: u64 = 24 << 20;

/// The least bytes of any hunt.
const BYTES_MIN: u64 = 1 << 20;

/// The least bytes of a hunt with a strategy, by its name. A set of fingerprints takes at least 4 MiB. Other strategies
/// need [`BYTES_FOR_ALL`].
const BYTES_FOR: [(&str, u64); 2] = [("uniform", BYTES_MIN), ("dive", 6 << 20)];

/// The least bytes of a hunt with all strategies.
const BYTES_FOR_ALL: u64 = 20 << 20;

/// The bytes of a state from which a transition counts in proportion to the bytes.
const STATE_BYTES: u64 = 128;

/// Returns the number of transitions in a system whose states have `width` bytes that takes about as long as this number
/// with small states.
pub fn transitions_for_width(transitions: u64, width: usize) -> u64 {
    transitions.saturating_mul(STATE_BYTES) / STATE_BYTES.max(width as u64)
}

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
        let needed =
            |name| BYTES_FOR.iter().find(|it| it.0 == name).map_or(BYTES_FOR_ALL, |it| it.1);
        let strategies = STRATEGIES.iter().filter(|it| bytes >= needed(it.name));
        let transitions = transitions_for_width(transitions, width);
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
