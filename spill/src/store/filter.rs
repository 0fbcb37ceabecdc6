//! A Bloom filter of the store, which avoids searches of its runs.
//!
//! If levels are thin, the few candidates of a level meet a store of many blocks, each in a different one. Candidates
//! that are in no recent level are usually new. Decoding a block for each takes ten microseconds; a test of a Bloom
//! filter (1970) takes one cache miss. The filter is blocked (Putze, Sanders and Singler 2007): all bits of a key are
//! in one cache line. A key that it does not hold is in no run; a key that it seems to hold is looked up as usual. So
//! the filter does not affect the result, and its memory can be any number of bits for each key.

use crate::codec::Codec;
use crate::disk::Result;
use crate::keys::{KeyShape, Projection, for_shape};
use crate::segments::Segment;
use std::borrow::Cow;

/// The number of bits of a key in its line.
const PROBES: u32 = 6;
/// The number of keys that are inserted or tested together.
const PROBE_BATCH: usize = 32;
/// The minimum number of bits for each key: with fewer, a filter passes too much to be useful.
const BITS_PER_KEY_MIN: u64 = 4;
/// With fewer bits for each key, the filter is built again if it may be larger.
const BITS_PER_KEY_LOW: u64 = 8;
/// The bits for each key once a filter holds [`GROWTH`] times as many keys as when it was built.
const BITS_PER_KEY: u64 = 12;
/// The factor by which a filter is larger than its current keys need.
const GROWTH: u64 = 4;

/// The maximum number of keys of a level, for each block of the old runs, with which a filter is worthwhile.
const KEYS_PER_BLOCK_MAX: u64 = 20;
/// The maximum number of candidates of a level in old runs, for each block. With more, the filter saves nothing, since
/// each of these candidates is looked up anyway.
const LOOKED_UP_PER_BLOCK_MAX: u64 = 1;
/// The number of levels after a useless filter in which none is built.
const PAUSE_LEVELS: u64 = 50;

/// The cost of inserting a block's keys into a filter, in decoded blocks.
const DECODED_PER_BLOCK: u64 = 8;
/// The number of keys whose test or insertion costs as much as decoding a block.
const KEYS_PER_DECODED: u64 = 500;

/// The filter, or the data to decide whether to build one.
#[derive(Debug, Default)]
pub(super) struct FilterChoice {
    filter: Option<BloomFilter>,
    /// The size in bytes of the filter to build.
    wanted: usize,
    /// The first level from which a filter may be built.
    not_before: u64,
    /// The number of blocks of the old runs at the last choice.
    blocks: u64,
    level: u64,
    /// The number of blocks decoded without a result, minus the cost of testing and maintaining a filter, in blocks.
    in_vain: u64,
}

/// The expanded level.
pub(super) struct ExpandedLevel {
    /// The number of the level.
    pub(super) number: u64,
    /// The number of its keys.
    pub(super) keys: u64,
}

/// Statistics of looking up candidates in the store.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookupStats {
    /// The number of candidates.
    pub(super) candidates: u64,
    /// The number of candidates found in old runs; with a filter, the number that it passed to old runs.
    pub(super) in_old_runs: u64,
    /// The number of decoded blocks of old runs.
    pub(super) decoded_blocks: u64,
}

impl std::iter::Sum for LookupStats {
    fn sum<I: Iterator<Item = LookupStats>>(all: I) -> LookupStats {
        all.fold(LookupStats::default(), |sum, it| LookupStats {
            candidates: sum.candidates + it.candidates,
            in_old_runs: sum.in_old_runs + it.in_old_runs,
            decoded_blocks: sum.decoded_blocks + it.decoded_blocks,
        })
    }
}

