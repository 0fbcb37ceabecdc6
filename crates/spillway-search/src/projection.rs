//! The choice of the projection of keys.
//!
//! A search begins with the bits in which its initial states differ. At the end of each level it adds the bits of
//! exceptions. Exceptions are common in the first levels, which are small, and rare later. A model of two thousand bits
//! has them in some fifty levels. Each time only the data in memory is converted.

use super::StateStorage;
use spill::{Codec, Projection};
use std::sync::Arc;

/// The width in bytes up to which keys are machine integers and are not projected.
const WHOLE_MAX: usize = 8;

/// The greatest width of projected keys relative to that of whole keys, as a fraction.
const SHORTER: (usize, usize) = (3, 4);

/// The bits in which the initial states differ.
pub(super) struct DifferingBits {
    /// Bytes of a state, with its value if it has one.
    whole: usize,
    /// Bytes at the end that are not projected: those of a value, or of numbers that define dominance.
    behind: usize,
    /// The first state, and the bits in which other states differ from it.
    seen: Option<(Vec<u8>, Vec<u8>)>,
}

impl DifferingBits {
    /// Creates an empty set for states of `whole` bytes. The last `behind` bytes are not projected.
    pub(super) fn new(whole: usize, behind: usize) -> DifferingBits {
        DifferingBits { whole, behind, seen: None }
    }

    /// Adds states.
    pub(super) fn note(&mut self, keys: &[u8]) {
        let whole = self.whole;
        if keys.is_empty() {
            return;
        }
        let (first, bits) =
            self.seen.get_or_insert_with(|| (keys[..whole].to_vec(), vec![0; whole]));
        for key in keys.chunks_exact(whole) {
            let bytes = key.iter().zip(&*first);
            bits.iter_mut().zip(bytes).for_each(|(bits, (one, other))| *bits |= one ^ other);
        }
    }

    /// Returns the codec to begin with, if it differs from that of `storage`.
    pub(super) fn codec(&self, storage: &StateStorage) -> Option<Codec> {
        let (first, bits) = self.seen.as_ref()?;
        let projects =
            matches!(storage, StateStorage::Sorted(Codec::Gaps) | StateStorage::Comback(_));
        if !projects || self.whole <= WHOLE_MAX {
            return None;
        }
        // The bits of values may vary in later levels even if they are constant in this one.
        let value = self.behind;
        Some(choose_codec(&Projection::new(first, bits).with_value(value), value + 1))
    }
}

/// Returns a codec that also represents the exceptions of `codec`, which differ in the bits `more`.
pub(super) fn widen_codec(codec: &Codec, more: &[u8]) -> Codec {
    match codec.projection() {
        Some(projection) => choose_codec(&projection.with_bits(more), 1),
        None => codec.clone(),
    }
}

/// Returns the codec with this projection, and with further bits that fill whole bytes, at least `least` of these.
/// Returns one without projection if that saves little.
fn choose_codec(projection: &Projection, least: usize) -> Codec {
    let (parts, of) = SHORTER;
    if projection.width() * of > projection.whole_width() * parts {
        return Codec::Gaps;
    }
    let (key, varying) = projection.key_and_mask();
    let mut kept = varying.to_vec();
    let missing = 8 * projection.width().max(least)
        - varying.iter().map(|bits| bits.count_ones() as usize).sum::<usize>();
    let unused = (0..8 * kept.len()).filter(|bit| varying[bit / 8] >> (bit % 8) & 1 == 0);
    unused.take(missing).for_each(|bit| kept[bit / 8] |= 1 << (bit % 8));
    Codec::Projected(Arc::new(Projection::new(key, &kept)))
}
