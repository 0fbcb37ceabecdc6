//! Sorting a buffer of keys and removing its repeats, with one second buffer and no other memory.
//!
//! **Radix sort.** Keys that fit an integer are sorted by a radix sort from the most significant *bit* down (McIlroy,
//! Bostic and McIlroy 1993, but between two buffers and not on byte boundaries). For each bucket the sort first finds
//! the bits that vary. The digit is the first [`DIGIT_BITS`] of these (see `keys/digits.rs`). So shared prefixes cost
//! nothing, and bit-packed states, where bytes are no natural unit, still spread well. A bucket is scattered from its
//! buffer to the same range of the other.
//!
//! **Small buckets.** A small bucket is loaded into a table that fits the cache, sorted there by comparison, and
//! written without repeats to its final place. Of keys of several integers only few are moved so; for more, 51 bits
//! and an index of each are sorted. Buckets are visited in ascending order, so every key is written at or before its
//! origin, and the result is compact after the last bucket.
//!
//! **Repeats.** Most candidates are repeats, and comparing them is wasted work. So a key on its way into the table is
//! looked up in a direct-mapped table of recent keys, where each key replaces the previous one in its slot. This takes
//! no branch and no probing, and removes nearly all repeats. The others are adjacent after the sort and are removed
//! there.
//!
//! **Bounds.** Every level of the recursion consumes `DIGIT_BITS` varying bits, or all varying bits among 64. So for
//! any input there are at most 14 levels with a 16 kB frame for integers, and 55 for numbers of several. No input is
//! quadratic.
//!
//! **Constant bits.** Bits that are equal in all keys need not be moved. Keys are squeezed (see `keys/squeeze.rs`) if
//! this makes them shorter, and always if it makes them integers. They are squeezed on the way to the second buffer,
//! sorted there, and restored on the way back. Keys that vary in too many bits are sorted as numbers of several
//! integers. Still wider keys are not moved while they are sorted: see [`sort_wide`].

use crate::keys::{
    IntegerShape, KeyDigits, KeyInteger, KeyShape, KeySqueezer, PACKED_WIDTH_MAX, WideShape,
    for_long, for_packed, varying,
};
use byteorder::{BigEndian, ByteOrder};

/// The number of bits by which one level of the radix sort distributes.
const DIGIT_BITS: u32 = 11;
/// The number of buckets of one level.
const DIGITS: usize = 1 << DIGIT_BITS;
/// The number of bits of the index of a key in a bucket that is not distributed further.
const INDEX_BITS: u32 = 13;
/// The maximum size of such a bucket.
const SMALL: usize = 1 << INDEX_BITS;
/// The maximum size of a bucket that is sorted in a table, if its keys are one integer each and differ in more than
/// their low 64 bits.
const SMALL_WIDE: usize = 2048;
/// The same for keys of several integers.
const SMALL_LONG: usize = 64;
/// Keys of at most this many bytes are not squeezed.
const UNSQUEEZED_MAX: usize = 8;
/// The number of keys that are unsqueezed at a time.
const UNSQUEEZE_KEYS: usize = 256;
/// The minimum size of a bucket from which repeats are removed before it is sorted.
const DEDUP_KEYS_MIN: usize = 32;

/// Sorts the keys of `width` bytes in `keys` in ascending order and removes repeats.
///
/// `scratch` is overwritten and may be left as long as `keys` was, never longer; nothing else is allocated.
///
/// # Panics
///
/// If `keys` is not a whole number of keys, or holds 2^31 or more keys wider than 16 bytes.
pub fn sort_dedup(width: usize, keys: &mut Vec<u8>, scratch: &mut Vec<u8>) {
    assert_eq!(keys.len() % width, 0, "a key set is a whole number of keys");
    scratch.truncate(keys.len());
    if keys.len() <= width {
        return;
    }
    scratch.reserve_exact(keys.len() - scratch.len());
    scratch.resize(keys.len(), 0);
    let squeeze = KeySqueezer::of_keys(width, keys);
    let narrow = squeezed_width(&squeeze);
    let kept = if width > UNSQUEEZED_MAX && narrow < width.min(PACKED_WIDTH_MAX + 1) {
        for_packed!(narrow, shape => sort_squeezed(shape, &squeeze, width, keys, scratch),
                    else unreachable!("squeezed keys of width {:?} are integers", shape.0))
    } else {
        for_packed!(width, shape => sort_packed(shape, shape.key(&squeeze.varying()), keys, scratch),
                    else for_long!(width, long => sort_packed(long, long.key(&squeeze.varying()), keys, scratch),
                                   else sort_wide(shape, squeeze, keys, scratch)))
    };
    keys.truncate(kept * width);
}

