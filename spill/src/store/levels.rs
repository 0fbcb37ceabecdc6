//! The log of levels: each level of a breadth-first search as sorted segments, never rewritten.
//!
//! Levels are appended as they are settled, each as a few pieces in ascending order of keys, in as
//! many shards (files) as threads settle. What was appended lies in the operating system's cache
//! until [`Levels::sync`] makes it durable. A shard may be longer than its recorded length after an
//! interruption; the excess is cut off when it is opened again.

use super::names::FileName;
use crate::codec::Codec;
use crate::disk::{Append, Disk, Result};
use crate::segments::{Segment, SegmentRef, SegmentWriter};
use rkyv::{Archive, Deserialize, Serialize};
use std::sync::Arc;

/// A sorted segment and the file it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FileSegment {
    /// The file.
    pub file: FileName,
    /// Where in the file, and how many keys.
    pub at: SegmentRef,
}

impl FileSegment {
    /// Maps the segment and verifies its index.
    pub fn open(&self, disk: &dyn Disk, width: usize) -> Result<Segment> {
        self.open_pairs(disk, width, 0)
    }

    /// The same of pairs with values of `value_bytes` bytes.
    pub fn open_pairs(&self, disk: &dyn Disk, width: usize, value_bytes: usize) -> Result<Segment> {
        Segment::open_pairs(disk, &self.file.to_string(), self.at, width, value_bytes)
    }
}

/// What a manifest remembers of a log of levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedLevels {
    /// The length of each shard in bytes.
    pub shards: Vec<u64>,
    /// The pieces of all levels, one level after another.
    pub pieces: Vec<FileSegment>,
    /// For each level, one past its last piece.
    pub ends: Vec<u32>,
}

impl SavedLevels {
    /// The pieces of a level.
    pub fn level(&self, level: usize) -> &[FileSegment] {
        let first = if level == 0 { 0 } else { self.ends[level - 1] as usize };
        &self.pieces[first..self.ends[level] as usize]
    }

    /// The number of keys of a level.
    pub fn keys(&self, level: usize) -> u64 {
        self.level(level).iter().map(|piece| piece.at.keys).sum()
    }

    /// Maps the pieces of a level, all of whose bytes must have reached the files.
    pub fn open(
        &self,
        disk: &dyn Disk,
        width: usize,
        codec: &Codec,
        level: usize,
    ) -> Result<Vec<Segment>> {
        self.open_pairs(disk, width, 0, codec, level)
    }

    /// The same of pairs with values of `value_bytes` bytes.
    pub fn open_pairs(
        &self,
        disk: &dyn Disk,
        width: usize,
        value_bytes: usize,
        codec: &Codec,
        level: usize,
    ) -> Result<Vec<Segment>> {
        let open =
            |piece: &FileSegment| Ok(piece.open_pairs(disk, width, value_bytes)?.coded(codec));
        self.level(level).iter().map(open).collect()
    }
}

/// A growing log of levels.
pub struct Levels {
    disk: Arc<dyn Disk>,
    /// Bytes of a whole key.
    width: usize,
    /// Of these, bytes of a value; 0 if there are none.
    value_bytes: usize,
    /// The file of a shard.
    name: fn(u16) -> FileName,
    /// Has written all levels, and says what keys outside blocks are.
    codec: Codec,
    /// As many as `saved` has lengths of shards.
    shards: Vec<Shard>,
    /// What there is: pieces of levels, all of whose bytes the shards have been given.
    saved: SavedLevels,
}

/// A file that levels are appended to.
pub struct Shard {
    name: FileName,
    value_bytes: usize,
    codec: Codec,
    file: Box<dyn Append>,
}

impl Levels {
    /// A log without levels, whose keys of `width` bytes, if whole, `codec` writes.
    pub fn new(disk: Arc<dyn Disk>, width: usize, codec: Codec) -> Self {
        let name = |shard| FileName::Levels { shard };
        let (shards, saved) = (Vec::new(), SavedLevels::default());
        Self { disk, width, value_bytes: 0, name, codec, shards, saved }
    }

    /// The log, which has no shards yet, of pairs with values of `value_bytes` bytes.
    pub(super) fn of_pairs(self, value_bytes: usize) -> Self {
        Self { value_bytes, ..self }
    }

    /// The log, which has no shards yet, in files of these names.
    pub(super) fn in_files(self, name: fn(u16) -> FileName) -> Self {
        Self { name, ..self }
    }