impl FilterChoice {
    /// Decides whether the candidates of a level are tested. `last` is the expanded level, `keys` the number of all
    /// keys, and a filter takes at most `bytes`. A useless filter is dropped at once; [`FilterChoice::make`] builds a
    /// new one.
    pub(super) fn choose(&mut self, last: ExpandedLevel, keys: u64, blocks: u64, bytes: usize) {
        (self.level, self.blocks) = (last.number, blocks);
        let thin = last.keys < blocks.saturating_mul(KEYS_PER_BLOCK_MAX);
        // A full filter has been useful, and so will the next one be.
        let worn_out = self.filter.take_if(|filter| filter.is_overfull(bytes)).is_some();
        self.filter.take_if(|_| !thin);
        // The ski rental rule: the filter is built when decoding without it has cost as much, so the total is at most
        // about twice the minimum.
        let is_due = worn_out || self.in_vain >= blocks.saturating_mul(DECODED_PER_BLOCK);
        self.wanted = 0;
        if thin && is_due && self.filter.is_none() && self.level >= self.not_before {
            self.wanted = BloomFilter::bytes_for(keys, bytes);
            if self.wanted == 0 {
                self.not_before = self.level + PAUSE_LEVELS;
            }
        }
    }

    /// Builds the filter that was decided on, of the young `slices` and the old `segments`, whose keys have `width`
    /// bytes; `view` extracts keys from pairs.
    pub(super) fn make(
        &mut self,
        width: usize,
        view: Option<FilterView>,
        slices: &[&[u8]],
        segments: &[&Segment],
    ) -> Result<()> {
        let bytes = std::mem::take(&mut self.wanted);
        if bytes == 0 {
            return Ok(());
        }
        let mut filter = BloomFilter::new(width, view, bytes);
        slices.iter().for_each(|keys| filter.insert(keys));
        segments.iter().try_for_each(|segment| filter.insert_segment(segment))?;
        self.filter = Some(filter);
        self.in_vain = 0;
        Ok(())
    }

    /// Returns the memory of the filter, or of the one to be built, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.filter.as_ref().map_or(self.wanted, BloomFilter::bytes)
    }

    /// Returns the filter, if there is one.
    pub(super) fn filter(&self) -> Option<&BloomFilter> {
        self.filter.as_ref()
    }

    /// Records the look-ups of a level's candidates. A filter cannot save look-ups of candidates that are in old runs.
    pub(super) fn record_lookups(&mut self, looked: LookupStats) {
        if self.filter.is_none() {
            // A candidate that was found accounts for at most one block.
            let spared = looked.decoded_blocks.saturating_sub(looked.in_old_runs);
            let asking = looked.candidates / KEYS_PER_DECODED;
            self.in_vain = self.in_vain.saturating_add(spared).saturating_sub(asking);
        } else if looked.in_old_runs > self.blocks * LOOKED_UP_PER_BLOCK_MAX {
            self.filter = None;
            self.not_before = self.level + PAUSE_LEVELS;
        }
    }

    /// Inserts the keys of a level that joins the store.
    pub(super) fn insert(&mut self, keys: &[u8]) {
        self.filter.iter_mut().for_each(|filter| filter.insert(keys));
    }

    /// Inserts the keys of a level on disk that joins the store.
    pub(super) fn insert_segments(&mut self, level: &[Segment]) -> Result<()> {
        let Some(filter) = &mut self.filter else { return Ok(()) };
        level.iter().try_for_each(|segment| filter.insert_segment(segment))
    }

    /// Changes the codec: from now on keys are in the form of `new`; whole keys have `whole` bytes.
    pub(super) fn change_codec(&mut self, old: &Codec, new: &Codec, whole: usize) {
        self.filter.iter_mut().for_each(|filter| filter.change_codec(old, new, whole));
    }
}

/// A cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct CacheLine([u64; 8]);

/// A Bloom filter: a set of keys that may appear to hold more keys than it does.
#[derive(Debug)]
pub(super) struct BloomFilter {
    /// The size of a key as it is hashed, in bytes.
    width: usize,
    /// Extracts the hashed part of keys, unless that is the whole key.
    view: Option<FilterView>,
    /// At least one line.
    lines: Vec<CacheLine>,
    /// The number of inserted keys.
    keys: u64,
}

/// The part of keys that a filter hashes: of keys that have gained bits since it was built, or of pairs. Keys that
/// differ only elsewhere are equal for it.
#[derive(Debug)]
pub(super) struct FilterView {
    /// The bits of whole keys.
    bits: Vec<u8>,
    /// The same bits, of keys in their current form.
    picks: Projection,
}

impl FilterView {
    /// Creates the view of these bits of whole keys, for keys in the form of `codec`.
    fn of(bits: Vec<u8>, codec: &Codec) -> FilterView {
        let kept =
            codec.projection().map_or(bits.clone(), |projection| projection.extract_bits(&bits));
        FilterView { bits, picks: Projection::new(&vec![0; kept.len()], &kept) }
    }