/// Returns the width in bytes of squeezed keys.
fn squeezed_width(squeeze: &KeySqueezer) -> usize {
    squeeze.bits().div_ceil(8).max(1) as usize
}

/// Sorts keys that fit an integer when squeezed. Returns the number of distinct ones, which are then in front.
fn sort_squeezed<P: IntegerShape>(
    shape: P,
    squeeze: &KeySqueezer,
    width: usize,
    keys: &mut [u8],
    scratch: &mut [u8],
) -> usize {
    let narrow = shape.width();
    let length = keys.len() / width * narrow;
    let squeezed = &mut scratch[..length];
    let mut slots = squeezed.chunks_exact_mut(narrow);
    squeeze.squeeze(keys, |value| {
        let slot = slots.next().expect("there is a slot for every key");
        shape.store(value, slot);
    });
    let all = shape.key(&[0xff; PACKED_WIDTH_MAX]).shr(P::BITS - squeeze.bits().max(1));
    let kept = sort_packed(shape, all, squeezed, &mut keys[..length]);
    let mut values = [P::Int::ZERO; UNSQUEEZE_KEYS];
    let batches = squeezed[..kept * narrow].chunks(UNSQUEEZE_KEYS * narrow);
    for (batch, keys) in batches.zip(keys.chunks_mut(UNSQUEEZE_KEYS * width)) {
        let count = batch.len() / narrow;
        for (value, key) in values.iter_mut().zip(batch.chunks_exact(narrow)) {
            *value = shape.key(key);
        }
        squeeze.unsqueeze(&values[..count], &mut keys[..count * width]);
    }
    kept
}

/// Sorts keys that are numbers and agree in all bits not set in `varying`. Returns the number of distinct ones, which
/// are then in front.
fn sort_packed<P: IntegerShape>(
    shape: P,
    varying: P::Int,
    keys: &mut [u8],
    scratch: &mut [u8],
) -> usize {
    let count = keys.len() / shape.width();
    let mut radix = RadixSort {
        shape,
        sides: [keys, scratch],
        kept: 0,
        narrow: BucketTable::new(count.min(SMALL)),
        wide: BucketTable::new(count.min(table_keys_max::<P>())),
        heads: HeadTable::default(),
    };
    radix.sort_varying(0, count, 0, varying);
    radix.kept
}

/// The state of one radix sort.
struct RadixSort<'a, P: IntegerShape> {
    shape: P,
    /// The keys, and the buffer they move to and from, of equal length.
    sides: [&'a mut [u8]; 2],
    /// The number of final keys at the front of the first side; never beyond the current bucket.
    kept: usize,
    /// For small buckets whose keys agree above their low 64 bits.
    narrow: BucketTable<u64>,
    /// For other buckets of few keys.
    wide: BucketTable<P::Int>,
    /// For other buckets of more keys.
    heads: HeadTable<P::Int>,
}

