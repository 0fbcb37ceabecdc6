//! Look-up of a store's values for the keys of ascending batches.
//!
//! The youngest run that has a key has its value, since a changed value was joined with the known one before. So runs
//! are searched from the youngest on, each only for the keys not found before. A pair is found by its key, between the
//! least and the greatest pair that begin with it: the key with an all-zero value, and with an all-one value.

use super::filter::{BloomFilter, LookupStats};
use super::run::{OldRun, YoungRun};
use crate::disk::Result;
use crate::keys::{KeyShape, for_shape, gallop_from};
use crate::segments::{BlockReader, Segment};
use crate::values::ValueSpec;

/// A store's values for the keys of a batch.
#[derive(Default)]
pub(super) struct StoredValues {
    /// For each pair of the batch the store's value; arbitrary if there is none.
    values: Vec<u8>,
    /// Whether the store has a value.
    known: Vec<bool>,
}

impl StoredValues {
    /// Returns the store's value for the key of the `index`-th pair.
    pub(super) fn value(&self, index: usize, bytes: usize) -> Option<&[u8]> {
        self.known[index].then(|| &self.values[index * bytes..][..bytes])
    }

    fn set(&mut self, index: usize, value: &[u8]) {
        self.values[index * value.len()..][..value.len()].copy_from_slice(value);
        self.known[index] = true;
    }
}

/// The keys that are not found yet, ascending.
struct PendingKeys {
    /// The size in bytes of a key, with which a pair begins.
    key_bytes: usize,
    /// The indices of their pairs in the batch.
    indices: Vec<usize>,
    /// The least pairs with these keys.
    least: Vec<u8>,
    /// The greatest pairs with these keys.
    greatest: Vec<u8>,
}

impl PendingKeys {
    fn new(key_bytes: usize) -> Self {
        PendingKeys { key_bytes, indices: Vec::new(), least: Vec::new(), greatest: Vec::new() }
    }

    fn count(&self) -> usize {
        self.indices.len()
    }

    /// Collects the keys of those pairs of `batch` whose key a filter, if there is one, may hold.
    fn collect(&mut self, width: usize, batch: &[u8], filter: Option<&BloomFilter>) {
        self.indices.clear();
        let mut held = Vec::new();
        match filter {
            None => self.indices.extend(0..batch.len() / width),
            Some(filter) => {
                filter.select(width, batch, &mut held);
                let mut held = held.chunks_exact(width).peekable();
                for (index, pair) in batch.chunks_exact(width).enumerate() {
                    if held.next_if_eq(&pair).is_some() {
                        self.indices.push(index);
                    }
                }
            }
        }
        for (pairs, value) in [(&mut self.least, 0), (&mut self.greatest, 0xff)] {
            pairs.clear();
            for &index in &self.indices {
                pairs.extend_from_slice(&batch[index * width..][..self.key_bytes]);
                pairs.resize(pairs.len() + width - self.key_bytes, value);
            }
        }
    }

    /// Removes the keys that were found.
    fn drop_known(&mut self, width: usize, known: &[bool]) {
        let PendingKeys { indices, least, greatest, .. } = self;
        let mut kept = 0;
        for at in 0..indices.len() {
            if known[indices[at]] {
                continue;
            }
            if kept != at {
                indices[kept] = indices[at];
                for pairs in [&mut *least, &mut *greatest] {
                    pairs.copy_within(at * width..(at + 1) * width, kept * width);
                }
            }
            kept += 1;
        }
        indices.truncate(kept);
        least.truncate(kept * width);
        greatest.truncate(kept * width);
    }
}

/// Looks up ascending batches of pairs in every run of a store.
pub(super) struct ValueLookup<'a> {
    width: usize,
    filter: Option<&'a BloomFilter>,
    /// The remaining pairs of runs in memory, youngest run first.
    young: Vec<&'a [u8]>,
    /// The runs on disk, youngest first.
    old: Vec<SegmentLookup>,
    asked: PendingKeys,
    stored: StoredValues,
    looked: LookupStats,
}

impl<'a> ValueLookup<'a> {
    pub(super) fn new(
        width: usize,
        values: &ValueSpec,
        young: &'a [YoungRun],
        filter: Option<&'a BloomFilter>,
        old: &[OldRun],
    ) -> Self {
        let young = young.iter().rev().map(|run| run.keys.as_slice()).collect();
        let old = old.iter().rev().flat_map(|run| &run.segments);
        ValueLookup {
            width,
            filter,
            young,
            old: old.map(|segment| SegmentLookup::new(segment.clone())).collect(),
            asked: PendingKeys::new(values.key_bytes(width)),
            stored: StoredValues::default(),
            looked: LookupStats::default(),
        }
    }

