//! Cutting the key space into ranges that hold about equally many keys.
//!
//! The boundaries come from a sample: evenly spaced keys of each set in memory, and the first keys of blocks of each
//! segment, read from its index alone. Each sample represents the keys up to the next sample of its set. In the order
//! of all samples, a boundary is where the number of represented keys exceeds the next share.

use crate::keys::count;
use crate::segments::Segment;
use std::borrow::Cow;

/// The number of samples of a set for each range: each set contributes an error of a range of at most about the
/// inverse of this.
const SAMPLES_PER_RANGE: usize = 64;

/// Chooses up to `ranges - 1` keys, ascending and different, that cut the keys of all the sorted `slices` and
/// `segments` into ranges of about equal size. A range begins with its boundary.
pub fn split(width: usize, slices: &[&[u8]], segments: &[Segment], ranges: usize) -> Vec<Vec<u8>> {
    if ranges <= 1 {
        return Vec::new();
    }
    let mut samples: Vec<(Cow<[u8]>, u64)> = Vec::new();
    let per_set = ranges.saturating_mul(SAMPLES_PER_RANGE);
    for keys in slices {
        let count = count(width, keys);
        let step = count.div_ceil(per_set).max(1);
        for start in (0..count).step_by(step) {
            let weight = step.min(count - start) as u64;
            samples.push((Cow::Borrowed(&keys[start * width..][..width]), weight));
        }
    }
    for segment in segments {
        let step = segment.blocks().div_ceil(per_set).max(1);
        for start in (0..segment.blocks()).step_by(step) {
            let blocks = start..segment.blocks().min(start + step);
            let weight = blocks.map(|block| segment.block_keys(block) as u64).sum();
            samples.push((segment.first_key(start), weight));
        }
    }
    samples.sort_unstable();
    boundaries(&samples, ranges)
}

/// Returns the boundaries, for ascending samples with the number of keys that each represents.
fn boundaries(samples: &[(Cow<[u8]>, u64)], ranges: usize) -> Vec<Vec<u8>> {
    let total: u64 = samples.iter().map(|(_, weight)| weight).sum();
    let share = |range: usize| (u128::from(total) * range as u128 / ranges as u128) as u64;
    let mut chosen: Vec<Vec<u8>> = Vec::new();
    let mut range = 1;
    let mut before = 0;
    let Some((floor, _)) = samples.first() else { return chosen };
    let mut floor: &[u8] = floor;
    for (key, weight) in samples {
        if range < ranges && before >= share(range) && **key > *floor {
            chosen.push(key.to_vec());
            floor = key;
            while range < ranges && before >= share(range) {
                range += 1;
            }
        }
        before += weight;
    }
    chosen
}

/// A range of the key space: from `low` (included) to `high` (excluded).
#[derive(Clone, Copy)]
pub(crate) struct KeyRange<'a> {
    pub(crate) low: Option<&'a [u8]>,
    pub(crate) high: Option<&'a [u8]>,
}

impl<'a> KeyRange<'a> {
    pub(crate) const ALL: KeyRange<'static> = KeyRange { low: None, high: None };

    /// Returns the ranges into which `boundaries` cut the key space.
    pub(crate) fn cut(boundaries: &'a [Vec<u8>]) -> Vec<KeyRange<'a>> {
        let bound = |at: usize| boundaries.get(at).map(Vec::as_slice);
        (0..=boundaries.len())
            .map(|at| KeyRange { low: at.checked_sub(1).and_then(bound), high: bound(at) })
            .collect()
    }
}
