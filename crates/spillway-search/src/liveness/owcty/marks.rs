//! Sets of states of a region, and counts of predecessors: a small number for each state, indexed by its rank.
//!
//! Each shard of the region has a file of numbers. A sweep writes it sequentially, and the next sweep reads it
//! sequentially, so it need not fit in memory. The file has a chunk for each block of the shard's segment:
//!
//! ```text
//! offset  bytes
//!      0      4  checksum of what follows
//!      4      4  states that are in the set: those whose number is not 0
//!      8      4  states that the next sweep expands
//!     12      4  states that have too many predecessors to be counted
//!     16      1  bits of a number: 0, 1, 2, 4 or 8
//!     17      1  with 0 bits, the number that all have
//!     18      -  the numbers, lowest bits first
//! ```

use rkyv::{Archive, Deserialize, Serialize};
use spill::{AppendFile, Disk, Error, FileName, MappedBytes, Result, checksum};

const HEADER: usize = 18;

/// The number of states that are not in the set.
pub(super) const OUT: u8 = 0;

/// The number of states in the set without further information, or without predecessors in the set.
pub(super) const IN: u8 = 1;

/// The number of states with too many predecessors to count.
pub(super) const MANY: u8 = u8::MAX;

/// The number of states of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct MarkCounts {
    /// States in the set.
    pub members: u64,
    /// States that the next sweep expands.
    pub pending: u64,
    /// States with too many predecessors to count.
    pub many: u64,
}

impl MarkCounts {
    pub(super) fn add(&mut self, other: MarkCounts) {
        self.members += other.members;
        self.pending += other.pending;
        self.many += other.many;
    }
}

/// The numbers of a shard. Before the first sweep there is no file, and all states are in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct ShardMarks {
    /// The file and its length in bytes.
    pub file: Option<(FileName, u64)>,
    /// The counts of its states.
    pub counts: MarkCounts,
}

impl ShardMarks {
    /// The set of all states.
    pub(super) fn all(states: u64) -> ShardMarks {
        let counts = MarkCounts { members: states, pending: 0, many: 0 };
        ShardMarks { file: None, counts }
    }

    pub(super) fn read(&self, disk: &dyn Disk) -> Result<MarksReader> {
        let Some((name, length)) = self.file else {
            return Ok(MarksReader { file: String::new(), bytes: None, at: 0 });
        };
        let file = name.to_string();
        let bytes = Some(disk.map(&file, 0..length)?);
        Ok(MarksReader { file, bytes, at: 0 })
    }
}

/// Reads the chunks of a shard sequentially.
pub(super) struct MarksReader {
    file: String,
    bytes: Option<MappedBytes>,
    at: usize,
}

/// The numbers of a shard, with random access by block.
pub(super) struct MarksIndex {
    reader: MarksReader,
    /// The offset of each block's chunk.
    starts: Vec<usize>,
}

impl MarksIndex {
    /// Indexes a shard whose blocks have the given numbers of states.
    pub(super) fn new(
        mut reader: MarksReader,
        blocks: impl Iterator<Item = usize>,
    ) -> Result<MarksIndex> {
        let mut starts = Vec::new();
        for states in blocks {
            starts.push(reader.at);
            reader.next(states)?;
        }
        Ok(MarksIndex { reader, starts })
    }

    /// Returns the chunk of a block with the given number of states.
    pub(super) fn chunk(&mut self, block: usize, states: usize) -> Result<MarksChunk<'_>> {
        self.reader.at = self.starts[block];
        self.reader.next(states)
    }
}

/// The numbers of a block of states.
pub(super) struct MarksChunk<'r> {
    states: usize,
    /// The verified bytes, or nothing if all states are in the set.
    raw: Option<&'r [u8]>,
}

impl MarksReader {
    /// Returns the next chunk, which has the given number of states.
    pub(super) fn next(&mut self, states: usize) -> Result<MarksChunk<'_>> {
        let Some(bytes) = &self.bytes else { return Ok(MarksChunk { states, raw: None }) };
        let start = self.at;
        let damaged = |what: &str| Error::corrupt(&self.file, start as u64, what);
        let header = bytes.get(start..start + HEADER);
        let header = header.ok_or_else(|| damaged("a set ends before its region"))?;
        let bits = usize::from(header[16]);
        let end = start + HEADER + (states * bits).div_ceil(8);
        let raw = bytes.get(start..end).filter(|_| matches!(bits, 0 | 1 | 2 | 4 | 8));
        let raw = raw.ok_or_else(|| damaged("a set ends before its region"))?;
        if number(raw, 0) != checksum(&raw[4..]) {
            return Err(damaged("a set: its checksum does not match"));
        }
        self.at = end;
        bytes.release(start..end);
        Ok(MarksChunk { states, raw: Some(raw) })
    }
}

impl MarksChunk<'_> {
    pub(super) fn counts(&self) -> MarkCounts {
        match self.raw {
            None => MarkCounts { members: self.states as u64, pending: 0, many: 0 },
            Some(raw) => {
                let [members, pending, many] = [4, 8, 12].map(|at| number(raw, at).into());
                MarkCounts { members, pending, many }
            }
        }
    }

    /// Replaces `codes` by the numbers.
    pub(super) fn read(&self, codes: &mut Vec<u8>) {
        codes.clear();
        let (bits, value, packed) = match self.raw {
            None => (0, IN, &[][..]),
            Some(raw) => (usize::from(raw[16]), raw[17], &raw[HEADER..]),
        };
        if bits == 0 {
            codes.resize(self.states, value);
            return;
        }
        codes.resize(self.states, OUT);
        match bits {
            1 => unpack::<1>(packed, codes),
            2 => unpack::<2>(packed, codes),
            4 => unpack::<4>(packed, codes),
            _ => codes.copy_from_slice(packed),
        }
    }
}