    /// Creates the view of the keys of pairs of `whole` bytes in the form of `codec`, without their values.
    pub(super) fn of_keys(codec: &Codec, whole: usize, value_bytes: usize) -> FilterView {
        let mut bits = match codec.projection() {
            Some(projection) => projection.key_and_mask().1.to_vec(),
            None => vec![0xff; whole],
        };
        bits[whole - value_bytes..].fill(0);
        FilterView::of(bits, codec)
    }
}

impl BloomFilter {
    /// Returns the size in bytes, at most `bytes`, of a filter for `keys` keys and more; 0 if there is too little
    /// memory.
    fn bytes_for(keys: u64, bytes: usize) -> usize {
        let wanted = keys.saturating_mul(GROWTH * BITS_PER_KEY / 8);
        let bytes = wanted.min(bytes as u64);
        let room = bytes.saturating_mul(8) >= keys.saturating_mul(BITS_PER_KEY_MIN);
        if room { bytes as usize / size_of::<CacheLine>() * size_of::<CacheLine>() } else { 0 }
    }

    /// Creates an empty filter of `bytes` bytes for what `view` extracts from keys of `width` bytes.
    fn new(width: usize, view: Option<FilterView>, bytes: usize) -> BloomFilter {
        let lines = (bytes / size_of::<CacheLine>()).max(1);
        let width = view.as_ref().map_or(width, |view| view.picks.width());
        BloomFilter { width, view, lines: vec![CacheLine::default(); lines], keys: 0 }
    }

    /// Returns the size of the filter in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<CacheLine>()
    }

    /// Returns whether it is so full that it should be built again in `bytes` bytes, or dropped.
    fn is_overfull(&self, bytes: usize) -> bool {
        let may_grow = self.bytes() < bytes / 4 * 3;
        let least = if may_grow { BITS_PER_KEY_LOW } else { BITS_PER_KEY_MIN };
        self.bytes() as u64 * 8 < self.keys.saturating_mul(least)
    }

    fn change_codec(&mut self, old: &Codec, new: &Codec, whole: usize) {
        let bits = match (self.view.take(), old.projection()) {
            (Some(view), _) => view.bits,
            (None, Some(projection)) => projection.key_and_mask().1.to_vec(),
            (None, None) => vec![0xff; whole],
        };
        self.view = Some(FilterView::of(bits, new));
    }

    /// Inserts `keys`.
    pub(super) fn insert(&mut self, keys: &[u8]) {
        let seen = hashed_bytes(&self.view, keys);
        self.keys += (seen.len() / self.width) as u64;
        for keys in seen.chunks(self.width * PROBE_BATCH) {
            let places = self.places(keys);
            for &(line, probes) in &places[..keys.len() / self.width] {
                let line = &mut self.lines[line];
                for (word, bit) in bits_of(probes) {
                    line.0[word] |= bit;
                }
            }
        }
    }

    fn insert_segment(&mut self, segment: &Segment) -> Result<()> {
        let (mut decoder, mut keys) = (segment.decoder(), Vec::new());
        for block in 0..segment.blocks() {
            segment.decode(block, &mut decoder, &mut keys)?;
            segment.release(block..block + 1);
            self.insert(&keys);
        }
        Ok(())
    }

    /// Appends those of `keys`, of `width` bytes, that it appears to hold to `out`.
    pub(super) fn select(&self, width: usize, keys: &[u8], out: &mut Vec<u8>) {
        let seen = hashed_bytes(&self.view, keys);
        let chunks = seen.chunks(self.width * PROBE_BATCH).zip(keys.chunks(width * PROBE_BATCH));
        for (seen, keys) in chunks {
            for (key, (line, probes)) in keys.chunks_exact(width).zip(self.places(seen)) {
                let line = &self.lines[line];
                if bits_of(probes).all(|(word, bit)| line.0[word] & bit != 0) {
                    out.extend_from_slice(key);
                }
            }
        }
    }

    /// Returns the positions of up to [`PROBE_BATCH`] keys. Their cache lines are prefetched, all at once instead of
    /// one after another.
    #[inline]
    fn places(&self, keys: &[u8]) -> [(usize, u64); PROBE_BATCH] {
        let (mut places, mut touched) = ([(0, 0); PROBE_BATCH], 0);
        for_shape!(self.width, shape => {
            for (place, key) in places.iter_mut().zip(keys.chunks_exact(self.width)) {
                *place = self.place(shape.hash(shape.key(key)));
                touched |= self.lines[place.0].0[0];
            }
        });
        std::hint::black_box(touched);
        places
    }

    /// Returns the line of a hash, and a number that selects its bits.
    #[inline(always)]
    fn place(&self, hash: u64) -> (usize, u64) {
        // Hashes of keys are products. Their high bits alone are not sufficiently independent of others.
        let mixed = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let line = (u128::from(mixed) * self.lines.len() as u128) >> 64;
        (line as usize, (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93))
    }
}