    /// The log as it was saved; whatever was appended since is cut off.
    pub fn restore(
        disk: Arc<dyn Disk>,
        width: usize,
        codec: Codec,
        saved: SavedLevels,
    ) -> Result<Self> {
        Self::new(disk, width, codec).with(saved)
    }

    /// The log, which has no shards yet, as it was saved.
    pub(super) fn with(mut self, saved: SavedLevels) -> Result<Self> {
        for (shard, &length) in saved.shards.iter().enumerate() {
            let name = (self.name)(shard as u16);
            let file = self.disk.append_at(&name.to_string(), length)?;
            self.shards.push(self.shard(name, file));
        }
        Ok(Self { saved, ..self })
    }

    fn shard(&self, name: FileName, file: Box<dyn Append>) -> Shard {
        Shard { name, value_bytes: self.value_bytes, codec: self.codec.clone(), file }
    }

    /// Lets `codec` read and write from now on, one that has what is there in the same blocks.
    pub(super) fn set_codec(&mut self, codec: &Codec) {
        self.codec = codec.clone();
        self.shards.iter_mut().for_each(|shard| shard.codec = codec.clone());
    }

    /// The number of levels.
    pub fn len(&self) -> usize {
        self.saved.ends.len()
    }

    /// Whether there is no level yet.
    pub fn is_empty(&self) -> bool {
        self.saved.ends.is_empty()
    }

    /// The number of keys of a level.
    pub fn keys(&self, level: usize) -> u64 {
        self.saved.keys(level)
    }

    /// Bytes of memory that the list of levels takes.
    pub(super) fn list_bytes(&self) -> usize {
        size_of_val(self.saved.pieces.as_slice()) + size_of_val(self.saved.ends.as_slice())
    }

    /// The pieces of a level, ascending.
    pub fn pieces(&self, level: usize) -> &[FileSegment] {
        self.saved.level(level)
    }

    /// Maps the pieces of a level.
    pub fn open(&mut self, level: usize) -> Result<Vec<Segment>> {
        self.flush()?;
        self.saved.open_pairs(&*self.disk, self.width, self.value_bytes, &self.codec, level)
    }

    /// Makes every level readable.
    pub fn flush(&mut self) -> Result<()> {
        self.shards.iter_mut().try_for_each(|shard| shard.file.flush())
    }

    /// The first `count` shards, for `count` threads to write the pieces of the next level.
    pub fn shards(&mut self, count: usize) -> Result<&mut [Shard]> {
        while self.shards.len() < count {
            let name = (self.name)(self.shards.len() as u16);
            let file = self.disk.create(&name.to_string())?;
            self.shards.push(self.shard(name, file));
            self.saved.shards.push(0);
        }
        Ok(&mut self.shards[..count])
    }

    /// Makes the pieces just written, in ascending order, the next level. Gives its keys.
    pub fn push(&mut self, pieces: impl IntoIterator<Item = FileSegment>) -> u64 {
        self.saved.pieces.extend(pieces.into_iter().filter(|piece| piece.at.keys > 0));
        self.saved.ends.push(self.saved.pieces.len() as u32);
        for (length, shard) in self.saved.shards.iter_mut().zip(&self.shards) {
            *length = shard.file.len();
        }
        self.keys(self.len() - 1)
    }

    /// Makes every level durable.
    pub fn sync(&mut self) -> Result<()> {
        self.shards.iter_mut().try_for_each(|shard| shard.file.sync())
    }

    /// What a manifest must remember. Valid on disk after [`Levels::sync`].
    pub fn saved(&self) -> &SavedLevels {
        &self.saved
    }
}

impl Shard {
    /// Writes one piece: `fill` is given a writer to push ascending keys to, whole ones of `width` bytes
    /// unless the codec has them projected. A piece without keys
    /// takes no bytes, so that what is on disk at the end depends on the levels alone.
    pub fn write(
        &mut self,
        width: usize,
        fill: impl FnOnce(&mut SegmentWriter) -> Result<()>,
    ) -> Result<FileSegment> {
        let writer = SegmentWriter::new(width, &mut *self.file).coded(&self.codec);
        let mut writer = writer.with_values(self.value_bytes);
        fill(&mut writer)?;
        let at = match writer.is_empty() {
            true => SegmentRef { offset: self.file.len(), length: 0, keys: 0 },
            false => writer.finish()?,
        };
        Ok(FileSegment { file: self.name, at })
    }
}
