//! The collection of successors that have no encoding yet, from generation to sorted runs.
//!
//! A run is a sequence of blocks, each with states in ascending order:
//!
//! | bytes of a block | content |
//! | --- | --- |
//! | 0..4 | checksum of the rest |
//! | 4..8 | length of the states |
//! | 8.. | states: each its length (4 bytes) and its bytes |
//!
//! Integers are big-endian. States have different lengths, so they are no segments of keys.

use crate::model_failure;
use spill::{AppendFile, Disk, Error, FileName, FileSegment, MappedBytes, Result, SegmentRef};
use spillway_model::{BreakOff, ModelError, UnencodedStates};
use std::collections::BTreeSet;
use std::collections::btree_set;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The result of a system.
type ModelResult<T> = spillway_model::Result<T>;

/// A block ends with the state that reaches this number of bytes.
const BLOCK_BYTES: usize = 32 << 10;

/// The bytes before the states of a block.
const HEADER_BYTES: usize = 8;

/// The bytes of memory of a state in a buffer, besides its own.
const ENTRY_BYTES: usize = 48;

/// The unencoded states of a worker: a sorted buffer, and runs on disk.
pub struct UnencodedBuffer {
    /// The number of the worker.
    shard: u16,
    /// The most bytes of memory of the buffer.
    limit: usize,
    disk: Arc<dyn Disk>,
    buffer: BTreeSet<Box<[u8]>>,
    /// The bytes of memory of the buffer.
    bytes: usize,
    open: Option<(FileName, Box<dyn AppendFile>)>,
    runs: Vec<FileSegment>,
}

impl UnencodedBuffer {
    /// Creates an empty buffer of at most `limit` bytes.
    pub fn new(shard: u16, limit: usize, disk: &Arc<dyn Disk>) -> UnencodedBuffer {
        let (disk, buffer, bytes) = (disk.clone(), BTreeSet::new(), 0);
        UnencodedBuffer { shard, limit, disk, buffer, bytes, open: None, runs: Vec::new() }
    }

    /// Adds a successor of a state of `level`.
    pub fn add(&mut self, level: u32, state: &[u8]) -> Result<()> {
        if self.buffer.contains(state) {
            return Ok(());
        }
        self.buffer.insert(state.into());
        self.bytes += state.len() + ENTRY_BYTES;
        if self.bytes > self.limit { self.write(level) } else { Ok(()) }
    }

    /// Continues after the `length` bytes that the runs of `level` had at a checkpoint.
    pub fn restore(&mut self, level: u32, length: u64) -> Result<()> {
        let name = FileName::Unencoded { level, shard: self.shard };
        self.open = Some((name, self.disk.append_at(&name.to_string(), length)?));
        Ok(())
    }

    /// Writes the buffer to disk as a run.
    fn write(&mut self, level: u32) -> Result<()> {
        let name = FileName::Unencoded { level, shard: self.shard };
        let (name, file) = match &mut self.open {
            Some(open) => open,
            None => self.open.insert((name, self.disk.create(&name.to_string())?)),
        };
        let offset = file.len();
        let mut run = RunWriter::new(&mut **file);
        self.buffer.iter().try_for_each(|state| run.push(state))?;
        let keys = run.finish()?;
        let length = file.len() - offset;
        self.runs.push(FileSegment { file: *name, at: SegmentRef { offset, length, keys } });
        self.buffer.clear();
        self.bytes = 0;
        Ok(())
    }

    /// Writes all states to disk, and makes all runs durable.
    pub fn save(&mut self, level: u32) -> Result<()> {
        if !self.buffer.is_empty() {
            self.write(level)?;
        }
        self.open.as_mut().map_or(Ok(()), |(_, file)| file.sync())
    }

    /// Makes the runs readable.
    pub fn flush(&mut self) -> Result<()> {
        self.open.as_mut().map_or(Ok(()), |(_, file)| file.flush())
    }

    /// Returns the runs written since the level began or was resumed.
    pub fn pieces(&self) -> impl Iterator<Item = &FileSegment> {
        self.runs.iter()
    }

    /// Returns the length of the file of runs in bytes, if there is one.
    pub fn log_length(&self) -> Option<u64> {
        self.open.as_ref().map(|(_, file)| file.len())
    }

    /// Drops the states. Returns the file to remove, if there is one.
    pub fn clear(&mut self) -> Option<FileName> {
        self.buffer.clear();
        self.bytes = 0;
        self.runs.clear();
        self.open.take().map(|(name, _)| name)
    }
}

/// Appends a sorted run to a file.
struct RunWriter<'f> {
    file: &'f mut dyn AppendFile,
    /// The block that is not written: its header, then states.
    block: Vec<u8>,
    /// The number of states.
    states: u64,
}

