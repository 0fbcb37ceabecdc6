//! Subtraction of a store from batches of candidates.

use super::filter::{BloomFilter, LookupStats};
use super::run::{OldRun, YoungRun};
use crate::disk::Result;
use crate::keys::gallop;
use crate::runs::{SegmentSubtract, subtract};

/// The progress of subtracting a run in memory from ascending batches.
struct YoungSubtract<'a> {
    width: usize,
    rest: &'a [u8],
}

impl<'a> YoungSubtract<'a> {
    fn new(width: usize, keys: &'a [u8]) -> Self {
        Self { width, rest: keys }
    }

    /// Removes the run's keys from the next batch.
    fn subtract(&mut self, batch: &mut Vec<u8>) {
        if batch.is_empty() || self.rest.is_empty() {
            return;
        }
        let skipped = gallop(self.width, self.rest, 0, &batch[..self.width]);
        self.rest = &self.rest[skipped * self.width..];
        // The key found is at or after the last candidate. Then it may be in the next batch, so it stays.
        let last = gallop(self.width, self.rest, 0, &batch[batch.len() - self.width..]);
        let end = ((last + 1) * self.width).min(self.rest.len());
        subtract(self.width, batch, &self.rest[..end]);
        self.rest = &self.rest[last * self.width..];
    }
}

/// Subtracts every run of a store from ascending batches.
pub struct StoreSubtract<'a> {
    width: usize,
    young: Vec<YoungSubtract<'a>>,
    filter: Option<&'a BloomFilter>,
    old: Vec<SegmentSubtract>,
    looked: LookupStats,
}

impl<'a> StoreSubtract<'a> {
    pub(super) fn new(
        width: usize,
        young: &'a [YoungRun],
        filter: Option<&'a BloomFilter>,
        old: &[OldRun],
    ) -> Self {
        let young = young.iter().rev().map(|run| YoungSubtract::new(width, &run.keys)).collect();
        let old =
            old.iter().rev().flat_map(|run| SegmentSubtract::of_pieces(&run.segments)).collect();
        Self { width, young, filter, old, looked: LookupStats::default() }
    }

    /// Returns the statistics so far.
    pub(super) fn lookup_stats(&self) -> LookupStats {
        let decoded = self.old.iter().map(SegmentSubtract::decoded_blocks).sum();
        LookupStats { decoded_blocks: decoded, ..self.looked }
    }

    /// Removes the keys of the store from `batch`, whose keys ascend, also across calls.
    pub fn subtract(&mut self, batch: &mut Vec<u8>) -> Result<()> {
        self.looked.candidates += (batch.len() / self.width) as u64;
        let Some(filter) = self.filter else {
            self.young.iter_mut().for_each(|run| run.subtract(batch));
            let asked = batch.len();
            self.old.iter_mut().try_for_each(|run| run.subtract(batch))?;
            self.looked.in_old_runs += ((asked - batch.len()) / self.width) as u64;
            return Ok(());
        };
        let mut known = Vec::new();
        filter.select(self.width, batch, &mut known);
        if known.is_empty() {
            return Ok(());
        }
        let mut new = known.clone();
        self.young.iter_mut().for_each(|run| run.subtract(&mut new));
        self.looked.in_old_runs += (new.len() / self.width) as u64;
        self.old.iter_mut().try_for_each(|run| run.subtract(&mut new))?;
        subtract(self.width, &mut known, &new);
        subtract(self.width, batch, &known);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Disk, FaultDisk};
    use crate::segments::{Segment, SegmentWriter};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn segment(disk: &FaultDisk, name: &str, keys: &[u8]) -> Segment {
        let mut file = disk.create(name).unwrap();
        let mut writer = SegmentWriter::new(2, &mut *file);
        writer.push(keys).unwrap();
        let at = writer.finish().unwrap();
        file.flush().unwrap();
        Segment::open(disk, name, at, 2).unwrap()
    }

    proptest! {
        #[test]
        fn a_young_run_is_subtracted_from_any_batches(
            run in prop::collection::btree_set(0u8..60, 0..40),
            candidates in prop::collection::btree_set(0u8..60, 0..40),
            batch_keys in 1usize..8,
        ) {
            let keys: Vec<u8> = run.iter().copied().collect();
            let mut subtract = YoungSubtract::new(1, &keys);
            let mut left = Vec::new();
            for batch in candidates.iter().copied().collect::<Vec<_>>().chunks(batch_keys) {
                let mut batch = batch.to_vec();
                subtract.subtract(&mut batch);
                left.extend(batch);
            }
            let expected: BTreeSet<u8> = candidates.difference(&run).copied().collect();
            prop_assert_eq!(left, expected.into_iter().collect::<Vec<_>>());
        }

        #[test]
        fn a_run_of_pieces_is_subtracted_from_any_batches(
            run in prop::collection::btree_set(20u16..9000, 0..6000),
            candidates in prop::collection::btree_set(0u16..9100, 0..300),
            cuts in prop::collection::btree_set(0u16..9000, 0..4),
            batch_keys in 1usize..100,
        ) {
            let flat = |keys: &mut dyn Iterator<Item = &u16>| -> Vec<u8> {
                keys.flat_map(|key| key.to_be_bytes()).collect()
            };
            let disk = FaultDisk::new();
            let (mut low, mut pieces) = (0, Vec::new());
            for high in cuts.into_iter().chain([9000]) {
                let keys = flat(&mut run.range(low..high));
                pieces.push(segment(&disk, &format!("{high}"), &keys));
                low = high;
            }
            let (mut subtracts, mut left) = (SegmentSubtract::of_pieces(&pieces), Vec::new());
            for batch in candidates.iter().collect::<Vec<_>>().chunks(batch_keys) {
                let mut batch = flat(&mut batch.iter().copied());
                for piece in &mut subtracts {
                    piece.subtract(&mut batch).unwrap();
                }
                left.extend(batch);
            }
            prop_assert_eq!(left, flat(&mut candidates.difference(&run)));
        }
    }
}
