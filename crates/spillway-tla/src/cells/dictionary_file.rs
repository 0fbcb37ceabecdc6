//! Dictionaries on disk: one file that is only appended to.
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
//! their entries.
//!
//! A checkpoint names a length of the file. What follows it does not exist: [`DictionaryFileWriter::open`] removes it,
//! and [`read_dictionaries`] ignores it.

use super::CellLayout;
use super::dictionary::Dictionaries;
use super::numbering::{DictionaryEntries, EntryError, add_entries};
use crate::value::SymbolTable;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: [u8; 8] = *b"SPILLDIC";

/// The version that this file describes.
const VERSION: u32 = 1;

const HEADER_BYTES: u64 = 20;
const BLOCK_HEADER_BYTES: u64 = 8;

/// Dictionaries cannot be read from a file or written to it.
#[derive(Debug, thiserror::Error)]
pub enum DictionaryFileError {
    /// The file cannot be read or written.
    #[error("the dictionary file cannot be used: {0}")]
    Io(#[from] io::Error),
    /// The file has fewer bytes than the checkpoint names.
    #[error("the dictionary file has {found} bytes, but the checkpoint names {named}")]
    TooShort {
        /// The length in the checkpoint, in bytes.
        named: u64,
        /// The length of the file, in bytes.
        found: u64,
    },
    /// The file is no dictionary file, or its header is damaged.
    #[error("the header of the dictionary file is damaged")]
    DamagedHeader,
    /// The file has another version.
    #[error("the dictionary file has version {0}, but this program reads version {VERSION}")]
    Version(u32),
    /// The layout has another number of dictionaries.
    #[error("the dictionary file has {found} dictionaries, but the layout has {expected}")]
    OtherLayout {
        /// The dictionaries of the layout.
        expected: u32,
        /// The dictionaries of the file.
        found: u32,
    },
    /// A block has a wrong length or checksum.
    #[error("the dictionary file is damaged at byte {offset}")]
    DamagedBlock {
        /// Where the block begins.
        offset: u64,
    },
    /// A block has a correct checksum, but its entries are not those of the specification.
    #[error("the dictionary file does not belong to this specification: {error} (byte {offset})")]
    Entry {
        /// Where the block begins.
        offset: u64,
        /// What is wrong.
        error: EntryError,
    },
}

/// Appends to a dictionary file.
#[derive(Debug)]
pub struct DictionaryFileWriter {
    file: File,
    length: u64,
}

impl DictionaryFileWriter {
    /// Creates the file of a layout, or replaces it, with empty dictionaries.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn create(path: &Path, layout: &CellLayout) -> Result<Self, DictionaryFileError> {
        let mut file = File::create(path)?;
        file.write_all(&header(layout))?;
        Ok(Self { file, length: HEADER_BYTES })
    }

    /// Opens a file to append at the length that a checkpoint names. Removes what follows.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or is shorter.
    pub fn open(path: &Path, length: u64) -> Result<Self, DictionaryFileError> {
        let mut file = OpenOptions::new().write(true).open(path)?;
        let found = file.metadata()?.len();
        if found < length {
            return Err(DictionaryFileError::TooShort { named: length, found });
        }
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { file, length })
    }

    /// Returns the length of the file in bytes, to be named in a checkpoint after [`sync`](Self::sync).
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Appends entries.
    ///
    /// # Errors
    ///
    /// The file cannot be written. What was written then follows the last length.
    pub fn append(&mut self, entries: &DictionaryEntries) -> Result<(), DictionaryFileError> {
        let mut bytes = Vec::new();
        for block in entries.blocks() {
            let length = u32::try_from(block.len()).map_err(io::Error::other)?;
            let length = length.to_be_bytes();
            bytes.extend_from_slice(&length);
            bytes.extend_from_slice(&block_checksum(length, block).to_be_bytes());
            bytes.extend_from_slice(block);
        }
        self.file.write_all(&bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Waits until the file is on the disk.
    ///
    /// # Errors
    ///
    /// The disk failed.
    pub fn sync(&self) -> Result<(), DictionaryFileError> {
        Ok(self.file.sync_data()?)
    }
}

/// Reads the dictionaries of a layout from the first `length` bytes of a file.
///
/// # Errors
///
/// The file cannot be read, is shorter, is damaged, or belongs to another layout or specification.
pub fn read_dictionaries(
    path: &Path,
    length: u64,
    layout: &CellLayout,
    symbols: &SymbolTable,
) -> Result<Dictionaries, DictionaryFileError> {
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    if found < length {
        return Err(DictionaryFileError::TooShort { named: length, found });
    }
    let mut file = BufReader::new(file.take(length));
    check_header(&mut file, length, layout)?;
    let mut dictionaries = layout.dictionaries();
    let (mut offset, mut block) = (HEADER_BYTES, Vec::new());
    while offset < length {
        let damaged = DictionaryFileError::DamagedBlock { offset };
        let left = length - offset;
        if left < BLOCK_HEADER_BYTES {
            return Err(damaged);
        }
        let mut head = [0; 8];
        file.read_exact(&mut head)?;
        let [a, b, c, d, checksum @ ..] = head;
        let block_length = u32::from_be_bytes([a, b, c, d]);
        if block_length == 0 || u64::from(block_length) > left - BLOCK_HEADER_BYTES {
            return Err(damaged);
        }
        block.resize(block_length as usize, 0);
        file.read_exact(&mut block)?;
        if block_checksum([a, b, c, d], &block) != u32::from_be_bytes(checksum) {
            return Err(damaged);
        }
        add_entries(&block, symbols, &mut dictionaries)
            .map_err(|error| DictionaryFileError::Entry { offset, error })?;
        offset += BLOCK_HEADER_BYTES + u64::from(block_length);
    }
    dictionaries.update_ranks();
    Ok(dictionaries)
}

fn header(layout: &CellLayout) -> [u8; HEADER_BYTES as usize] {
    let mut header = [0; HEADER_BYTES as usize];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_be_bytes());
    header[12..16].copy_from_slice(&layout.dictionary_count().to_be_bytes());
    let checksum = crc32fast::hash(&header[..16]);
    header[16..].copy_from_slice(&checksum.to_be_bytes());
    header
}

fn check_header(
    file: &mut impl Read,
    length: u64,
    layout: &CellLayout,
) -> Result<(), DictionaryFileError> {
    let mut found = [0; HEADER_BYTES as usize];
    if length < HEADER_BYTES {
        return Err(DictionaryFileError::DamagedHeader);
    }
    file.read_exact(&mut found)?;
    let number = |at: usize| u32::from_be_bytes(found[at..at + 4].try_into().expect("four bytes"));
    if found[..8] != MAGIC || number(16) != crc32fast::hash(&found[..16]) {
        return Err(DictionaryFileError::DamagedHeader);
    }
    if number(8) != VERSION {
        return Err(DictionaryFileError::Version(number(8)));
    }
    let expected = layout.dictionary_count();
    if number(12) != expected {
        return Err(DictionaryFileError::OtherLayout { expected, found: number(12) });
    }
    Ok(())
}

fn block_checksum(length: [u8; 4], entries: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&length);
    checksum.update(entries);
    checksum.finalize()
}
