//! Runs of pairs: keys followed by values (see `values/`).
//!
//! Sorted as wider keys, pairs with equal keys are adjacent, and one pass joins them. Sorting and merging keys remove
//! repeats of identical pairs, which is correct if the operator is idempotent. Otherwise each of them counts: then
//! pairs are sorted by comparison, more slowly than keys, and all repeats are kept.

use super::sort::sort_dedup;
use crate::disk::Result;
use crate::keys::is_ascending;
use crate::values::ValueSpec;

/// Sorts `pairs` of `width` bytes, or keys alone if there are no `values`, and joins pairs with equal keys.
///
/// `scratch` is overwritten and may be left as long as `pairs` was, never longer. If the operator is not idempotent,
/// four bytes are allocated for each pair; otherwise nothing else is allocated.
///
/// # Panics
///
/// If `pairs` is not a whole number of pairs, or holds 2^32 or more that are wider than 16 bytes or have an operator
/// that is not idempotent.
pub fn sort_pairs(
    width: usize,
    values: Option<&ValueSpec>,
    pairs: &mut Vec<u8>,
    scratch: &mut Vec<u8>,
) {
    match values {
        Some(values) if !values.operator().is_idempotent() => sort_all(width, pairs, scratch),
        _ => sort_dedup(width, pairs, scratch),
    }
    if let Some(values) = values {
        join_equal(width, values, pairs);
    }
}

/// Sorts `pairs` and keeps repeats.
pub(super) fn sort_all(width: usize, pairs: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    assert_eq!(pairs.len() % width, 0, "a set of pairs is a whole number of pairs");
    let count =
        u32::try_from(pairs.len() / width).expect("fewer than 2^32 pairs are sorted at once");
    let at = |index: u32| &pairs[index as usize * width..][..width];
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_unstable_by_key(|&index| at(index));
    scratch.clear();
    scratch.reserve_exact(pairs.len());
    order.iter().for_each(|&index| scratch.extend_from_slice(at(index)));
    std::mem::swap(pairs, scratch);
}

/// Joins adjacent `pairs` that have equal keys.
pub(super) fn join_equal(width: usize, values: &ValueSpec, pairs: &mut Vec<u8>) {
    let kept = join_slice(width, values, pairs);
    pairs.truncate(kept);
}

/// Does the same in a slice, and moves the result to the front. Returns its length in bytes.
pub(crate) fn join_slice(width: usize, values: &ValueSpec, pairs: &mut [u8]) -> usize {
    let (key, operator) = (values.key_bytes(width), values.operator());
    if pairs.is_empty() {
        return 0;
    }
    // The last kept pair; all before it are final.
    let mut last = 0;
    for next in (width..pairs.len()).step_by(width) {
        let (kept, rest) = pairs.split_at_mut(next);
        let (kept, other) = (&mut kept[last..last + width], &rest[..width]);
        if kept[..key] == other[..key] {
            operator.join(&mut kept[key..], &other[key..]);
            continue;
        }
        last += width;
        if last != next {
            pairs.copy_within(next..next + width, last);
        }
    }
    last + width
}

/// Removes from the ascending `pairs` of `width` bytes those whose keys `subtract` removes from the ascending keys
/// that it gets. So pairs can be subtracted from anything that keys can: a slice, a segment, a store without values.
pub fn subtract_keys(
    width: usize,
    values: &ValueSpec,
    pairs: &mut Vec<u8>,
    subtract: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    debug_assert!(is_ascending(width, pairs));
    let key = values.key_bytes(width);
    let mut left = values.keys_of(width, pairs);
    let before = left.len();
    subtract(&mut left)?;
    if left.len() == before {
        return Ok(());
    }
    let (mut next, mut kept) = (0, 0);
    for key in left.chunks_exact(key) {
        while pairs[next..][..key.len()] != *key {
            next += width;
        }
        pairs.copy_within(next..next + width, kept);
        next += width;
        kept += width;
    }
    pairs.truncate(kept);
    Ok(())
}
