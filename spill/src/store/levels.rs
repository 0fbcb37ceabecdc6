//! The log of levels: each level of a breadth-first search as sorted segments, never rewritten.
//!
//! Levels are appended as they are settled. Each level is a few pieces in ascending order of keys, in as many shards
//! (files) as threads settle. Appended data is in the operating system's cache until [`LevelLog::sync`] makes it
//! durable. After an interruption, a shard may be longer than its recorded length; the excess is cut off when it is
//! opened again.

use super::file_name::FileName;
use super::level_list::{LevelList, LevelPiece};
use crate::codec::Codec;
use crate::disk::{AppendFile, Disk, Error, Result};
use crate::segments::{Segment, SegmentRef, SegmentWriter, SmallSegmentWriter};
use rkyv::{Archive, Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The number of shards that are kept open; later shards are opened when they are needed.
const OPEN_MAX: usize = 64;

/// A sorted segment with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FileSegment {
    /// The file.
    pub file: FileName,
    /// The position in the file, and the number of keys.
    pub at: SegmentRef,
}

impl FileSegment {
    /// Maps the segment and verifies its index.
    pub fn open(&self, disk: &dyn Disk, width: usize) -> Result<Segment> {
        self.open_pairs(disk, width, 0)
    }

    /// Does the same if only the blocks selected by `wanted` are read: nothing else is mapped.
    pub fn open_part(
        &self,
        disk: &dyn Disk,
        width: usize,
        wanted: impl Fn(&Segment) -> Range<usize>,
    ) -> Result<Segment> {
        Segment::open_part(disk, &self.file.to_string(), self.at, width, wanted)
    }

    /// Does the same for pairs with values of `value_bytes` bytes.
    pub fn open_pairs(&self, disk: &dyn Disk, width: usize, value_bytes: usize) -> Result<Segment> {
        Segment::open_pairs(disk, &self.file.to_string(), self.at, width, value_bytes)
    }
}

/// A file of a log of levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedShard {
    /// The file.
    pub file: FileName,
    /// Its length in bytes.
    pub length: u64,
}

/// The saved form of a log of levels, for manifests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedLevels {
    /// The files of the pieces.
    pub shards: Vec<SavedShard>,
    /// The pieces of all levels.
    list: LevelList,
}

impl SavedLevels {
    /// Returns the number of levels.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there is no level.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pieces of a level, ascending.
    ///
    /// # Panics
    ///
    /// If there is no such level, or the list [is not sound](SavedLevels::is_sound). This holds for all functions
    /// about a level.
    pub fn level(&self, level: usize) -> Vec<FileSegment> {
        self.list.level(level).into_iter().map(|piece| self.file_segment(piece)).collect()
    }

    /// Iterates over the pieces of each level, from the first on.
    pub fn iter(&self) -> impl Iterator<Item = Vec<FileSegment>> {
        let in_files =
            |pieces: Vec<LevelPiece>| pieces.into_iter().map(|it| self.file_segment(it)).collect();
        self.list.iter().map(in_files)
    }

    /// Returns the number of keys of a level.
    pub fn keys(&self, level: usize) -> u64 {
        self.list.level(level).iter().map(|(_, at)| at.keys).sum()
    }

    /// Iterates over the number of keys of each level, from the first on.
    pub fn keys_by_level(&self) -> impl Iterator<Item = u64> {
        self.list.iter().map(|level| level.iter().map(|(_, at)| at.keys).sum())
    }

    /// Appends a level of pieces, in ascending order, each a whole file. A reader of the log finds the files as shards
    /// to which it can append.
    ///
    /// # Errors
    ///
    /// [`Error::Levels`] if there are too many levels.
    ///
    /// # Panics
    ///
    /// If the files are not the next ones of the log ([`next_files`](SavedLevels::next_files)).
    pub fn push_files(&mut self, pieces: &[FileSegment]) -> Result<()> {
        let mut listed: Vec<LevelPiece> = Vec::with_capacity(pieces.len());
        for (piece, file) in pieces.iter().zip(self.next_files(pieces.len())) {
            assert!(piece.file == file, "{} is the next file, not {}", file, piece.file);
            let shard = self.shards.len() as u16;
            self.shards.push(SavedShard { file, length: piece.at.offset + piece.at.length });
            listed.extend((piece.at.keys > 0).then_some((shard, piece.at)));
        }
        self.list.push(&listed)
    }