impl<P: IntegerShape> RadixSort<'_, P> {
    /// Appends the distinct keys in `from..to` of a side to the result, in order.
    fn sort(&mut self, from: usize, to: usize, side: usize) {
        debug_assert!(self.kept <= from && from <= to);
        if from == to {
            return;
        }
        let width = self.shape.width();
        let varying = varying(self.shape, &self.sides[side][from * width..to * width]);
        self.sort_varying(from, to, side, varying);
    }

    /// Does the same for keys, at least one, that agree in all bits not set in `varying`.
    fn sort_varying(&mut self, from: usize, to: usize, side: usize, varying: P::Int) {
        let width = self.shape.width();
        let bucket = &self.sides[side][from * width..to * width];
        let (count, bits) = (to - from, varying.length());
        if bits == 0 {
            self.keep(self.shape.key(bucket));
        } else if bits <= 64 && count <= SMALL {
            let first = self.shape.key(bucket);
            let high = first.sub(P::Int::from_low(first.low()));
            self.narrow.load(bucket.chunks_exact(width).map(|key| self.shape.key(key).low()));
            let sorted = self.narrow.sort();
            let result = &mut self.sides[0][self.kept * width..];
            self.kept += store(self.shape, sorted, |low| high.add(P::Int::from_low(low)), result);
        } else if count <= table_keys_max::<P>() {
            self.wide.load(bucket.chunks_exact(width).map(|key| self.shape.key(key)));
            let sorted = self.wide.sort();
            let result = &mut self.sides[0][self.kept * width..];
            self.kept += store(self.shape, sorted, |key| key, result);
        } else if count <= SMALL && P::BITS > u128::BITS {
            self.sort_by_heads(from, to, side, varying);
        } else {
            let ends = self.scatter(from, to, side, KeyDigits::leading(varying, DIGIT_BITS));
            let mut start = from;
            for end in ends {
                self.sort(start, end, 1 - side);
                start = end;
            }
        }
    }

    /// Does the same for at most [`SMALL`] long keys. It sorts the first bits that are set in `varying`, with the
    /// key's index. Keys that agree in these, mostly repeats, are sorted by all bits.
    fn sort_by_heads(&mut self, from: usize, to: usize, side: usize, varying: P::Int) {
        let (shape, width) = (self.shape, self.shape.width());
        let [result, second] = &mut self.sides;
        let second = &mut second[from * width..to * width];
        if side == 0 {
            // The result overwrites it.
            second.copy_from_slice(&result[from * width..to * width]);
        }
        let bucket = &*second;
        let HeadTable { entries, tied } = &mut self.heads;
        entries.clear();
        let heads =
            KeySqueezer::with_varying(shape, bucket, varying).leading(u64::BITS - INDEX_BITS);
        heads.squeeze(bucket, |head: u64| entries.push(head << INDEX_BITS | entries.len() as u64));
        entries.sort_unstable();
        let key = |entry: u64| shape.key_at(bucket, entry as usize % SMALL);
        let mut rest = entries.as_slice();
        while let [first, others @ ..] = rest {
            let same = |other: &&u64| **other >> INDEX_BITS == *first >> INDEX_BITS;
            let others = others.iter().take_while(same).count();
            if others == 0 {
                shape.store_at(key(*first), result, self.kept);
                self.kept += 1;
            } else {
                tied.clear();
                tied.extend(rest[..=others].iter().map(|entry| key(*entry)));
                tied.sort_unstable();
                tied.dedup();
                for &key in &*tied {
                    shape.store_at(key, result, self.kept);
                    self.kept += 1;
                }
            }
            rest = &rest[1 + others..];
        }
    }

    /// Distributes the keys `from..to` of a side to the other by their `digits`, the first bits that vary among them.
    /// Returns the end of each digit's bucket there.
    fn scatter(
        &mut self,
        from: usize,
        to: usize,
        side: usize,
        digits: KeyDigits,
    ) -> [usize; DIGITS] {
        let (shape, width) = (self.shape, self.shape.width());
        let [first, second] = &mut self.sides;
        let (source, target) = if side == 0 { (first, second) } else { (second, first) };
        let source = &source[from * width..to * width];

        let mut ends = [0; DIGITS];
        digits.for_each_digit(shape, source, |digit, _| ends[digit as usize % DIGITS] += 1);
        let mut start = from;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        digits.for_each_digit(shape, source, |digit, key| {
            let end = &mut ends[digit as usize % DIGITS];
            shape.store_at(key, target, *end);
            *end += 1;
        });
        ends
    }

    /// Appends one key to the result.
    fn keep(&mut self, key: P::Int) {
        self.shape.store(key, &mut self.sides[0][self.kept * self.shape.width()..]);
        self.kept += 1;
    }
}

