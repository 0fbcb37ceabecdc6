//! Tests that blocks and segments decode to their keys, and damaged ones are rejected.

mod common;

use common::*;
use proptest::prelude::*;
use spill::{BlockDecoder, BlockEncoder, Error, SegmentRef, block_keys_max};

fn encode(width: usize, keys: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    BlockEncoder::new(width).encode(keys, &mut block);
    block
}

/// Decodes, and checks the invariants for any bytes.
fn decode(width: usize, block: &[u8]) -> Result<Vec<u8>, Error> {
    let mut keys = vec![3; 5];
    match BlockDecoder::new(width).decode(block, "file", 1234, &mut keys) {
        Ok(()) => {
            assert_eq!(keys.len() % width, 0);
            assert!((1..=block_keys_max(width)).contains(&(keys.len() / width)));
            assert!(unflat(width, &keys).is_sorted_by(|a, b| a < b));
            Ok(keys)
        }
        Err(error) => {
            assert!(
                matches!(&error, Error::Corrupt { file, offset: 1234, .. } if file == "file"),
                "{error}"
            );
            assert!(keys.is_empty());
            Err(error)
        }
    }
}

/// Corrects the checksum of a block.
fn seal(block: &mut [u8]) {
    if let Some((sum, checked)) = block.split_first_chunk_mut::<4>() {
        *sum = crc32fast::hash(checked).to_le_bytes();
    }
}

/// Returns the first keys of a set that fit a block.
fn one_block(width: usize, set: &Set) -> Vec<u8> {
    let mut keys = flat(set);
    keys.truncate(block_keys_max(width) * width);
    keys
}

/// Returns every copy of `bytes` with one bit flipped, and every prefix.
fn damaged(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let flips = (0..bytes.len() * 8).map(|bit| {
        let mut copy = bytes.to_vec();
        copy[bit / 8] ^= 1 << (bit % 8);
        copy
    });
    flips.chain((0..bytes.len()).map(|length| bytes[..length].to_vec()))
}

#[test]
fn extreme_keys_of_a_block_are_decoded() {
    for width in WIDTHS {
        for set in [
            Set::from([vec![0; width]]),
            Set::from([vec![0xff; width]]),
            Set::from([vec![0; width], vec![0xff; width]]),
            Set::from([vec![0; width], key(width, 1), vec![0x80; width], vec![0xff; width]]),
        ] {
            let keys = flat(&set);
            assert_eq!(decode(width, &encode(width, &keys)).unwrap(), keys);
        }
    }
}

#[test]
fn damaged_blocks_are_rejected() {
    for width in WIDTHS {
        let set: Set = (0..60).map(|number| key(width, number * number)).collect();
        let block = encode(width, &flat(&set));
        damaged(&block).for_each(|block| assert!(decode(width, &block).is_err()));
    }
}

#[test]
fn damaged_segments_are_rejected() {
    for width in [2, 10, 40] {
        let keys = flat(&(0..60).map(|number| key(width, number * 1001)).collect());
        let file = OneFile::default();
        let at = file.append(width, &keys, 100);
        let read = |file: &OneFile, at: SegmentRef| -> Result<Vec<u8>, Error> {
            let segment = file.open(at, width)?;
            let mut keys = Vec::new();
            segment.decode(0, &mut BlockDecoder::new(width), &mut keys)?;
            Ok(keys)
        };
        assert_eq!(read(&file, at).unwrap(), keys);
        for bytes in damaged(&file.bytes()) {
            let shorter = SegmentRef { length: bytes.len() as u64, ..at };
            let file = OneFile::holding(bytes);
            assert!(matches!(read(&file, at), Err(Error::Corrupt { .. })));
            assert!(matches!(read(&file, shorter), Err(Error::Corrupt { .. })));
        }
        for wrong in [
            SegmentRef { keys: at.keys + 1, ..at },
            SegmentRef { length: at.length - 1, offset: 1, ..at },
            SegmentRef { length: u64::MAX, ..at },
            SegmentRef { offset: u64::MAX, ..at },
            SegmentRef { offset: u64::MAX - at.length, ..at },
            SegmentRef { length: 0, ..at },
        ] {
            assert!(matches!(read(&file, wrong), Err(Error::Corrupt { .. })), "{wrong:?}");
        }
        assert!(matches!(file.open(at, width + 1), Err(Error::Corrupt { .. })));
    }
}

