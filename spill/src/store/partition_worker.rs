//! A store's work in independent parts: a worker with access to the files settles or merges a range of keys into its
//! own file.
//!
//! A worker keeps nothing in memory between parts and changes no file. Its input is segments, and its output is one
//! more segment, whose bytes depend only on the keys. So a part that is done twice gives the same result.

use super::levels::FileSegment;
use super::run::OldRun;
use super::store_subtract::StoreSubtract;
use crate::codec::Codec;
use crate::disk::{AppendFile, Disk, Error, Result};
use crate::runs::{KeyMerge, KeyRange, batch_keys, drain, sources, split};
use crate::segments::{Segment, SegmentRef, SegmentWriter};
use std::ops::Range;

/// The context of the parts of a store: a disk, the size of keys and their codec.
#[derive(Clone, Copy)]
pub struct PartitionWorker<'a> {
    /// The disk of all segments.
    pub disk: &'a dyn Disk,
    /// The size of a whole key in bytes.
    pub whole_width: usize,
    /// The codec of the segments, without exceptions among their keys.
    pub codec: &'a Codec,
}

/// One of the ranges into which boundary keys cut the key space. Keys are in the codec's form in memory.
#[derive(Clone, Copy, Debug)]
pub struct KeyPartition<'a> {
    /// The boundaries of the ranges: each range begins with its boundary.
    pub boundaries: &'a [Vec<u8>],
    /// The number of the range, at most the number of boundaries.
    pub number: usize,
}

impl<'a> KeyPartition<'a> {
    fn range(self) -> KeyRange<'a> {
        KeyRange::cut(self.boundaries)[self.number]
    }
}