impl<'f> RunWriter<'f> {
    fn new(file: &'f mut dyn AppendFile) -> RunWriter<'f> {
        RunWriter { file, block: vec![0; HEADER_BYTES], states: 0 }
    }

    fn push(&mut self, state: &[u8]) -> Result<()> {
        self.block.extend_from_slice(&length_bytes(state.len()));
        self.block.extend_from_slice(state);
        self.states += 1;
        if self.block.len() >= BLOCK_BYTES { self.write_block() } else { Ok(()) }
    }

    fn write_block(&mut self) -> Result<()> {
        let block = &mut self.block;
        let length = length_bytes(block.len() - HEADER_BYTES);
        block[4..HEADER_BYTES].copy_from_slice(&length);
        let checksum = spill::checksum(&block[4..]);
        block[..4].copy_from_slice(&checksum.to_be_bytes());
        self.file.write(block)?;
        block.truncate(HEADER_BYTES);
        Ok(())
    }

    /// Writes the last block. Returns the number of states.
    fn finish(mut self) -> Result<u64> {
        if self.block.len() > HEADER_BYTES {
            self.write_block()?;
        }
        Ok(self.states)
    }
}

fn length_bytes(length: usize) -> [u8; 4] {
    u32::try_from(length).expect("a state has fewer bytes than 2^32").to_be_bytes()
}

/// The states of several buffers and runs, each once and in ascending order.
pub struct UnencodedLevel<'b> {
    buffers: Vec<&'b BTreeSet<Box<[u8]>>>,
    runs: Vec<(FileSegment, MappedBytes)>,
    /// The error of a disk, which an implementation of a system cannot keep.
    errors: BreakOff<Error>,
}

impl<'b> UnencodedLevel<'b> {
    /// Opens the states of `buffers`, whose runs are flushed, and of runs of earlier sessions.
    pub fn open(
        disk: &dyn Disk,
        buffers: impl Iterator<Item = &'b UnencodedBuffer> + Clone,
        restored: &'b [FileSegment],
    ) -> Result<UnencodedLevel<'b>> {
        let open = |run: &FileSegment| {
            let end = run.at.offset + run.at.length;
            Ok((*run, disk.map(&run.file.to_string(), run.at.offset..end)?))
        };
        let runs = buffers.clone().flat_map(UnencodedBuffer::pieces).chain(restored);
        let runs = runs.map(open).collect::<Result<_>>()?;
        let buffers = buffers.map(|it| &it.buffer).collect();
        Ok(UnencodedLevel { buffers, runs, errors: BreakOff::new() })
    }

    /// Returns whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.buffers.iter().all(|it| it.is_empty())
    }

    /// Appends all states to a file as one run, each once.
    pub fn write(self, file: &mut dyn AppendFile) -> Result<SegmentRef> {
        let offset = file.len();
        let (mut run, mut written) = (RunWriter::new(file), Ok(()));
        let visited = self.visit(&mut |state| {
            if written.is_ok() {
                written = run.push(state);
            }
            Ok(())
        });
        self.or_error(visited)?;
        written?;
        let keys = run.finish()?;
        Ok(SegmentRef { offset, length: file.len() - offset, keys })
    }

    /// Returns the result of a system, or the error of the disk that the system returned as one of its own.
    pub fn or_error<T>(self, result: ModelResult<T>) -> Result<T> {
        self.errors.or_error(result, model_failure)
    }

    fn check<T>(&self, result: Result<T>) -> ModelResult<T> {
        result.map_err(|error| match self.errors.check(Err(error)) {
            ControlFlow::Break(()) | ControlFlow::Continue(()) => ModelError::BrokenOff,
        })
    }
}

impl UnencodedStates for UnencodedLevel<'_> {
    fn visit(&self, each: &mut dyn FnMut(&[u8]) -> ModelResult<()>) -> ModelResult<()> {
        let buffers = self.buffers.iter().map(|it| RunSource::Buffer(it.iter()));
        let runs = self.runs.iter().map(|(run, bytes)| RunSource::Run(RunReader::new(run, bytes)));
        let mut sources: Vec<_> = buffers.chain(runs).map(|it| (None, it)).collect();
        for (head, source) in &mut sources {
            *head = self.check(source.next())?;
        }
        while let Some(least) = sources.iter().filter_map(|it| it.0).min() {
            each(least)?;
            for (head, source) in &mut sources {
                if *head == Some(least) {
                    *head = self.check(source.next())?;
                }
            }
        }
        Ok(())
    }
}