/// Returns the hashed part of `keys`.
fn hashed_bytes<'a>(view: &Option<FilterView>, keys: &'a [u8]) -> Cow<'a, [u8]> {
    match view {
        None => Cow::Borrowed(keys),
        Some(view) => Cow::Owned(view.picks.extract_bits(keys)),
    }
}

/// Returns the words and bits of a line that represent a key.
#[inline(always)]
fn bits_of(probes: u64) -> impl Iterator<Item = (usize, u64)> {
    (0..PROBES).map(move |probe| {
        let bit = probes >> (9 * probe + 10) & 511;
        ((bit >> 6) as usize, 1 << (bit & 63))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn keys(width: usize, range: std::ops::Range<u64>) -> Vec<u8> {
        let key = |number: u64| {
            let mut key = vec![3; width];
            let used = width.min(8);
            key[width - used..].copy_from_slice(&number.to_be_bytes()[8 - used..]);
            key
        };
        range.flat_map(key).collect()
    }

    #[test]
    fn a_filter_has_no_false_negatives_and_few_false_positives() {
        for width in [4, 8, 10, 23, 70] {
            let mut filter = BloomFilter::new(width, None, BloomFilter::bytes_for(10_000, 10_000));
            filter.insert(&keys(width, 0..10_000));
            let mut found = Vec::new();
            filter.select(width, &keys(width, 0..10_000), &mut found);
            assert_eq!(found, keys(width, 0..10_000));
            found.clear();
            filter.select(width, &keys(width, 10_000..30_000), &mut found);
            let wrong = found.len() / width;
            assert!(wrong < 2_000, "{wrong} of 20000 at {width} bytes");
        }
    }

    #[test]
    fn a_filter_has_no_false_negatives_after_a_codec_change() {
        let whole = 20;
        let (early, late) = (keys(whole, 0..1000), keys(whole, 0..5000));
        let [few, more] = [&early, &late].map(|keys| Projection::of_keys(whole, keys));
        let codecs = [few, more].map(|projection| Codec::Projected(Arc::new(projection)));
        let mut choice = FilterChoice::default();
        let mut filter = BloomFilter::new(
            codecs[0].key_width(whole),
            None,
            BloomFilter::bytes_for(5000, 40_000),
        );
        filter.insert(&codecs[0].adopt(&Codec::Gaps, whole, &early));
        choice.filter = Some(filter);
        let mut before = codecs[0].clone();
        for codec in [codecs[1].clone(), Codec::Gaps] {
            choice.change_codec(&before, &codec, whole);
            let late = codec.adopt(&Codec::Gaps, whole, &late);
            choice.insert(&late[late.len() / 2..]);
            let mut found = Vec::new();
            choice.filter().unwrap().select(codec.key_width(whole), &late, &mut found);
            assert!(found.starts_with(&late[..1000 * codec.key_width(whole)]));
            assert!(found.ends_with(&late[late.len() / 2..]));
            before = codec;
        }
    }

    #[test]
    fn useless_filters_are_not_made() {
        assert_eq!(BloomFilter::bytes_for(10_000, 4_000), 0);
        let mut filter = BloomFilter::new(10, None, BloomFilter::bytes_for(10_000, 1 << 20));
        assert!(filter.bytes() <= 60_000);
        filter.insert(&keys(10, 0..59_000));
        assert!(!filter.is_overfull(1 << 20));
        filter.insert(&keys(10, 0..2_000));
        assert!(filter.is_overfull(1 << 20) && !filter.is_overfull(60_000));
    }
}