    /// Returns the names of the next `count` files.
    pub fn next_files(&self, count: usize) -> Vec<FileName> {
        let first = self.shards.len();
        (first..first + count).map(|shard| FileName::Levels { shard: shard as u16 }).collect()
    }

    /// Returns whether the list can be read, and names only existing shards.
    pub fn is_sound(&self) -> bool {
        let is_there = |piece: &LevelPiece| usize::from(piece.0) < self.shards.len();
        self.list.is_sound() && self.list.iter().all(|level| level.iter().all(is_there))
    }

    /// Returns the size on disk in bytes.
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.length).sum()
    }

    fn file_segment(&self, (shard, at): LevelPiece) -> FileSegment {
        FileSegment { file: self.shards[usize::from(shard)].file, at }
    }

    /// Maps the pieces of a level, all of whose bytes must have been written to the files.
    pub fn open(
        &self,
        disk: &dyn Disk,
        format: LevelFormat<'_>,
        level: usize,
    ) -> Result<Vec<Segment>> {
        let LevelFormat { width, value_bytes, codec } = format;
        let open =
            |piece: &FileSegment| Ok(piece.open_pairs(disk, width, value_bytes)?.with_codec(codec));
        self.level(level).iter().map(open).collect()
    }
}

/// The format of the keys of all levels.
#[derive(Clone, Copy, Debug)]
pub struct LevelFormat<'c> {
    /// The size of a whole key in bytes, its value included.
    pub width: usize,
    /// The size of the value in bytes; 0 if keys have none.
    pub value_bytes: usize,
    /// The codec of the keys.
    pub codec: &'c Codec,
}

/// A growing log of levels.
pub struct LevelLog {
    disk: Arc<dyn Disk>,
    /// The size of a whole key in bytes.
    width: usize,
    /// The size of a value in bytes; 0 if there are none.
    value_bytes: usize,
    /// The file name of a shard.
    name: fn(u16) -> FileName,
    /// The codec of all levels; it determines the form of keys outside blocks.
    codec: Codec,
    /// The open shards: the first of those whose lengths are in `saved`.
    shards: Vec<LevelShard>,
    /// The pieces of levels, all of whose bytes have been written to the shards.
    saved: SavedLevels,
    /// The number of keys of the last level; 0 if there is no level.
    last_keys: u64,
}

/// A file to which levels are appended.
pub struct LevelShard {
    name: FileName,
    value_bytes: usize,
    codec: Codec,
    /// The number of bytes of the next piece that are not compressed.
    plain: u64,
    file: Box<dyn AppendFile>,
    /// Writes small pieces.
    small: Option<SmallSegmentWriter>,
}

impl LevelLog {
    /// Creates a log without levels; `codec` writes its keys, which have `width` bytes if whole.
    pub fn new(disk: Arc<dyn Disk>, width: usize, codec: Codec) -> Self {
        let name = |shard| FileName::Levels { shard };
        let (shards, saved) = (Vec::new(), SavedLevels::default());
        Self { disk, width, value_bytes: 0, name, codec, shards, saved, last_keys: 0 }
    }

    /// Sets the size of values, for pairs with values of `value_bytes` bytes. The log has no shards yet.
    pub(super) fn with_value_bytes(self, value_bytes: usize) -> Self {
        Self { value_bytes, ..self }
    }

    /// Sets the names of the files. The log has no shards yet.
    pub(super) fn with_file_names(self, name: fn(u16) -> FileName) -> Self {
        Self { name, ..self }
    }