/// States in ascending order.
enum RunSource<'b> {
    Buffer(btree_set::Iter<'b, Box<[u8]>>),
    Run(RunReader<'b>),
}

impl<'b> RunSource<'b> {
    fn next(&mut self) -> Result<Option<&'b [u8]>> {
        match self {
            RunSource::Buffer(states) => Ok(states.next().map(|it| &**it)),
            RunSource::Run(run) => run.next(),
        }
    }
}

/// Reads a run.
struct RunReader<'b> {
    run: &'b FileSegment,
    /// The blocks that were not begun.
    rest: &'b [u8],
    /// The states of the current block that were not read.
    block: &'b [u8],
}

impl<'b> RunReader<'b> {
    fn new(run: &'b FileSegment, bytes: &'b MappedBytes) -> RunReader<'b> {
        RunReader { run, rest: bytes, block: &[] }
    }

    fn next(&mut self) -> Result<Option<&'b [u8]>> {
        if self.block.is_empty() {
            if self.rest.is_empty() {
                return Ok(None);
            }
            let offset = self.run.at.offset + self.run.at.length - self.rest.len() as u64;
            self.block = self.begin_block().ok_or_else(|| {
                let file = self.run.file.to_string();
                Error::corrupt(file, offset, "the checksum of a block is wrong")
            })?;
        }
        let state = take(&mut self.block);
        // The checksum was right, so this is a block of another program.
        let wrong = || Error::corrupt(self.run.file.to_string(), 0, "a state is cut off");
        state.map(Some).ok_or_else(wrong)
    }

    /// Returns the states of the next block, if its checksum is right.
    fn begin_block(&mut self) -> Option<&'b [u8]> {
        let (checksum, after) = self.rest.split_at_checked(4)?;
        let length = u32::from_be_bytes(after.get(..4)?.try_into().ok()?) as usize;
        let (checked, rest) = after.split_at_checked(4 + length)?;
        self.rest = rest;
        let is_right = length > 0 && spill::checksum(checked).to_be_bytes() == *checksum;
        is_right.then_some(&checked[4..])
    }
}

/// Takes the next state of a block.
fn take<'b>(block: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = block.split_at_checked(4)?;
    let length = u32::from_be_bytes(length.try_into().ok()?) as usize;
    let (state, rest) = rest.split_at_checked(length)?;
    *block = rest;
    Some(state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spill::FaultDisk;

    fn all(level: &UnencodedLevel<'_>) -> ModelResult<Vec<Vec<u8>>> {
        let mut states = Vec::new();
        level.visit(&mut |it| {
            states.push(it.to_vec());
            Ok(())
        })?;
        Ok(states)
    }

    proptest! {
        #[test]
        fn states_are_visited_once_and_in_order(
            states in proptest::collection::vec((0u16..3, proptest::collection::vec(any::<u8>(), 0..5)), 0..200),
            limit in 1_usize..2000,
        ) {
            let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            let mut buffers: Vec<_> =
                (0..3).map(|shard| UnencodedBuffer::new(shard, limit, &disk)).collect();
            for (shard, state) in &states {
                buffers[usize::from(*shard)].add(7, state).unwrap();
            }
            buffers[2].save(7).unwrap();
            buffers.iter_mut().for_each(|it| it.flush().unwrap());
            let mut expected: Vec<_> = states.iter().map(|it| it.1.clone()).collect();
            expected.sort();
            expected.dedup();
            let level = UnencodedLevel::open(&*disk, buffers.iter(), &[]).unwrap();
            prop_assert_eq!(level.is_empty(), expected.is_empty());
            for _ in 0..2 {
                prop_assert_eq!(&all(&level).unwrap(), &expected);
            }
        }
    }

    #[test]
    fn every_damaged_bit_is_refused() {
        let disk = FaultDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let mut buffer = UnencodedBuffer::new(0, 1 << 20, &shared);
        for state in [b"".as_slice(), b"one", b"three", b"two"] {
            buffer.add(3, state).unwrap();
        }
        buffer.save(3).unwrap();
        let name = FileName::Unencoded { level: 3, shard: 0 }.to_string();
        let length = buffer.log_length().unwrap();
        for bit in 0..length * 8 {
            disk.flip_bit(&name, bit / 8, (bit % 8) as u32);
            let level = UnencodedLevel::open(&disk, [&buffer].into_iter(), &[]).unwrap();
            let result = all(&level);
            let error = level.or_error(result).unwrap_err();
            assert!(matches!(error, Error::Corrupt { offset: 0, .. }), "bit {bit}: {error}");
            disk.flip_bit(&name, bit / 8, (bit % 8) as u32);
        }
    }
}