impl PartitionWorker<'_> {
    /// Opens pieces and verifies them.
    pub fn open(&self, pieces: &[FileSegment]) -> Result<Vec<Segment>> {
        pieces
            .iter()
            .map(|it| Ok(it.open(self.disk, self.whole_width)?.with_codec(self.codec)))
            .collect()
    }

    /// Does the same to read only a range of keys: nothing else of the pieces is mapped.
    pub fn open_keys(
        &self,
        pieces: &[FileSegment],
        part: KeyPartition<'_>,
    ) -> Result<Vec<Segment>> {
        let KeyRange { low, high } = part.range();
        let open = |it: &FileSegment| self.open_part(*it, |found| found.blocks_in_range(low, high));
        pieces.iter().map(open).collect()
    }

    /// Does the same to read only the keys of some numbers, counted over all pieces.
    pub fn open_numbers(&self, pieces: &[FileSegment], keys: Range<u64>) -> Result<Vec<Segment>> {
        let mut before = 0;
        let open = |it: &FileSegment| {
            let [from, until] = [keys.start, keys.end].map(|it| it.saturating_sub(before));
            before += it.at.keys;
            self.open_part(*it, |found| found.blocks_of_numbers(from..until))
        };
        pieces.iter().map(open).collect()
    }

    fn open_part(
        &self,
        piece: FileSegment,
        wanted: impl Fn(&Segment) -> Range<usize>,
    ) -> Result<Segment> {
        let coded = |segment: &Segment| segment.clone().with_codec(self.codec);
        let opened = piece.open_part(self.disk, self.whole_width, |it| wanted(&coded(it)))?;
        Ok(coded(&opened))
    }

    /// Verifies that a piece exists and is complete, by its index alone.
    pub fn check(&self, piece: &FileSegment) -> Result<()> {
        match piece.at.keys {
            0 => check_empty(piece),
            _ => self.open_part(*piece, |_| 0..0).map(drop),
        }
    }

    /// Does the same, and returns whether all its keys are in a range, by the index and the keys of its last block.
    pub fn is_within(&self, piece: &FileSegment, part: KeyPartition<'_>) -> Result<bool> {
        if piece.at.keys == 0 {
            return check_empty(piece).map(|()| true);
        }
        let segment = self.open_part(*piece, |found| found.blocks() - 1..found.blocks())?;
        let mut keys = Vec::new();
        segment.decode(segment.blocks() - 1, &mut segment.decoder(), &mut keys)?;
        let (first, last) = (segment.first_key(0), &keys[keys.len() - segment.width()..]);
        let KeyRange { low, high } = part.range();
        Ok(low.is_none_or(|low| *first >= *low) && high.is_none_or(|high| last < high))
    }

    /// Returns up to `parts - 1` keys that cut the keys of all these segments into ranges of similar size.
    pub fn boundaries(&self, segments: &[Segment], parts: usize) -> Vec<Vec<u8>> {
        split(self.width(), &[], segments, parts)
    }

    /// Appends to `out` the candidates of a range that are in no run; each run is pieces in key order.
    pub fn settle(
        &self,
        candidates: &[Segment],
        runs: &[Vec<Segment>],
        part: KeyPartition<'_>,
        out: &mut dyn AppendFile,
    ) -> Result<SegmentRef> {
        let old = runs.iter().map(|segments| OldRun {
            first: 0,
            last: 0,
            pieces: Vec::new(),
            segments: segments.clone(),
        });
        let old: Vec<OldRun> = old.collect();
        let width = self.width();
        let mut known = StoreSubtract::new(width, &[], None, &old);
        let mut merge = KeyMerge::of_many(width, sources(width, &[], candidates, part.range()));
        let (mut batch, mut level) = (Vec::new(), self.writer(out));
        loop {
            merge.next(&mut batch, batch_keys(width))?;
            if batch.is_empty() {
                return level.finish_or_empty();
            }
            known.subtract(&mut batch)?;
            level.push(&batch)?;
        }
    }

    /// Appends to `out` the union of the keys of these segments in a range.
    pub fn merge(
        &self,
        segments: &[Segment],
        part: KeyPartition<'_>,
        out: &mut dyn AppendFile,
    ) -> Result<SegmentRef> {
        let width = self.width();
        let mut writer = self.writer(out);
        let mut merge = KeyMerge::of_many(width, sources(width, &[], segments, part.range()));
        drain(&mut merge, |batch| writer.push(batch))?;
        writer.finish_or_empty()
    }

    fn writer<'o>(&self, out: &'o mut dyn AppendFile) -> SegmentWriter<'o> {
        SegmentWriter::new(self.whole_width, out).with_codec(self.codec)
    }

    fn width(&self) -> usize {
        self.codec.key_width(self.whole_width)
    }
}

