//! When the keys of a search are projected, and on what.
//!
//! A search begins with the bits in which its initial states differ, and adds those of exceptions at
//! the end of each level that has some. Exceptions are common in the first levels, which are small,
//! and rare in the later ones: a model of two thousand bits has them in some fifty levels, and each
//! time only what is in memory is turned into the new form.

use super::StateStorage;
use spill::{Codec, Projection};
use std::sync::Arc;

/// Keys of up to so many bytes are a machine integer as they are.
const WHOLE_MAX: usize = 8;

/// Projected keys are to be at least so much shorter: at most these parts of so many.
const SHORTER: (usize, usize) = (3, 4);

/// The bits in which the initial states differ.
pub(super) struct DifferingBits {
    /// Bytes of a state, with its value if it has one.
    whole: usize,
    /// Bytes at the end that are what they are: those of a value, or of numbers by which states dominate others.
    behind: usize,
    /// The first of them, and the bits in which some other differs from it.
    seen: Option<(Vec<u8>, Vec<u8>)>,
}

impl DifferingBits {
    /// Those of no states yet, of `whole` bytes each, of which `behind` at the end are what they are.
    pub(super) fn new(whole: usize, behind: usize) -> DifferingBits {
        DifferingBits { whole, behind, seen: None }
    }

    /// Takes note of more states.
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

    /// The codec to begin with instead of the one asked for.
    pub(super) fn codec(&self, storage: &StateStorage) -> Option<Codec> {
        let (first, bits) = self.seen.as_ref()?;
        let projects =
            matches!(storage, StateStorage::Sorted(Codec::Gaps) | StateStorage::Comback(_));
        if !projects || self.whole <= WHOLE_MAX {
            return None;
        }
        // The bits of values may vary from one level to the next, whatever they are in this one.
        let value = self.behind;
        Some(choose_codec(&Projection::new(first, bits).with_value(value), value + 1))
    }
}

/// The codec that knows the exceptions that `codec` does not, which differ in the bits `more`.
pub(super) fn widen_codec(codec: &Codec, more: &[u8]) -> Codec {
    match codec.projection() {
        Some(projection) => choose_codec(&projection.with_bits(more), 1),
        None => codec.clone(),
    }
}

/// The codec with this projection, and as many more bits as fill whole bytes, `least` at least, or with
/// none, if it spares little.
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