/// Returns the maximum number of keys that are sorted in a table although they differ in more than their low 64 bits.
const fn table_keys_max<P: IntegerShape>() -> usize {
    match P::BITS {
        0..=64 => 0,
        65..=128 => SMALL_WIDE,
        _ => SMALL_LONG,
    }
}

/// A table for sorting a small bucket of long keys.
#[derive(Default)]
struct HeadTable<K> {
    /// The first varying bits of each key, with its index.
    entries: Vec<u64>,
    /// Keys that agree in these bits.
    tied: Vec<K>,
}

/// A table for sorting a small bucket.
struct BucketTable<K> {
    /// The number of loaded keys.
    count: usize,
    /// The keys.
    keys: Vec<K>,
    /// The last key of each slot.
    seen: Vec<K>,
}

impl<K: KeyInteger> BucketTable<K> {
    /// Creates a table for up to `capacity` keys.
    fn new(capacity: usize) -> Self {
        let slots = if capacity < DEDUP_KEYS_MIN { 0 } else { 1 << slot_bits(capacity) };
        BucketTable { count: 0, keys: vec![K::ZERO; capacity], seen: vec![K::ZERO; slots] }
    }

    /// Loads `keys`, without most of their repeats.
    fn load(&mut self, keys: impl ExactSizeIterator<Item = K>) {
        self.count = keys.len();
        if self.count < DEDUP_KEYS_MIN {
            self.keys.iter_mut().zip(keys).for_each(|(slot, key)| *slot = key);
            return;
        }
        let shift = 64 - slot_bits(keys.len());
        let slot = |key: K| (key.mix() >> shift) as usize;
        let seen = &mut self.seen[..1 << (64 - shift)];
        // An empty slot holds zero. Zero itself belongs to slot 0, so slot 0 must hold another value.
        seen.fill(K::ZERO);
        seen[0] = K::from_low(1);
        let mut count = 0;
        for key in keys {
            let seen = &mut seen[slot(key)];
            self.keys[count] = key;
            count += usize::from(*seen != key);
            *seen = key;
        }
        self.count = count;
    }

    /// Returns the loaded keys in ascending order, still with some repeats.
    fn sort(&mut self) -> &[K] {
        let keys = &mut self.keys[..self.count];
        keys.sort_unstable();
        keys
    }
}

/// Returns the logarithm of the number of slots, about two for each key, for `count` keys.
fn slot_bits(count: usize) -> u32 {
    count.ilog2() + 1
}

/// Writes the distinct keys of the ascending `sorted`, at least one. Returns their number.
#[inline(always)]
fn store<P: IntegerShape, K: KeyInteger>(
    shape: P,
    sorted: &[K],
    key: impl Fn(K) -> P::Int,
    result: &mut [u8],
) -> usize {
    let (mut last, mut kept) = (sorted[0], 0);
    for &next in sorted {
        kept += usize::from(next != last);
        last = next;
        shape.store(key(next), &mut result[kept * shape.width()..]);
    }
    kept + 1
}

/// The size in bytes of the index of a wide key in the entry that represents it.
const INDEX: usize = 4;

/// Sorts keys that vary in more than 128 bits. Returns the number of distinct ones, which are then in front.
///
/// Entries are sorted instead of the keys, in the scratch buffer. The sort itself needs half of this buffer. An entry
/// contains as many of the first varying bits as fit, then the key's index. Entries that agree in these bits, mostly
/// repeats, are ordered by comparing keys. Finally the keys are brought into the order of the indices.
fn sort_wide(shape: WideShape, squeeze: KeySqueezer, keys: &mut [u8], scratch: &mut [u8]) -> usize {
    let width = shape.width();
    let count = keys.len() / width;
    assert!(count < KEY_MOVED as usize, "fewer than 2^31 wide keys are sorted at once");
    let entry = (width / 2).min(PACKED_WIDTH_MAX);
    let (entries, second) = scratch[..2 * count * entry].split_at_mut(count * entry);
    let head_bits = 8 * (entry - INDEX) as u32;
    let mut places = (0u128..).zip(entries.chunks_exact_mut(entry));
    squeeze.leading(head_bits).squeeze(keys, |head: u128| {
        let (index, place) = places.next().expect("there is an entry for every key");
        let bytes = (head << (8 * INDEX) | index).to_be_bytes();
        place.copy_from_slice(&bytes[bytes.len() - entry..]);
    });
    for_packed!(entry, shape => sort_packed(shape, varying(shape, entries), entries, second),
                else unreachable!("entries of {:?} bytes are integers", shape.0));
    let kept = pick_distinct(shape, keys, entries, entry);
    let (indices, room) = scratch.split_at_mut(kept * INDEX);
    gather(width, keys, indices, room);
    kept
}