    /// Looks up the keys of `batch`, which are greater than those of the previous batches.
    pub(super) fn find(&mut self, batch: &[u8]) -> Result<&StoredValues> {
        let ValueLookup { width, filter, young, old, asked, stored, looked } = self;
        let (width, count) = (*width, batch.len() / *width);
        stored.known.clear();
        stored.known.resize(count, false);
        stored.values.resize(count * (width - asked.key_bytes), 0);
        asked.collect(width, batch, *filter);
        for rest in young {
            let passed =
                for_shape!(width, shape => find(shape, asked, 0..asked.count(), rest, stored));
            *rest = &rest[passed * width..];
            asked.drop_known(width, &stored.known);
        }
        let before = asked.count();
        for segment in old {
            for_shape!(width, shape => segment.find(shape, asked, stored))?;
            asked.drop_known(width, &stored.known);
        }
        let spared = if filter.is_some() { 0 } else { asked.count() };
        looked.candidates += count as u64;
        looked.in_old_runs += (before - spared) as u64;
        Ok(stored)
    }
}

impl ValueLookup<'_> {
    /// Returns the statistics so far.
    pub(super) fn lookup_stats(&self) -> LookupStats {
        let decoded = self.old.iter().map(|segment| segment.reader.decoded_blocks()).sum();
        LookupStats { decoded_blocks: decoded, ..self.looked }
    }

    /// Removes from `batch` the pairs whose keys the store has; the keys are greater than those of the previous
    /// batches.
    pub(super) fn subtract(&mut self, batch: &mut Vec<u8>) -> Result<()> {
        let width = self.width;
        self.find(batch)?;
        let (mut next, mut kept) = (0, 0);
        for &known in &self.stored.known {
            if !known {
                batch.copy_within(next..next + width, kept);
                kept += width;
            }
            next += width;
        }
        batch.truncate(kept);
        Ok(())
    }
}

/// Looks up pending keys in ascending `pairs`. Returns the number of these that are less than all later pending keys.
fn find<S: KeyShape>(
    shape: S,
    asked: &PendingKeys,
    some: std::ops::Range<usize>,
    pairs: &[u8],
    stored: &mut StoredValues,
) -> usize {
    let (width, key, count) = (shape.width(), asked.key_bytes, pairs.len() / shape.width());
    let mut at = 0;
    for next in some {
        let least = &asked.least[next * width..][..width];
        at = gallop_from(shape, pairs, at, count, shape.key(least));
        if at == count {
            break;
        }
        let pair = &pairs[at * width..][..width];
        if pair[..key] == least[..key] {
            stored.set(asked.indices[next], &pair[key..]);
        }
    }
    at
}

/// The position in a segment of pairs.
struct SegmentLookup {
    reader: BlockReader,
    /// The decoded block, if there is one.
    decoded: Option<usize>,
    pairs: Vec<u8>,
    /// The first block that can hold a later key.
    block: usize,
}

impl SegmentLookup {
    fn new(segment: Segment) -> Self {
        let reader = BlockReader::new(segment);
        SegmentLookup { reader, decoded: None, pairs: Vec::new(), block: 0 }
    }

    /// Looks up all pending keys.
    fn find<S: KeyShape>(
        &mut self,
        shape: S,
        asked: &PendingKeys,
        stored: &mut StoredValues,
    ) -> Result<()> {
        let (width, count, blocks) = (shape.width(), asked.count(), self.reader.segment().blocks());
        let mut next = 0;
        while next < count && blocks > 0 {
            let segment = self.reader.segment();
            self.block =
                segment.find_in(self.block..blocks, &asked.greatest[next * width..][..width]);
            let end = match self.block + 1 {
                behind if behind == blocks => count,
                behind => {
                    let first = segment.first_key(behind);
                    gallop_from(shape, &asked.greatest, next, count, shape.key(&first))
                }
            };
            if self.decoded != Some(self.block) {
                self.reader.decode(self.block, &mut self.pairs)?;
                self.decoded = Some(self.block);
            }
            find(shape, asked, next..end, &self.pairs, stored);
            next = end;
        }
        Ok(())
    }
}