    /// Restores a saved log, and cuts off everything appended since.
    pub fn restore(
        disk: Arc<dyn Disk>,
        width: usize,
        codec: Codec,
        saved: SavedLevels,
    ) -> Result<Self> {
        Self::new(disk, width, codec).with_saved(saved)
    }

    /// Restores a saved log. The log has no shards yet.
    pub(super) fn with_saved(mut self, saved: SavedLevels) -> Result<Self> {
        if !saved.is_sound() {
            return Err(Error::corrupt("manifest", 0, "its list of levels cannot be read"));
        }
        for shard in &saved.shards {
            let file = self.disk.append_at(&shard.file.to_string(), shard.length)?;
            if self.shards.len() < OPEN_MAX {
                self.shards.push(self.shard(shard.file, file));
            }
        }
        let last_keys = saved.len().checked_sub(1).map_or(0, |last| saved.keys(last));
        Ok(Self { saved, last_keys, ..self })
    }

    fn shard(&self, name: FileName, file: Box<dyn AppendFile>) -> LevelShard {
        let codec = self.codec.clone();
        let value_bytes = self.value_bytes;
        LevelShard { name, value_bytes, codec, plain: 0, file, small: None }
    }

    /// Changes the codec to one that reads the existing blocks.
    pub(super) fn set_codec(&mut self, codec: &Codec) {
        self.codec = codec.clone();
        self.shards.iter_mut().for_each(|shard| {
            shard.codec = codec.clone();
            shard.small = None;
        });
    }

    /// Returns the number of levels.
    pub fn len(&self) -> usize {
        self.saved.len()
    }

    /// Returns whether there is no level yet.
    pub fn is_empty(&self) -> bool {
        self.saved.is_empty()
    }

    /// Returns the number of keys of a level.
    pub fn keys(&self, level: usize) -> u64 {
        self.saved.keys(level)
    }

    /// Returns the number of keys of the last level; 0 if there is no level.
    pub fn last_keys(&self) -> u64 {
        self.last_keys
    }

    /// Returns the memory of the list of levels in bytes.
    pub(super) fn list_bytes(&self) -> usize {
        self.saved.list.bytes()
    }

    /// Returns the pieces of a level, ascending.
    pub fn pieces(&self, level: usize) -> Vec<FileSegment> {
        self.saved.level(level)
    }

    /// Maps the pieces of a level.
    pub fn open(&mut self, level: usize) -> Result<Vec<Segment>> {
        self.flush()?;
        let LevelLog { width, value_bytes, ref codec, .. } = *self;
        self.saved.open(&*self.disk, LevelFormat { width, value_bytes, codec }, level)
    }

    /// Flushes the log, so that every level is readable.
    pub fn flush(&mut self) -> Result<()> {
        self.shards.iter_mut().try_for_each(|shard| shard.file.flush())
    }

    /// Returns the first `count` shards, for `count` threads to write the pieces of the next level. Until the log has
    /// about `plain` bytes, pieces are not compressed.
    pub fn shards(&mut self, count: usize, plain: u64) -> Result<&mut [LevelShard]> {
        while self.shards.len() < count {
            let number = self.shards.len();
            let name = (self.name)(number as u16);
            let file = match self.saved.shards.get(number) {
                Some(shard) => self.disk.append_at(&name.to_string(), shard.length)?,
                None => self.disk.create(&name.to_string())?,
            };
            self.shards.push(self.shard(name, file));
            if number == self.saved.shards.len() {
                self.saved.shards.push(SavedShard { file: name, length: 0 });
            }
        }
        let left = plain.saturating_sub(self.saved.bytes());
        let shards = &mut self.shards[..count];
        shards.iter_mut().for_each(|shard| shard.plain = left / count as u64);
        Ok(shards)
    }

