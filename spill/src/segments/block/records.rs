//! Blocks of records: written, and looked into without being decoded.
//!
//! The records of a block are those of its keys, in key order. Since their own order means nothing,
//! candidates are found among them by hashing: the candidates' records are entered in a small table,
//! and each record of the block is looked up.
//!
//! Of the keys `00 00 07` and `05 05 05` the run-length code makes the records `02 00 01 07` and `03 05`;
//! as one takes up to six bytes, a length takes one:
//!
//! ```text
//! 04 | 02               lengths
//! 02 00 01 07 | 03 05   records
//! ```

use super::header::BlockHeader;
use crate::codec::Codec;
use crate::keys::hash;
use byteorder::{ByteOrder, LittleEndian};
use std::ops::Range;

/// The records of a block.
#[derive(Debug, Default)]
pub(crate) struct BlockRecords {
    /// What they are records of. A block has one codec, and so has all that is sought in it.
    pub(super) codec: Codec,
    /// One behind the other, without anything between.
    bytes: Vec<u8>,
    /// Where each ends: ascending, the last at the end of `bytes`.
    ends: Vec<u32>,
}

impl BlockRecords {
    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// One of the records.
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        &self.bytes[self.range(at)]
    }

    fn range(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        start..self.ends[at] as usize
    }

    /// Replaces them by those of `keys`.
    pub(crate) fn encode(&mut self, width: usize, keys: &[u8]) {
        self.codec.encode_all(width, keys, &mut self.bytes, &mut self.ends);
    }

    /// Writes lengths, of so many bytes each, and records into `raw`, which is empty.
    pub(super) fn write(&self, length_bytes: usize, raw: &mut Vec<u8>) {
        for at in 0..self.len() {
            raw.extend_from_slice(&(self.get(at).len() as u32).to_le_bytes()[..length_bytes]);
        }
        raw.extend_from_slice(&self.bytes);
    }

    /// Reads the records of a block from `raw`, as far as telling them apart goes.
    pub(super) fn read(&mut self, raw: &[u8], header: &BlockHeader, width: usize) -> Option<()> {
        let length_bytes = header.coding.gap_bytes;
        let (lengths, bytes) = raw.split_at_checked(header.count * length_bytes)?;
        self.ends.clear();
        if length_bytes == 0 {
            self.ends.extend((1..=header.count).map(|key| (key * width) as u32));
        } else {
            let mut end = 0u32;
            self.ends.extend(lengths.chunks_exact(length_bytes).map(|length| {
                end = end.saturating_add(LittleEndian::read_uint(length, length.len()) as u32);
                end
            }));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        (self.ends.last() == Some(&(bytes.len() as u32))).then_some(())
    }

    /// Appends the key of one of the records to `out`; false if it is of none.
    pub(crate) fn decode(&self, at: usize, width: usize, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.resize(start + width, 0);
        let key = &mut out[start..];
        match &self.codec {
            Codec::Huffman(huffman) => huffman.decode_from(&self.bytes, self.range(at), key),
            codec => codec.decode(self.get(at), key),
        }
    }
}

/// Candidates, to be found among the records of blocks.
#[derive(Debug, Default)]
pub(crate) struct RecordLookup {
    /// Those of the candidates.
    records: BlockRecords,
    /// Numbers of records plus one, by hash; 0 where there is none. A power of two of slots, at most
    /// half of them taken, so that every search ends.
    table: Vec<u32>,
    /// For each candidate whether its record was met.
    known: Vec<bool>,
}

impl RecordLookup {
    /// For each of `candidates`, which differ, whether its record is in `block`.
    pub(crate) fn find_known(
        &mut self,
        width: usize,
        candidates: &[u8],
        block: &BlockRecords,
    ) -> &[bool] {
        self.records.codec = block.codec.clone();
        self.records.encode(width, candidates);
        let count = self.records.len();
        self.table.clear();
        self.table.resize((2 * count).next_power_of_two(), 0);
        for at in 0..count {
            let mut place = self.place(self.records.get(at));
            while self.table[place] != 0 {
                place = self.after(place);
            }
            self.table[place] = at as u32 + 1;
        }
        self.known.clear();
        self.known.resize(count, false);
        for at in 0..block.len() {
            if let Some(found) = self.find(block.get(at)) {
                self.known[found] = true;
            }
        }
        &self.known
    }

    fn find(&self, record: &[u8]) -> Option<usize> {
        let mut place = self.place(record);
        while let Some(at) = (self.table[place] as usize).checked_sub(1) {
            if self.records.get(at) == record {
                return Some(at);
            }
            place = self.after(place);
        }
        None
    }

    fn place(&self, record: &[u8]) -> usize {
        hash(record) as usize & (self.table.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.table.len() - 1)
    }
}