/// Replaces entries, in the order of their heads, with the indices of the distinct keys in key order. Returns the
/// number of these.
fn pick_distinct(shape: WideShape, keys: &[u8], entries: &mut [u8], entry: usize) -> usize {
    let (mut start, mut kept) = (0, 0);
    let mut tied: Vec<u32> = Vec::new();
    let key = |index: u32| shape.key_at(keys, index as usize);
    while start < entries.len() {
        let head = &entries[start..start + entry - INDEX];
        let others = entries[start + entry..].chunks_exact(entry);
        let same = 1 + others.take_while(|other| other[..entry - INDEX] == *head).count();
        let end = start + same * entry;
        tied.clear();
        let group = entries[start..end].chunks_exact(entry);
        tied.extend(group.map(|entry| BigEndian::read_u32(&entry[entry.len() - INDEX..])));
        if same > 1 {
            if !tied.is_sorted_by(|&a, &b| key(a) <= key(b)) {
                tied.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
            }
            tied.dedup_by(|a, b| key(*a) == key(*b));
        }
        // An index is shorter than an entry, so this position is before the remaining entries.
        for &index in &tied {
            BigEndian::write_u32(&mut entries[kept * INDEX..], index);
            kept += 1;
        }
        start = end;
    }
    kept
}

/// Brings the keys of these indices to the front, in their order. If `room` is large enough, they are copied there and
/// back, with many loads at a time. Otherwise they are moved within `keys`.
fn gather(width: usize, keys: &mut [u8], indices: &mut [u8], room: &mut [u8]) {
    let (indices, _) = indices.as_chunks_mut::<INDEX>();
    let length = indices.len() * width;
    if let Some(room) = room.get_mut(..length) {
        for (index, place) in indices.iter().zip(room.chunks_exact_mut(width)) {
            let index = u32::from_be_bytes(*index) as usize;
            place.copy_from_slice(&keys[index * width..][..width]);
        }
        keys[..length].copy_from_slice(room);
        return;
    }
    permute(width, keys, indices);
}

/// Marks the index of a position whose key has arrived.
const KEY_MOVED: u32 = 1 << 31;

/// Brings the keys of these indices to the front. Each is moved once or twice: along the cycles of the permutation,
/// and along the paths that begin at a position after the front.
fn permute(width: usize, keys: &mut [u8], indices: &mut [[u8; INDEX]]) {
    let kept = indices.len();
    let mut held = vec![0; width];
    for to in 0..kept {
        if u32::from_be_bytes(indices[to]) & KEY_MOVED != 0 {
            continue;
        }
        held.copy_from_slice(&keys[to * width..][..width]);
        let mut at = to;
        loop {
            let mut from = u32::from_be_bytes(indices[at]);
            indices[at] = (from | KEY_MOVED).to_be_bytes();
            if from as usize == to {
                keys[at * width..][..width].copy_from_slice(&held);
                break;
            }
            if let Some(&index) = indices.get(from as usize)
                && u32::from_be_bytes(index) & KEY_MOVED != 0
            {
                // A path began there, and its key was moved to the path's end.
                from = u32::from_be_bytes(index) & !KEY_MOVED;
            }
            let place = from as usize * width..(from as usize + 1) * width;
            keys.copy_within(place.clone(), at * width);
            if from as usize >= kept {
                keys[place].copy_from_slice(&held);
                indices[to] = (from | KEY_MOVED).to_be_bytes();
                break;
            }
            at = from as usize;
        }
    }
}
