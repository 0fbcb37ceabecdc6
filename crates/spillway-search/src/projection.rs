//! The choice of the projection of keys.
//!
//! A search begins with the bits in which its initial states differ. At the end of each level it adds the bits of
//! exceptions. Exceptions are common in the first levels, which are small, and rare later. A model of two thousand bits
//! has them in some fifty levels. Each time only the data in memory is converted.
//!
//! A model with an array may have an exception in each of thousands of levels of one state. Once conversions have cost
//! more than the search, a projection also adds *margin*: bits near the exceptions, for those of the next levels. Then
//! its width grows geometrically, and all conversions together cost about as much as a few of the last one.

use super::StateStorage;
use spill::{Codec, Projection};
use std::sync::Arc;

/// The width in bytes up to which keys are machine integers and are not projected.
const WHOLE_MAX: usize = 8;

/// The greatest width of projected keys relative to that of whole keys, as a fraction.
const SHORTER: (usize, usize) = (3, 4);

/// The number of conversions of each visited state, on average, from which projections have margin.
const CONVERSIONS_PER_STATE: u64 = 4;

/// The width of a projection with margin relative to the previous width, as a fraction.
const WIDER: (usize, usize) = (3, 2);

/// The work of converting keys whenever the projection became wider.
#[derive(Default)]
pub(super) struct ConversionWork {
    /// The number of converted keys.
    converted: u64,
}

/// The bits that a wider projection adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProjectionWidening {
    /// Those of the exceptions.
    Exact,
    /// Also bits near them.
    WithMargin,
}

impl ConversionWork {
    /// Records that the keys of `states` visited states are converted.
    pub(super) fn add(&mut self, states: u64) {
        self.converted += states;
    }

    /// Returns how the projection of a search with this number of visited states becomes wider.
    pub(super) fn widening(&self, states: u64) -> ProjectionWidening {
        match self.converted > states.saturating_mul(CONVERSIONS_PER_STATE) {
            true => ProjectionWidening::WithMargin,
            false => ProjectionWidening::Exact,
        }
    }
}

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
pub(super) fn widen_codec(codec: &Codec, more: &[u8], widening: ProjectionWidening) -> Codec {
    let Some(projection) = codec.projection() else { return codec.clone() };
    let exact = projection.with_bits(more);
    let wider = match widening {
        ProjectionWidening::Exact => exact,
        ProjectionWidening::WithMargin => {
            let (times, of) = WIDER;
            let least = projection.width() * times / of;
            add_margin(exact, more, least)
        }
    };
    choose_codec(&wider, 1)
}

/// Returns the projection with the bytes around those of `more`, so that it has `least` bytes or keeps all bits.
fn add_margin(projection: Projection, more: &[u8], least: usize) -> Projection {
    let mut wider = projection;
    let mut radius = 0;
    while wider.width() < least.min(more.len()) {
        wider = wider.with_bits(&bytes_around(more, radius));
        radius = 2 * radius + 1;
    }
    wider
}

/// Returns the bits of all bytes that are at most `radius` bytes from a byte of `bits` that is not zero.
fn bytes_around(bits: &[u8], radius: usize) -> Vec<u8> {
    let mut around = vec![0; bits.len()];
    let mut filled = 0;
    for at in (0..bits.len()).filter(|&at| bits[at] != 0) {
        let end = bits.len().min(at + radius + 1);
        let start = at.saturating_sub(radius).max(filled);
        around[start.min(end)..end].fill(0xff);
        filled = end;
    }
    around
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_within_a_radius_are_filled() {
        let bits = [0, 0, 4, 0, 0, 0, 0, 1];
        assert_eq!(bytes_around(&bits, 0), [0, 0, 255, 0, 0, 0, 0, 255]);
        assert_eq!(bytes_around(&bits, 1), [0, 255, 255, 255, 0, 0, 255, 255]);
        assert_eq!(bytes_around(&bits, 9), [255; 8]);
    }

    /// A key of 400 bytes, of which each level changes one more bit.
    fn widenings(widening: ProjectionWidening) -> usize {
        let whole = 400;
        let bits = |bit: usize| {
            let mut bits = vec![0; whole];
            bits[bit / 8] |= 1 << (bit % 8);
            bits
        };
        let mut codec = choose_codec(&Projection::new(&vec![0; whole], &bits(0)), 1);
        let mut count = 0;
        for bit in 0..8 * whole {
            let Some(projection) = codec.projection() else { break };
            let more = projection.exceptional_bits(&bits(bit));
            if more.iter().any(|&bits| bits != 0) {
                let wider = widen_codec(&codec, &more, widening);
                assert!(
                    wider
                        .projection()
                        .is_none_or(|it| it.exceptional_bits(&bits(bit)) == vec![0; whole])
                );
                codec = wider;
                count += 1;
            }
        }
        count
    }

    #[test]
    fn margin_makes_widenings_rare() {
        assert!(widenings(ProjectionWidening::Exact) >= 250);
        assert!(widenings(ProjectionWidening::WithMargin) <= 20);
    }

    #[test]
    fn margin_follows_many_conversions() {
        let mut work = ConversionWork::default();
        for (states, expected) in [
            (1, ProjectionWidening::Exact),
            (9, ProjectionWidening::Exact),
            (10, ProjectionWidening::WithMargin),
        ] {
            work.add(
                states * 4 + u64::from(expected == ProjectionWidening::WithMargin) - work.converted,
            );
            assert_eq!(work.widening(states), expected);
        }
    }
}
