//! Tests that the bytes shown in the module documentation are those that are written.

use super::{BlockEncoder, SegmentWriter};
use crate::codec::Codec;
use crate::disk::{Disk, FaultDisk};

/// The keys of the examples.
const KEYS: [u8; 15] = [0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 4];

/// Parses bytes in hexadecimal; other characters separate fields.
fn bytes(text: &str) -> Vec<u8> {
    let words = text.split(|it: char| !it.is_ascii_hexdigit()).filter(|word| !word.is_empty());
    words.map(|word| u8::from_str_radix(word, 16).unwrap()).collect()
}

/// Returns a block without its checksum.
fn block(width: usize, codec: &Codec, keys: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    BlockEncoder::new(width).with_codec(codec).encode(keys, &mut block);
    block.split_off(4)
}

#[test]
fn a_block_of_gaps_has_the_documented_bytes() {
    let shown = "03 00 | 02 00 | 00 00 01 00 | 0e 00 00 00 | 0e 00 00 00
                 00 01 | 00 01 | 00 00 00 00 07 | 00 00 00 00 01";
    assert_eq!(block(5, &Codec::Gaps, &KEYS), bytes(shown));
}

#[test]
fn a_block_of_records_has_the_documented_bytes() {
    let shown = "02 00 | 00 00 | 03 00 01 00 | 08 00 00 00 | 08 00 00 00
                 04 | 02 | 02 00 01 07 | 03 05";
    assert_eq!(block(3, &Codec::Rle, &[0, 0, 7, 5, 5, 5]), bytes(shown));
}

#[test]
fn a_segment_of_pairs_stores_the_length_of_values() {
    let disk = FaultDisk::new();
    let mut file = disk.create("a").unwrap();
    let mut writer = SegmentWriter::new(5, &mut *file).with_values(2);
    writer.push(&KEYS).unwrap();
    writer.finish().unwrap();
    file.flush().unwrap();
    let found = disk.read("a").unwrap();
    let footer = &found[found.len() - 48..];
    assert_eq!(footer[..16], bytes("53 50 49 4c 4c 53 45 47 | 02 00 00 00 | 05 00 | 02 00"));
}

#[test]
fn a_segment_has_the_documented_bytes() {
    let disk = FaultDisk::new();
    let mut file = disk.create("a").unwrap();
    let mut writer = SegmentWriter::new(5, &mut *file);
    writer.push(&KEYS).unwrap();
    let at = writer.finish().unwrap();
    file.flush().unwrap();
    let found = disk.read("a").unwrap();
    assert_eq!((at.offset, at.length, at.keys), (0, found.len() as u64, 3));
    assert_eq!(found[4..34], block(5, &Codec::Gaps, &KEYS));
    let shown = "00 00 00 00 01 | 00 00 00 00 00 00 00 00 | 03 00 00 00
                 53 50 49 4c 4c 53 45 47 | 02 00 00 00 | 05 00 00 00 | 03 00 00 00 00 00 00 00
                 01 00 00 00 00 00 00 00 | 63 00 00 00 00 00 00 00";
    assert_eq!(found[34..found.len() - 8], bytes(shown));
}
