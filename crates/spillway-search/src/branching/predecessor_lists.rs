//! The predecessors of each state, by rank, in a file for each shard.
//!
//! ```text
//! chunk: checksum of what follows, 4 bytes; entries
//! entry: the state's distance from the one before it in the chunk, or from the first;
//!        how many predecessors there are; the first one's rank, and the distance of each from the one before
//! ```
//!
//! Numbers are encoded in LEB128: seven bits in each byte, the lowest first. A long list of a state is split into
//! several consecutive entries.

use spill::{AppendFile, Disk, Error, FileName, MappedBytes, Result, checksum};

/// The size in bytes at which a chunk ends.
const CHUNK_BYTES: usize = 64 << 10;

/// The number of predecessors at which an entry ends.
const ENTRY_MAX: usize = 4096;

/// Bytes of a checksum.
const CHECKSUM: usize = 4;

/// The location of a chunk, and the range of its states.
#[derive(Clone, Copy, Debug)]
struct ListChunk {
    first: u64,
    last: u64,
    start: u64,
    end: u64,
}

/// Writes the lists of a shard, state by state.
pub(super) struct PredecessorListsWriter {
    file: Box<dyn AppendFile>,
    name: FileName,
    chunks: Vec<ListChunk>,
    bytes: Vec<u8>,
    first: u64,
    last: u64,
    /// The current state, whose predecessors in `held` are not written yet.
    state: u64,
    held: Vec<u64>,
}

impl PredecessorListsWriter {
    pub(super) fn create(disk: &dyn Disk, shard: u16) -> Result<PredecessorListsWriter> {
        let name = FileName::Predecessors { shard };
        let file = disk.create(&name.to_string())?;
        let (chunks, bytes, held) = (Vec::new(), Vec::new(), Vec::new());
        Ok(PredecessorListsWriter { file, name, chunks, bytes, first: 0, last: 0, state: 0, held })
    }

    /// Adds a predecessor of a state. Pairs ascend, first by state.
    pub(super) fn push(&mut self, state: u64, predecessor: u64) -> Result<()> {
        if state != self.state || self.held.len() == ENTRY_MAX {
            self.end_entry()?;
        }
        self.state = state;
        self.held.push(predecessor);
        Ok(())
    }

    fn end_entry(&mut self) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        if self.bytes.is_empty() {
            (self.first, self.last) = (self.state, self.state);
        }
        write_number(&mut self.bytes, self.state - self.last);
        self.last = self.state;
        write_number(&mut self.bytes, self.held.len() as u64);
        let mut before = 0;
        for rank in self.held.drain(..) {
            write_number(&mut self.bytes, rank - before);
            before = rank;
        }
        if self.bytes.len() >= CHUNK_BYTES { self.end_chunk() } else { Ok(()) }
    }

    fn end_chunk(&mut self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let start = self.file.len();
        self.file.write(&checksum(&self.bytes).to_le_bytes())?;
        self.file.write(&self.bytes)?;
        let (first, last, end) = (self.first, self.last, self.file.len());
        self.chunks.push(ListChunk { first, last, start, end });
        self.bytes.clear();
        Ok(())
    }

    /// Returns the lists for reading.
    pub(super) fn finish(mut self, disk: &dyn Disk) -> Result<PredecessorLists> {
        self.end_entry()?;
        self.end_chunk()?;
        self.file.flush()?;
        let name = self.name.to_string();
        let bytes = match self.file.len() {
            0 => None,
            length => Some(disk.map(&name, 0..length)?),
        };
        Ok(PredecessorLists { name, bytes, chunks: self.chunks })
    }
}

/// The lists of a shard.
pub(super) struct PredecessorLists {
    name: String,
    bytes: Option<MappedBytes>,
    chunks: Vec<ListChunk>,
}

/// The entries of a chunk: states, each with the index of its first predecessor.
#[derive(Default)]
pub(super) struct PredecessorEntries {
    states: Vec<(u64, usize)>,
    predecessors: Vec<u64>,
}

