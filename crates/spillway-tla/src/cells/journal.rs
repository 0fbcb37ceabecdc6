//! Dictionaries as bytes that are only appended to.
//!
//! | bytes | content |
//! | --- | --- |
//! | 0..8 | `SPILLDIC` |
//! | 8..12 | version: 1 |
//! | 12..16 | count of dictionaries |
//! | 16..20 | checksum of bytes 0..16 |
//! | 20.. | blocks |
//!
//! | bytes of a block | content |
//! | --- | --- |
//! | 0..4 | length of the entries in bytes, at least 1 |
//! | 4..8 | checksum of bytes 0..4 and of the entries |
//! | 8.. | entries: each the number of a dictionary (LEB128) and a value ([`super::value_bytes`]) |
//!
//! Integers are big-endian. Checksums are CRC-32 (IEEE 802.3). The values of a dictionary are numbered in the order of
//! their entries. The empty journal is that of empty dictionaries.

use super::CellLayout;
use super::dictionary::Dictionaries;
use super::numbering::{DictionaryEntries, EntryError, add_entries};
use crate::value::SymbolTable;

const MAGIC: [u8; 8] = *b"SPILLDIC";

/// The version that this file describes.
const VERSION: u32 = 1;

const HEADER_BYTES: usize = 20;
const BLOCK_HEADER_BYTES: usize = 8;

/// The bytes are not a journal of a layout and a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The bytes are no journal, or the header is damaged.
    #[error("the header of the dictionaries is damaged")]
    DamagedHeader,
    /// The journal has another version.
    #[error("the dictionaries have version {0}, but this program reads version {VERSION}")]
    Version(u32),
    /// The layout has another number of dictionaries.
    #[error("there are {found} dictionaries, but the layout has {expected}")]
    OtherLayout {
        /// The dictionaries of the layout.
        expected: u32,
        /// The dictionaries of the journal.
        found: u32,
    },
    /// A block has a wrong length or checksum.
    #[error("the dictionaries are damaged at byte {offset}")]
    DamagedBlock {
        /// Where the block begins.
        offset: usize,
    },
    /// A block has a correct checksum, but its entries are not those of the specification.
    #[error("the dictionaries do not belong to this specification: {error} (byte {offset})")]
    Entry {
        /// Where the block begins.
        offset: usize,
        /// The defect.
        error: EntryError,
    },
}

/// Returns the bytes to append to a journal of this length for new entries.
pub fn journal_bytes(length: u64, layout: &CellLayout, entries: &DictionaryEntries) -> Vec<u8> {
    let mut bytes = Vec::new();
    for block in entries.blocks() {
        if length == 0 && bytes.is_empty() {
            bytes.extend_from_slice(&header(layout));
        }
        let length = u32::try_from(block.len()).expect("blocks are small").to_be_bytes();
        bytes.extend_from_slice(&length);
        bytes.extend_from_slice(&block_checksum(length, block).to_be_bytes());
        bytes.extend_from_slice(block);
    }
    bytes
}

/// Reads the dictionaries of a layout.
///
/// # Errors
///
/// The journal is damaged, or belongs to another layout or specification.
pub fn read_journal(
    journal: &[u8],
    layout: &CellLayout,
    symbols: &SymbolTable,
) -> Result<Dictionaries, JournalError> {
    let mut dictionaries = layout.dictionaries();
    if journal.is_empty() {
        return Ok(dictionaries);
    }
    let mut rest = after_header(journal, layout)?;
    while !rest.is_empty() {
        let offset = journal.len() - rest.len();
        let (block, after) = next_block(rest).ok_or(JournalError::DamagedBlock { offset })?;
        add_entries(block, symbols, &mut dictionaries)
            .map_err(|error| JournalError::Entry { offset, error })?;
        rest = after;
    }
    dictionaries.update_ranks();
    Ok(dictionaries)
}

/// Returns the entries of the first block, and the bytes after it, if its length and checksum are right.
fn next_block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (head, rest) = bytes.split_at_checked(BLOCK_HEADER_BYTES)?;
    let (length, checksum) = head.split_first_chunk::<4>()?;
    let entries = u32::from_be_bytes(*length) as usize;
    let (block, after) = rest.split_at_checked(entries)?;
    let is_right = entries > 0 && block_checksum(*length, block).to_be_bytes() == *checksum;
    is_right.then_some((block, after))
}

fn header(layout: &CellLayout) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_be_bytes());
    header[12..16].copy_from_slice(&layout.dictionary_count().to_be_bytes());
    let checksum = crc32fast::hash(&header[..16]);
    header[16..].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// Returns the bytes after the header of a journal of the layout.
fn after_header<'j>(journal: &'j [u8], layout: &CellLayout) -> Result<&'j [u8], JournalError> {
    let (found, rest) =
        journal.split_at_checked(HEADER_BYTES).ok_or(JournalError::DamagedHeader)?;
    let number = |at: usize| u32::from_be_bytes(found[at..at + 4].try_into().expect("four bytes"));
    if found[..8] != MAGIC || number(16) != crc32fast::hash(&found[..16]) {
        return Err(JournalError::DamagedHeader);
    }
    if number(8) != VERSION {
        return Err(JournalError::Version(number(8)));
    }
    let expected = layout.dictionary_count();
    if number(12) != expected {
        return Err(JournalError::OtherLayout { expected, found: number(12) });
    }
    Ok(rest)
}

fn block_checksum(length: [u8; 4], entries: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&length);
    checksum.update(entries);
    checksum.finalize()
}
