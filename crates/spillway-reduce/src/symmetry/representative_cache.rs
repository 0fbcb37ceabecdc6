//! A small cache of representatives that were computed recently.
//!
//! Independent transitions can be taken in either order, so a search reaches many states several times within a few
//! transitions. A lookup is much cheaper than computing a representative.

use spillway_base::random::mix;
use spillway_model::stop_request;

/// The bytes of a table: few enough for the cache of a core. The memory plan reserves them for every thread.
const BYTES: usize = 256 << 10;

/// The table. Each state has one place, which it shares with others; the last one is stored.
pub(super) struct RepresentativeCache {
    width: usize,
    /// The states and their representatives, as consecutive pairs.
    pairs: Vec<u8>,
    /// Whether each place has a pair.
    is_there: Vec<bool>,
}

impl RepresentativeCache {
    /// Creates a cache for states of `width` bytes.
    pub(super) fn new(width: usize) -> Self {
        let places = 1 << (BYTES / (2 * width)).max(1).ilog2();
        Self { width, pairs: vec![0; places * 2 * width], is_there: vec![false; places] }
    }

    /// Replaces a state by its representative, computed by `represent` if it is not cached.
    #[inline]
    pub(super) fn represent(&mut self, state: &mut [u8], represent: impl FnOnce(&mut [u8])) {
        let place = hash(state) as usize & (self.is_there.len() - 1);
        let pair = &mut self.pairs[place * 2 * self.width..][..2 * self.width];
        let (known, representative) = pair.split_at_mut(self.width);
        if !self.is_there[place] || known != state {
            known.copy_from_slice(state);
            represent(state);
            representative.copy_from_slice(state);
            // A computation that stopped early may have no representative.
            self.is_there[place] = !stop_request::is_requested();
        } else {
            state.copy_from_slice(representative);
        }
    }
}

fn hash(state: &[u8]) -> u64 {
    let (words, rest) = state.as_chunks::<8>();
    let last = rest.iter().fold(0, |last, &byte| last << 8 | u64::from(byte));
    let add = |hash: u64, word: u64| (hash.rotate_left(29) ^ word).wrapping_mul(ODD);
    mix(add(words.iter().fold(0, |hash, word| add(hash, u64::from_le_bytes(*word))), last))
}

/// An odd number, for multiplication.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
