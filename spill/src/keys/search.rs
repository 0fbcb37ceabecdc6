//! Search in a flat ascending set of keys.

use super::dispatch::for_shape;
use super::shape::KeyShape;

/// Returns the number of keys of `width` bytes in a flat set.
#[inline]
pub fn count(width: usize, keys: &[u8]) -> usize {
    debug_assert_eq!(keys.len() % width, 0, "a key set is a whole number of keys");
    keys.len() / width
}

/// Returns the number of keys in the ascending `keys` that are less than `key`.
pub fn lower_bound(width: usize, keys: &[u8], key: &[u8]) -> usize {
    for_shape!(width, shape => bound(shape, keys, 0, count(width, keys), shape.key(key)))
}

/// Does the same as [`lower_bound`], but counts only from the `from`-th key on, and is fast if the answer is near it.
/// It takes doubling steps, then a binary search: about `2 log2(distance)` comparisons.
pub fn gallop(width: usize, keys: &[u8], from: usize, key: &[u8]) -> usize {
    for_shape!(width, shape => gallop_from(shape, keys, from, count(width, keys), shape.key(key)))
}

/// Returns the first index in `low..high` whose key is not less than `key`, or `high`.
#[inline]
pub(crate) fn bound<'a, S: KeyShape>(
    shape: S,
    keys: &'a [u8],
    mut low: usize,
    mut high: usize,
    key: S::Key<'a>,
) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if shape.key_at(keys, middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Does the same as [`bound`], in time logarithmic in the distance of the answer from `low`.
#[inline]
pub(crate) fn gallop_from<'a, S: KeyShape>(
    shape: S,
    keys: &'a [u8],
    mut low: usize,
    high: usize,
    key: S::Key<'a>,
) -> usize {
    let mut step = 1;
    while low < high {
        let probe = (low + step - 1).min(high - 1);
        if shape.key_at(keys, probe) >= key {
            return bound(shape, keys, low, probe, key);
        }
        low = probe + 1;
        step *= 2;
    }
    low
}

/// Does the same as [`bound`] among the first `high` keys, in time logarithmic in the distance of the answer from
/// `high`.
#[inline]
pub(crate) fn gallop_back<'a, S: KeyShape>(
    shape: S,
    keys: &'a [u8],
    mut high: usize,
    key: S::Key<'a>,
) -> usize {
    let mut step = 1;
    while high > 0 {
        let probe = high - step.min(high);
        if shape.key_at(keys, probe) < key {
            return bound(shape, keys, probe + 1, high, key);
        }
        high = probe;
        step *= 2;
    }
    0
}

/// Returns whether `keys` is a whole number of keys in strictly ascending order; for assertions.
pub(crate) fn is_ascending(width: usize, keys: &[u8]) -> bool {
    keys.len().is_multiple_of(width)
        && for_shape!(width, shape => {
            (1..keys.len() / width).all(|i| shape.key_at(keys, i - 1) < shape.key_at(keys, i))
        })
}

/// Returns the part of the ascending `keys` that is in `low..high`, where no bound is infinite.
pub(crate) fn restrict<'a>(
    width: usize,
    keys: &'a [u8],
    low: Option<&[u8]>,
    high: Option<&[u8]>,
) -> &'a [u8] {
    for_shape!(width, shape => {
        let count = keys.len() / width;
        let start = low.map_or(0, |low| bound(shape, keys, 0, count, shape.key(low)));
        let end = high.map_or(count, |high| bound(shape, keys, start, count, shape.key(high)));
        &keys[start * width..end * width]
    })
}