#[test]
fn another_version_of_a_segment_is_reported() {
    let file = OneFile::default();
    let at = file.append(10, &key(10, 5), 1);
    let mut bytes = file.bytes();
    let footer = bytes.len() - 48;
    bytes[footer + 8] = 77;
    let sum = crc32fast::hash(&bytes[footer..footer + 44]);
    bytes[footer + 44..].copy_from_slice(&sum.to_le_bytes());
    let error = OneFile::holding(bytes).open(at, 10).unwrap_err();
    assert!(matches!(error, Error::Version { found: 77, expected: 2, .. }), "{error}");
}

#[test]
fn a_swapped_block_is_detected() {
    let width = 10;
    let file = |first: u64| {
        let file = OneFile::default();
        let set = (0..3).map(|number| key(width, first + number)).collect();
        (file.append(width, &flat(&set), 5), file.bytes())
    };
    // So few keys are not compressed, so both blocks have the same length: header, gaps, bits, key.
    let ((at, mut bytes), (_, other)) = (file(0), file(1 << 20));
    let block = 20 + 3 + 2 * 10;
    bytes[..block].copy_from_slice(&other[..block]);
    let segment = OneFile::holding(bytes).open(at, width).unwrap();
    let error = segment.decode(0, &mut BlockDecoder::new(width), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("not the one that the index describes"), "{error}");
}

#[test]
fn an_empty_segment_is_opened() {
    let file = OneFile::default();
    let at = file.append(9, &[], 1);
    let segment = file.open(at, 9).unwrap();
    assert_eq!((segment.keys(), segment.blocks(), segment.find(&[0; 9])), (0, 0, 0));
    segment.release(0..0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_block_decodes_to_its_keys(
        (width, set) in any_width().prop_flat_map(|width| (Just(width), any_set(width))),
    ) {
        prop_assume!(!set.is_empty());
        let keys = one_block(width, &set);
        prop_assert!(decode(width, &encode(width, &keys)).unwrap() == keys);
    }

    #[test]
    fn consecutive_segments_decode_to_their_keys(
        (width, sets) in any_width().prop_flat_map(|width| {
            (Just(width), prop::collection::vec(any_set(width), 1..4))
        }),
        push in 1usize..9000,
    ) {
        let file = OneFile::default();
        let at: Vec<SegmentRef> =
            sets.iter().map(|set| file.append(width, &flat(set), push)).collect();
        let mut decoder = BlockDecoder::new(width);
        for (set, at) in sets.iter().zip(at) {
            let segment = file.open(at, width).unwrap();
            prop_assert_eq!(segment.keys(), set.len() as u64);
            let (mut all, mut keys) = (Vec::new(), Vec::new());
            for block in 0..segment.blocks() {
                segment.decode(block, &mut decoder, &mut keys).unwrap();
                prop_assert_eq!(segment.block_keys(block), keys.len() / width);
                prop_assert_eq!(&*segment.first_key(block), &keys[..width]);
                prop_assert_eq!(segment.find(&keys[..width]), block);
                prop_assert_eq!(segment.find(&keys[keys.len() - width..]), block);
                all.extend_from_slice(&keys);
            }
            prop_assert!(all == flat(set));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn arbitrary_bytes_are_rejected_or_decode_to_a_set(
        width in any_width(),
        mut block in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = decode(width, &block);
        seal(&mut block);
        let _ = decode(width, &block);
    }

    /// Damage with a matching checksum: from a bug or malice, not from the disk.
    #[test]
    fn a_sealed_block_is_rejected_or_decodes_to_a_set(
        (width, set) in any_width().prop_flat_map(|width| {
            let keys = prop::collection::btree_set(any_key(width), 1..50);
            (Just(width), keys)
        }),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        header_only in any::<bool>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut block = encode(width, &one_block(width, &set));
        let within = if header_only { 20 } else { block.len() };
        for (at, byte) in changes {
            block[at.index(within)] = byte;
        }
        if let Some(cut) = cut {
            block.truncate(cut.index(block.len()));
        }
        seal(&mut block);
        let _ = decode(width, &block);
    }
}