impl PredecessorEntries {
    /// Returns the number of entries.
    pub(super) fn count(&self) -> usize {
        self.states.len()
    }

    /// Returns a state and predecessors of it.
    pub(super) fn entry(&self, at: usize) -> (u64, &[u64]) {
        let (state, start) = self.states[at];
        let end = self.states.get(at + 1).map_or(self.predecessors.len(), |next| next.1);
        (state, &self.predecessors[start..end])
    }
}

impl PredecessorLists {
    /// Returns the name of its file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of chunks.
    pub(super) fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the first and the last state of a chunk.
    pub(super) fn states_of(&self, chunk: usize) -> (u64, u64) {
        (self.chunks[chunk].first, self.chunks[chunk].last)
    }

    /// Replaces `entries` by those of a chunk. Ranks are below `ranks`.
    pub(super) fn read(
        &self,
        chunk: usize,
        ranks: u64,
        entries: &mut PredecessorEntries,
    ) -> Result<()> {
        let ListChunk { first, start, end, .. } = self.chunks[chunk];
        let damaged = || Error::corrupt(&self.name, start, "a list of predecessors is damaged");
        let Some(bytes) = &self.bytes else { return Err(damaged()) };
        let range = start as usize..end as usize;
        let raw = bytes.get(range.clone()).and_then(|it| it.split_at_checked(CHECKSUM));
        let (sum, mut rest) = raw.ok_or_else(damaged)?;
        if sum != checksum(rest).to_le_bytes() {
            return Err(damaged());
        }
        entries.states.clear();
        entries.predecessors.clear();
        let mut state = first;
        while !rest.is_empty() {
            let mut next = || read_number(&mut rest).ok_or_else(damaged);
            state += next()?;
            entries.states.push((state, entries.predecessors.len()));
            let (count, mut rank) = (next()?, 0);
            for _ in 0..count {
                rank += next()?;
                entries.predecessors.push(rank);
            }
            if state >= ranks || rank >= ranks {
                return Err(damaged());
            }
        }
        bytes.release(range);
        Ok(())
    }
}

fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::FaultDisk;

    /// Long lists are split and are read back whole. Any flipped bit is detected.
    #[test]
    fn lists_round_trip_and_damage_is_detected() {
        let disk = FaultDisk::new();
        let pairs = (0..3000u64).flat_map(|state| {
            let count = if state == 1500 { 100_000 } else { state % 7 };
            (0..count).map(move |it| (state, it * (1 + state % 3) + state % 5))
        });
        let pairs: Vec<(u64, u64)> = pairs.collect();
        let mut writer = PredecessorListsWriter::create(&disk, 3).unwrap();
        pairs.iter().for_each(|(state, it)| writer.push(*state, *it).unwrap());
        let lists = writer.finish(&disk).unwrap();
        assert!(lists.chunks() > 1);
        let (mut found, mut entries) = (Vec::new(), PredecessorEntries::default());
        for chunk in 0..lists.chunks() {
            lists.read(chunk, 1 << 20, &mut entries).unwrap();
            for at in 0..entries.count() {
                let (state, predecessors) = entries.entry(at);
                let (first, last) = lists.states_of(chunk);
                assert!((first..=last).contains(&state));
                found.extend(predecessors.iter().map(|it| (state, *it)));
            }
        }
        assert_eq!(found, pairs);
        let file = disk.read(lists.name()).unwrap();
        for at in (0..file.len()).step_by(97) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let mut out = disk.create(lists.name()).unwrap();
            out.write(&damaged).and_then(|()| out.flush()).unwrap();
            let bytes = Some(disk.map(lists.name(), 0..file.len() as u64).unwrap());
            let lists =
                PredecessorLists { bytes, name: lists.name.clone(), chunks: lists.chunks.clone() };
            let read = (0..lists.chunks()).try_for_each(|it| lists.read(it, 1 << 20, &mut entries));
            assert!(read.is_err(), "byte {at}");
        }
    }
}
