//! A store's work in parts that know nothing of each other: a range of keys is settled, or merged, by whoever can read the
//! files, into a file of its own.
//!
//! Here nothing is kept in memory between two parts, and no file is changed: what there is comes in as segments, and what
//! becomes of it goes out as one more. Which bytes that are depends on the keys alone, so a part that is done twice gives the
//! same.

use super::known::StoreSubtract;
use super::levels::FileSegment;
use super::run::OldRun;
use crate::codec::Codec;
use crate::disk::{Append, Disk, Result};
use crate::runs::{KeyRange, Merge, batch_keys, drain, sources, split};
use crate::segments::{Segment, SegmentRef, SegmentWriter};

/// Where parts of a store are read and written: a disk, how long keys are and what has written them.
#[derive(Clone, Copy)]
pub struct Apart<'a> {
    /// Where all segments are.
    pub disk: &'a dyn Disk,
    /// Bytes of a whole key.
    pub whole: usize,
    /// What has written the segments, and knows all keys in them.
    pub codec: &'a Codec,
}

/// One of the ranges that keys, as the codec has them in memory, cut all keys into.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Where ranges meet: each begins with its border.
    pub borders: &'a [Vec<u8>],
    /// Which of the ranges it is: at most as many as there are borders.
    pub number: usize,
}

impl<'a> Part<'a> {
    fn range(self) -> KeyRange<'a> {
        KeyRange::cut(self.borders)[self.number]
    }
}

impl Apart<'_> {
    /// Opens pieces, of which it is checked that they are what they should be.
    pub fn open(&self, pieces: &[FileSegment]) -> Result<Vec<Segment>> {
        pieces.iter().map(|it| Ok(it.open(self.disk, self.whole)?.coded(self.codec))).collect()
    }

    /// Up to `parts - 1` keys that cut those of all these segments into ranges of about as many.
    pub fn cut(&self, segments: &[Segment], parts: usize) -> Vec<Vec<u8>> {
        split(self.width(), &[], segments, parts)
    }

    /// Appends to `out` the candidates of a range that no run has; each run is pieces in key order.
    pub fn settle(
        &self,
        candidates: &[Segment],
        runs: &[Vec<Segment>],
        part: Part<'_>,
        out: &mut dyn Append,
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
        let mut merge = Merge::of_many(width, sources(width, &[], candidates, part.range()));
        let (mut batch, mut level) = (Vec::new(), self.writer(out));
        loop {
            merge.next(&mut batch, batch_keys(width))?;
            if batch.is_empty() {
                return level.finish_some();
            }
            known.subtract(&mut batch)?;
            level.push(&batch)?;
        }
    }

    /// Appends to `out` all keys of a range that some of these segments have, each once.
    pub fn merge(
        &self,
        segments: &[Segment],
        part: Part<'_>,
        out: &mut dyn Append,
    ) -> Result<SegmentRef> {
        let width = self.width();
        let mut writer = self.writer(out);
        let mut merge = Merge::of_many(width, sources(width, &[], segments, part.range()));
        drain(&mut merge, |batch| writer.push(batch))?;
        writer.finish_some()
    }

    fn writer<'o>(&self, out: &'o mut dyn Append) -> SegmentWriter<'o> {
        SegmentWriter::new(self.whole, out).coded(self.codec)
    }

    fn width(&self) -> usize {
        self.codec.key_width(self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FaultDisk;
    use crate::segments::Decoder;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Keys = BTreeSet<u16>;

    fn written(disk: &FaultDisk, name: &str, keys: &Keys) -> Segment {
        let mut file = disk.create(name).unwrap();
        let mut writer = SegmentWriter::new(2, &mut *file);
        keys.iter().for_each(|key| writer.push(&key.to_be_bytes()).unwrap());
        let at = writer.finish().unwrap();
        file.flush().unwrap();
        Segment::open(disk, name, at, 2).unwrap()
    }

    fn read(disk: &FaultDisk, name: &str, at: SegmentRef) -> Vec<u16> {
        if at.keys == 0 {
            return Vec::new();
        }
        let segment = Segment::open(disk, name, at, 2).unwrap();
        let (mut decoder, mut keys, mut all) = (Decoder::new(2), Vec::new(), Vec::new());
        for block in 0..segment.blocks() {
            segment.decode(block, &mut decoder, &mut keys).unwrap();
            all.extend(keys.chunks_exact(2).map(|it| u16::from_be_bytes([it[0], it[1]])));
        }
        all
    }

    proptest! {
        #[test]
        fn parts_come_to_what_the_whole_comes_to(
            candidates in prop::collection::vec(prop::collection::btree_set(0u16..9_000, 0..3_000), 1..4),
            runs in prop::collection::vec(prop::collection::btree_set(0u16..9_000, 0..3_000), 0..4),
            parts in 1usize..6,
        ) {
            let (disk, codec) = (FaultDisk::new(), Codec::Gaps);
            let apart = Apart { disk: &disk, whole: 2, codec: &codec };
            let open = |sort: &str, all: &[Keys]| -> Vec<Segment> {
                let all = all.iter().enumerate();
                all.map(|(at, keys)| written(&disk, &format!("{sort}{at}"), keys)).collect()
            };
            let found = open("candidates", &candidates);
            let known = open("run", &runs);
            let borders = apart.cut(&found, parts);
            let (mut new, mut all) = (Vec::new(), Vec::new());
            for number in 0..=borders.len() {
                let part = Part { borders: &borders, number };
                let each: Vec<Vec<Segment>> = known.iter().map(|it| vec![it.clone()]).collect();
                let mut out = disk.create("new").unwrap();
                let at = apart.settle(&found, &each, part, &mut *out).unwrap();
                out.flush().unwrap();
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
    }
}