/// Checks that a piece without keys takes no bytes.
fn check_empty(piece: &FileSegment) -> Result<()> {
    match piece.at.length {
        0 => Ok(()),
        length => {
            let what = format!("a segment of {length} bytes without keys is not possible");
            Err(Error::corrupt(piece.file.to_string(), piece.at.offset, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FaultDisk;
    use crate::segments::BlockDecoder;
    use crate::store::file_name::FileName;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Keys = BTreeSet<u16>;

    fn written(disk: &FaultDisk, file: FileName, keys: &Keys) -> FileSegment {
        let mut out = disk.create(&file.to_string()).unwrap();
        // Segments do not always begin at the start of their file.
        out.write(b"before").unwrap();
        let mut writer = SegmentWriter::new(2, &mut *out);
        keys.iter().for_each(|key| writer.push(&key.to_be_bytes()).unwrap());
        let at = writer.finish().unwrap();
        out.flush().unwrap();
        FileSegment { file, at }
    }

    fn read(disk: &FaultDisk, name: &str, at: SegmentRef) -> Vec<u16> {
        if at.keys == 0 {
            return Vec::new();
        }
        let segment = Segment::open(disk, name, at, 2).unwrap();
        let (mut decoder, mut keys, mut all) = (BlockDecoder::new(2), Vec::new(), Vec::new());
        for block in 0..segment.blocks() {
            segment.decode(block, &mut decoder, &mut keys).unwrap();
            all.extend(keys.chunks_exact(2).map(|it| u16::from_be_bytes([it[0], it[1]])));
        }
        all
    }

    proptest! {
        #[test]
        fn partitions_together_equal_the_whole(
            candidates in prop::collection::vec(prop::collection::btree_set(0u16..9_000, 0..3_000), 1..4),
            runs in prop::collection::vec(prop::collection::btree_set(0u16..9_000, 0..3_000), 0..4),
            parts in 1usize..6,
        ) {
            let (disk, codec) = (FaultDisk::new(), Codec::Gaps);
            let apart = PartitionWorker { disk: &disk, whole_width: 2, codec: &codec };
            let pieces = |level: u32, all: &[Keys]| -> Vec<FileSegment> {
                let file = |shard: u16| FileName::Candidates { level, shard };
                all.iter().zip(0..).map(|(keys, at)| written(&disk, file(at), keys)).collect()
            };
            let [found_in, known_in] = [pieces(0, &candidates), pieces(1, &runs)];
            let borders = apart.boundaries(&apart.open(&found_in).unwrap(), parts);
            let (mut new, mut all) = (Vec::new(), Vec::new());
            for number in 0..=borders.len() {
                let part = KeyPartition { boundaries: &borders, number };
                let found = apart.open_keys(&found_in, part).unwrap();
                let known = apart.open_keys(&known_in, part).unwrap();
                let each: Vec<Vec<Segment>> = known.into_iter().map(|it| vec![it]).collect();
                let mut out = disk.create("new").unwrap();
                let at = apart.settle(&found, &each, part, &mut *out).unwrap();
                out.flush().unwrap();
                let file = FileName::Levels { shard: number as u16 };
                disk.rename("new", &file.to_string()).unwrap();
                let piece = FileSegment { file, at };
                apart.check(&piece).unwrap();
                for other in 0..=borders.len() {
                    let part = KeyPartition { boundaries: &borders, number: other };
                    let is_within = apart.is_within(&piece, part).unwrap();
                    prop_assert_eq!(is_within, at.keys == 0 || other == number);
                }
                disk.rename(&file.to_string(), "new").unwrap();
                new.extend(read(&disk, "new", at));
                let mut out = disk.create("merged").unwrap();
                let at = apart.merge(&found, part, &mut *out).unwrap();
                out.flush().unwrap();
                all.extend(read(&disk, "merged", at));
            }
            let union: Keys = candidates.iter().flatten().copied().collect();
            let known: Keys = runs.iter().flatten().copied().collect();
            prop_assert!(all.into_iter().eq(union.iter().copied()));
            prop_assert!(new.into_iter().eq(union.difference(&known).copied()));
        }

        #[test]
        fn a_range_of_key_numbers_is_read(
            keys in prop::collection::vec(prop::collection::btree_set(0u16..9_000, 0..9_000), 0..4),
            some in prop::collection::vec(0u64..40_000, 2),
        ) {
            let (disk, codec) = (FaultDisk::new(), Codec::Gaps);
            let apart = PartitionWorker { disk: &disk, whole_width: 2, codec: &codec };
            let file = |shard: u16| FileName::Candidates { level: 0, shard };
            let pieces: Vec<FileSegment> =
                keys.iter().zip(0..).map(|(keys, at)| written(&disk, file(at), keys)).collect();
            let numbers = some[0].min(some[1])..some[0].max(some[1]);
            let opened = apart.open_numbers(&pieces, numbers.clone()).unwrap();
            let mut number = 0;
            for (segment, keys) in opened.iter().zip(&keys) {
                let (mut decoder, mut found) = (segment.decoder(), Vec::new());
                let mut keys = keys.iter();
                for block in 0..segment.blocks() {
                    let expected: Vec<u8> = keys
                        .by_ref()
                        .take(segment.block_keys(block))
                        .flat_map(|it| it.to_be_bytes())
                        .collect();
                    let until = number + segment.block_keys(block) as u64;
                    if number < numbers.end && until > numbers.start {
                        segment.decode(block, &mut decoder, &mut found).unwrap();
                        prop_assert_eq!(&found, &expected);
                    }
                    number = until;
                }
            }
        }
    }
}
