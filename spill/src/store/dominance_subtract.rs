//! Subtraction of dominated pairs from ascending batches (see `values/dominance.rs`).
//!
//! A run holds its levels' pairs; several have the same key if none of them dominates another. The pairs with a
//! candidate's key are adjacent, between the key with all-zero numbers and the key with all-one numbers, perhaps in
//! several blocks. A pair of a younger run may dominate a pair of an older one; both stay, since both states were
//! reached.

use super::filter::{BloomFilter, LookupStats};
use super::run::{OldRun, YoungRun};
use crate::disk::Result;
use crate::keys::gallop;
use crate::runs::{KeyMerge, batch_keys};
use crate::segments::{BlockReader, Segment};
use crate::values::Dominance;

/// Removes dominated pairs from ascending batches: those dominated within the batch or by a run of a store.
pub(super) struct DominanceSubtract<'a> {
    width: usize,
    dominance: &'a Dominance,
    filter: Option<&'a BloomFilter>,
    /// The remaining parts of the runs in memory.
    young: Vec<&'a [u8]>,
    old: Vec<SegmentWalk>,
    /// The pairs of the last merged key: more pairs may have it.
    held_back: Vec<u8>,
    /// The statistics; pairs count as held if old runs dominate them.
    looked: LookupStats,
}

/// The pairs of a batch with one key, as indices.
type KeyGroup = std::ops::Range<usize>;

impl<'a> DominanceSubtract<'a> {
    pub(super) fn new(
        width: usize,
        dominance: &'a Dominance,
        young: &'a [YoungRun],
        filter: Option<&'a BloomFilter>,
        old: &[OldRun],
    ) -> Self {
        let old = old.iter().rev().flat_map(|run| &run.segments);
        DominanceSubtract {
            width,
            dominance,
            filter,
            young: young.iter().rev().map(|run| run.keys.as_slice()).collect(),
            old: old.map(|segment| SegmentWalk::new(segment.clone())).collect(),
            held_back: Vec::new(),
            looked: LookupStats::default(),
        }
    }

    /// Returns the statistics so far.
    pub(super) fn lookup_stats(&self) -> LookupStats {
        let decoded = self.old.iter().map(|segment| segment.reader.decoded_blocks()).sum();
        LookupStats { decoded_blocks: decoded, ..self.looked }
    }

    /// Replaces `batch` with the next pairs of a merge, complete for their keys, without those that others of them
    /// dominate. `batch` is empty at the end.
    pub(super) fn next(&mut self, merge: &mut KeyMerge, batch: &mut Vec<u8>) -> Result<()> {
        loop {
            merge.next(batch, batch_keys(self.width))?;
            let is_end = batch.is_empty();
            self.held_back.append(batch);
            self.dominance.keep_undominated(self.width, &mut self.held_back);
            let ready = match is_end {
                true => self.held_back.len(),
                false => self.dominance.last_key(self.width, &self.held_back),
            };
            let rest = self.held_back.split_off(ready);
            *batch = std::mem::replace(&mut self.held_back, rest);
            if is_end || !batch.is_empty() {
                return Ok(());
            }
        }
    }

    /// Removes from `batch` the pairs that a pair of the store dominates. The keys are greater than those of the
    /// previous batches.
    pub(super) fn subtract(&mut self, batch: &mut Vec<u8>) -> Result<()> {
        let DominanceSubtract { width, dominance, filter, young, old, looked, .. } = self;
        let width = *width;
        looked.candidates += (batch.len() / width) as u64;
        let mut groups = groups(width, dominance.key_bytes(width), batch);
        if let Some(filter) = filter {
            let mut held = Vec::new();
            filter.select(width, batch, &mut held);
            let mut held = held.chunks_exact(width).peekable();
            // The filter sees only keys, so it holds all pairs of a group or none.
            groups.retain(|group| {
                let of_group = batch[group.start * width..group.end * width].chunks_exact(width);
                of_group.filter(|pair| held.next_if_eq(pair).is_some()).count() > 0
            });
        }
        let mut seen =
            DominanceMarks { width, dominance, batch, dropped: vec![false; batch.len() / width] };
        for rest in young {
            for group in &groups {
                let (least, _) = seen.bounds(group);
                *rest = &rest[width * gallop(width, rest, 0, &least)..];
                seen.compare(group, rest);
            }
        }
        groups.retain(|group| seen.is_open(group));
        let before = seen.dropped.iter().filter(|it| **it).count();
        for segment in old {
            for group in &groups {
                segment.compare(group, &mut seen)?;
            }
        }
        looked.in_old_runs += match filter {
            Some(_) => groups.iter().map(|it| it.len() as u64).sum(),
            None => (seen.dropped.iter().filter(|it| **it).count() - before) as u64,
        };
        let dropped = seen.dropped;
        let mut kept = 0;
        for (index, _) in dropped.iter().enumerate().filter(|(_, dropped)| !**dropped) {
            batch.copy_within(index * width..(index + 1) * width, kept);
            kept += width;
        }
        batch.truncate(kept);
        Ok(())
    }
}

/// Returns the groups of pairs with equal keys.
fn groups(width: usize, key: usize, batch: &[u8]) -> Vec<KeyGroup> {
    let mut groups: Vec<KeyGroup> = Vec::new();
    for (index, pair) in batch.chunks_exact(width).enumerate() {
        match groups.last_mut() {
            Some(group) if batch[group.start * width..][..key] == pair[..key] => {
                group.end = index + 1;
            }
            _ => groups.push(index..index + 1),
        }
    }
    groups
}