/// Unpacks numbers of `BITS` bits, lowest bits first.
fn unpack<const BITS: usize>(packed: &[u8], codes: &mut [u8]) {
    let mask = u8::MAX >> (8 - BITS);
    for (byte, codes) in packed.iter().zip(codes.chunks_mut(8 / BITS)) {
        let numbered = codes.iter_mut().enumerate();
        numbered.for_each(|(at, code)| *code = byte >> (at * BITS) & mask);
    }
}

/// Packs numbers and appends them to `chunk`.
fn pack<const BITS: usize>(codes: &[u8], chunk: &mut Vec<u8>) {
    let pack = |codes: &[u8]| {
        let numbered = codes.iter().enumerate();
        numbered.fold(0, |packed, (at, code)| packed | code << (at * BITS))
    };
    chunk.extend(codes.chunks(8 / BITS).map(pack));
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Writes the chunks of a shard sequentially.
pub(super) struct MarksWriter {
    name: FileName,
    file: Box<dyn AppendFile>,
    counts: MarkCounts,
    chunk: Vec<u8>,
}

impl MarksWriter {
    pub(super) fn create(disk: &dyn Disk, name: FileName) -> Result<MarksWriter> {
        let file = disk.create(&name.to_string())?;
        Ok(MarksWriter { name, file, counts: MarkCounts::default(), chunk: Vec::new() })
    }

    /// Copies a chunk.
    pub(super) fn copy(&mut self, chunk: &MarksChunk) -> Result<()> {
        match chunk.raw {
            None => self.push(&vec![IN; chunk.states], None),
            Some(raw) => {
                self.counts.add(chunk.counts());
                self.file.write(raw)
            }
        }
    }

    /// Appends a chunk of these numbers. The next sweep expands the states with the number `pending`.
    pub(super) fn push(&mut self, codes: &[u8], pending: Option<u8>) -> Result<()> {
        let count =
            |wanted: Option<u8>| codes.iter().filter(|&&code| Some(code) == wanted).count() as u32;
        let members = codes.len() as u32 - count(Some(OUT));
        let sorts = [members, count(pending), count(Some(MANY))];
        let first = codes.first().copied().unwrap_or(OUT);
        let greatest = codes.iter().copied().max().unwrap_or(OUT);
        let is_one = codes.iter().all(|&code| code == first);
        let bits = match greatest {
            _ if is_one => 0,
            0..2 => 1,
            2..4 => 2,
            4..16 => 4,
            _ => 8,
        };
        let chunk = &mut self.chunk;
        chunk.clear();
        chunk.extend([0; 4]);
        sorts.iter().for_each(|it| chunk.extend(it.to_le_bytes()));
        chunk.extend([bits, if bits == 0 { first } else { 0 }]);
        match bits {
            0 => {}
            1 => pack::<1>(codes, chunk),
            2 => pack::<2>(codes, chunk),
            4 => pack::<4>(codes, chunk),
            _ => chunk.extend_from_slice(codes),
        }
        let sum = checksum(&chunk[4..]).to_le_bytes();
        chunk[..4].copy_from_slice(&sum);
        let [members, pending, many] = sorts.map(u64::from);
        self.counts.add(MarkCounts { members, pending, many });
        self.file.write(chunk)
    }

    pub(super) fn finish(mut self) -> Result<ShardMarks> {
        self.file.flush()?;
        Ok(ShardMarks { file: Some((self.name, self.file.len())), counts: self.counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spill::FaultDisk;

    /// Numbers of each width are read back chunk by chunk, and any flipped bit is detected.
    #[test]
    fn marks_round_trip_and_damage_is_detected() {
        let disk = FaultDisk::new();
        let chunks: Vec<Vec<u8>> = [1, 2, 3, 4, 16, 200, 255]
            .iter()
            .flat_map(|&bound| {
                let code = move |at: usize| (at * 7 % 255) as u8 % bound;
                [1usize, 5, 8, 100].map(|states| (0..states).map(code).collect())
            })
            .collect();
        let name = FileName::Marks { sweep: 1, shard: 0 };
        let mut writer = MarksWriter::create(&disk, name).unwrap();
        chunks.iter().for_each(|codes| writer.push(codes, Some(2)).unwrap());
        let marks = writer.finish().unwrap();
        let count = |wanted: fn(&u8) -> bool| {
            chunks.iter().flatten().filter(|it| wanted(it)).count() as u64
        };
        let expected = MarkCounts {
            members: count(|&it| it != OUT),
            pending: count(|&it| it == 2),
            many: count(|&it| it == MANY),
        };
        assert_eq!(marks.counts, expected);
        let mut codes = Vec::new();
        let mut reader = marks.read(&disk).unwrap();
        for chunk in &chunks {
            reader.next(chunk.len()).unwrap().read(&mut codes);
            assert_eq!(codes, *chunk);
        }
        assert!(reader.next(1).is_err(), "there is no more");
        let file = disk.read(&name.to_string()).unwrap();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << (at % 8);
            let mut out = disk.create(&name.to_string()).unwrap();
            out.write(&damaged).and_then(|()| out.flush()).unwrap();
            let mut reader = marks.read(&disk).unwrap();
            let read = chunks.iter().try_for_each(|it| reader.next(it.len()).map(drop));
            assert!(read.is_err(), "byte {at}");
        }
    }
}