    /// Appends a level of the pieces just written, in ascending order. Returns the number of its keys.
    ///
    /// # Errors
    ///
    /// [`Error::Levels`] if there are too many levels.
    ///
    /// # Panics
    ///
    /// If a piece is in no shard of this log.
    pub fn push(&mut self, pieces: impl IntoIterator<Item = FileSegment>) -> Result<u64> {
        let shards = &self.saved.shards;
        let listed = |piece: FileSegment| {
            let shard = shards.iter().position(|shard| shard.file == piece.file);
            (shard.expect("a piece in a shard") as u16, piece.at)
        };
        let there = pieces.into_iter().filter(|piece| piece.at.keys > 0);
        let pieces: Vec<LevelPiece> = there.map(listed).collect();
        self.saved.list.push(&pieces)?;
        for (saved, shard) in self.saved.shards.iter_mut().zip(&self.shards) {
            saved.length = shard.file.len();
        }
        self.last_keys = pieces.iter().map(|(_, at)| at.keys).sum();
        Ok(self.last_keys)
    }

    /// Makes every level durable.
    pub fn sync(&mut self) -> Result<()> {
        self.shards.iter_mut().try_for_each(|shard| shard.file.sync())
    }

    /// Returns the saved form for a manifest; valid on disk after [`LevelLog::sync`].
    pub fn saved(&self) -> &SavedLevels {
        &self.saved
    }
}

impl LevelShard {
    /// Writes one piece: `fill` pushes ascending keys to a writer, whole keys of `width` bytes unless the codec
    /// projects them. A piece without keys takes no bytes. So the result on disk depends only on the levels, and on
    /// which parts of them are compressed.
    pub fn write(
        &mut self,
        width: usize,
        fill: impl FnOnce(&mut SegmentWriter) -> Result<()>,
    ) -> Result<FileSegment> {
        let writer = SegmentWriter::new(width, &mut *self.file).with_codec(&self.codec);
        let mut writer = writer.with_values(self.value_bytes).with_plain_bytes(self.plain);
        fill(&mut writer)?;
        Ok(FileSegment { file: self.name, at: writer.finish_or_empty()? })
    }

    /// Does the same for at least one key without a value, with buffers that are reused. The keys are few: one block.
    pub(super) fn write_small(&mut self, width: usize, keys: &[u8]) -> Result<FileSegment> {
        let LevelShard { name, codec, plain, file, small, .. } = self;
        let small = small.get_or_insert_with(|| SmallSegmentWriter::new(width, codec));
        Ok(FileSegment { file: *name, at: small.write(keys, *plain, &mut **file)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FaultDisk;

    /// Returns the sizes in bytes of forty levels of a thousand keys, in two shards.
    fn lengths(plain: u64) -> Vec<u64> {
        let disk = Arc::new(FaultDisk::new());
        let mut levels = LevelLog::new(disk.clone(), 4, Codec::Gaps);
        for level in 0..40u32 {
            let keys = (0..1000).map(|at| 10_000 * level + 8 * at + at * at % 8);
            let keys: Vec<u8> = keys.flat_map(u32::to_be_bytes).collect();
            let halves = keys.chunks(keys.len() / 2);
            let shards = levels.shards(2, plain).unwrap();
            let write = |(shard, keys): (&mut LevelShard, &[u8])| {
                shard.write(4, |piece| piece.push(keys)).unwrap()
            };
            let pieces: Vec<FileSegment> = shards.iter_mut().zip(halves).map(write).collect();
            levels.push(pieces).unwrap();
            let mut read = Vec::new();
            for segment in levels.open(level as usize).unwrap() {
                segment.decode(0, &mut segment.decoder(), &mut Vec::new()).unwrap();
                read.push(segment.keys());
            }
            assert_eq!(read, [500, 500]);
        }
        let length = |level| levels.pieces(level).iter().map(|piece| piece.at.length).sum();
        (0..40).map(length).collect()
    }

    #[test]
    fn a_log_is_compressed_beyond_its_plain_length() {
        let (compressed, plain) = (lengths(0), lengths(u64::MAX));
        assert!(compressed.iter().zip(&plain).all(|(less, more)| less < more));
        let some = plain[0] * 10;
        let lengths = lengths(some);
        assert_eq!(lengths[..10], plain[..10]);
        assert_eq!(lengths[10..], compressed[10..]);
    }
}