/// The pairs of a batch that are dominated so far.
struct DominanceMarks<'b> {
    width: usize,
    dominance: &'b Dominance,
    batch: &'b [u8],
    /// Whether each pair is dominated.
    dropped: Vec<bool>,
}

impl DominanceMarks<'_> {
    /// Returns whether some pair of a group is not dominated yet.
    fn is_open(&self, group: &KeyGroup) -> bool {
        !self.dropped[group.clone()].iter().all(|&it| it)
    }

    /// Returns the least and the greatest pair with the key of a group.
    fn bounds(&self, group: &KeyGroup) -> (Vec<u8>, Vec<u8>) {
        let key = self.dominance.key_bytes(self.width);
        let pair = &self.batch[group.start * self.width..][..self.width];
        let (mut least, mut greatest) = (pair.to_vec(), pair.to_vec());
        least[key..].fill(0);
        greatest[key..].fill(0xff);
        (least, greatest)
    }

    /// Compares a group with pairs that begin with those of its key. Returns whether other pairs follow these.
    fn compare(&mut self, group: &KeyGroup, pairs: &[u8]) -> bool {
        let key = self.dominance.key_bytes(self.width);
        let start = group.start * self.width;
        for pair in pairs.chunks_exact(self.width) {
            if pair[..key] != self.batch[start..start + key] {
                return true;
            }
            for index in group.clone() {
                let numbers = &self.batch[index * self.width..][key..self.width];
                self.dropped[index] |= self.dominance.dominates(&pair[key..], numbers);
            }
        }
        false
    }
}

/// The position in a segment of pairs.
struct SegmentWalk {
    reader: BlockReader,
    /// The decoded block, if there is one.
    decoded: Option<usize>,
    pairs: Vec<u8>,
    /// The first block that can hold a later key.
    block: usize,
}

impl SegmentWalk {
    fn new(segment: Segment) -> Self {
        let reader = BlockReader::new(segment);
        SegmentWalk { reader, decoded: None, pairs: Vec::new(), block: 0 }
    }

    /// Compares a group with the pairs that have its key.
    fn compare(&mut self, group: &KeyGroup, seen: &mut DominanceMarks) -> Result<()> {
        let blocks = self.reader.segment().blocks();
        if blocks == 0 || !seen.is_open(group) {
            return Ok(());
        }
        let (least, greatest) = seen.bounds(group);
        self.block = self.reader.segment().find_in(self.block..blocks, &least);
        loop {
            if self.decoded != Some(self.block) {
                self.reader.decode(self.block, &mut self.pairs)?;
                self.decoded = Some(self.block);
            }
            let from = gallop(seen.width, &self.pairs, 0, &least) * seen.width;
            let is_over = seen.compare(group, &self.pairs[from..]);
            let next = self.block + 1;
            let segment = self.reader.segment();
            if is_over || next == blocks || *segment.first_key(next) > *greatest {
                return Ok(());
            }
            self.block = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::codec::Codec;
    use crate::disk::FaultDisk;
    use crate::store::{Candidates, Frontier, SettleOutcome, Store, StoreBudget};
    use crate::values::Dominance;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    type Pair = [u8; 4];

    fn level(store: &mut Store) -> Vec<u8> {
        match store.frontier().unwrap() {
            Frontier::Raw(keys) => keys.to_vec(),
            Frontier::Encoded(segments) => {
                let (mut all, mut pairs) = (Vec::new(), Vec::new());
                for segment in segments {
                    for block in 0..segment.blocks() {
                        segment.decode(block, &mut segment.decoder(), &mut pairs).unwrap();
                        all.append(&mut pairs);
                    }
                }
                all
            }
        }
    }

    proptest! {
        /// A level always consists of the pairs that neither it nor the store dominates, in memory, on disk and with a
        /// filter.
        #[test]
        fn levels_consist_of_undominated_pairs(
            levels in prop::collection::vec(
                prop::collection::btree_set(prop::array::uniform4(0u8..5), 1..80), 1..12),
            young in 0usize..400,
            filter in 0usize..2000,
            threads in 1usize..3,
            wide in any::<bool>(),
        ) {
            let dominance = Dominance::new(if wide { &[2] } else { &[1, 1] });
            let shares = StoreBudget { young, filter, plain: 0 };
            let store = Store::new(Arc::new(FaultDisk::new()), 4, Codec::Gaps, shares);
            let mut store = store.with_dominance(dominance.clone());
            let mut known: BTreeSet<Pair> = BTreeSet::new();
            let dominates = |one: &Pair, other: &Pair| {
                one[..2] == other[..2] && dominance.dominates(&one[2..], &other[2..])
            };
            for candidates in levels {
                let is_new = |it: &&Pair| {
                    !known.iter().any(|other| dominates(other, it))
                        && !candidates.iter().any(|other| other != *it && dominates(other, it))
                };
                let expected: BTreeSet<Pair> = candidates.iter().filter(is_new).copied().collect();
                let (odd, even): (Vec<Pair>, Vec<Pair>) =
                    candidates.iter().partition(|it| it[3] % 2 == 1);
                let (odd, even) = (odd.concat(), even.concat());
                let slices = vec![odd.as_slice(), even.as_slice()];
                let candidates = Candidates { slices, segments: Vec::new() };
                if !store.levels().is_empty() {
                    store.choose_filter();
                    store.make_filter().unwrap();
                }
                let settled = store.settle(&candidates, threads, &|| false).unwrap();
                prop_assert_eq!(settled, SettleOutcome::New(expected.len() as u64));
                if !expected.is_empty() {
                    let flat: Vec<u8> = expected.iter().flatten().copied().collect();
                    prop_assert_eq!(level(&mut store), flat);
                }
                known.extend(expected);
            }
        }
    }
}
