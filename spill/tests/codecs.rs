//! Tests that records differ exactly if their keys differ, decode to their keys, and can be compared instead of them.

mod common;

use common::*;
use proptest::prelude::*;
use spill::{
    BlockDecoder, BlockEncoder, ByteFrequencies, Codec, Error, HuffmanCode, HuffmanTables,
    KeySource, Segment, SegmentSubtract, SegmentWriter, block_keys_max,
};
use std::sync::Arc;

/// Returns every codec, the Huffman ones trained on `sample`.
fn codecs(width: usize, sample: &[u8]) -> Vec<Codec> {
    let frequencies = ByteFrequencies::of_keys(width, sample);
    let trained = |tables| Codec::Huffman(Arc::new(HuffmanCode::train(&frequencies, tables)));
    vec![Codec::Raw, Codec::Rle, trained(HuffmanTables::Single), trained(HuffmanTables::Columns)]
}

fn record(codec: &Codec, key: &[u8]) -> Vec<u8> {
    let mut record = b"before".to_vec();
    codec.encode(key, &mut record);
    record.split_off(6)
}

fn coded_segment(width: usize, set: &Set, codec: &Codec) -> Segment {
    let file = OneFile::default();
    let mut out = file.clone();
    let mut writer = SegmentWriter::new(width, &mut out).with_codec(codec);
    writer.push(&flat(set)).unwrap();
    let at = writer.finish().unwrap();
    file.open(at, width).unwrap().with_codec(codec)
}

proptest! {
    #[test]
    fn records_differ_as_their_keys_and_decode_to_them(
        (width, sample, keys) in any_width().prop_flat_map(|width| {
            (Just(width), any_keys(width, 30), any_keys(width, 30))
        }),
    ) {
        for codec in codecs(width, &sample.concat()) {
            for key in &keys {
                let encoded = record(&codec, key);
                prop_assert!(encoded.len() <= codec.record_bytes_max(width));
                let mut decoded = vec![1; width];
                prop_assert!(codec.decode(&encoded, &mut decoded));
                prop_assert_eq!(&decoded, key);
                for other in &keys {
                    prop_assert_eq!(record(&codec, other) == encoded, other == key);
                }
            }
        }
    }

    /// So no two different records decode to one key, whatever the disk contains.
    #[test]
    fn every_decodable_record_is_the_record_of_its_key(
        (width, sample, mut bytes) in any_width().prop_flat_map(|width| {
            let record = prop::collection::vec(prop_oneof![Just(0u8), 1u8..5, any::<u8>()], 0..2 * width + 2);
            (Just(width), any_keys(width, 10), record)
        }),
        key in any::<u64>(),
        flip in any::<prop::sample::Index>(),
    ) {
        for codec in codecs(width, &sample.concat()) {
            let mut near = record(&codec, &common::key(width, key));
            let bit = flip.index(8 * near.len());
            near[bit / 8] ^= 1 << (bit % 8);
            for hostile in [&mut bytes, &mut near] {
                let mut decoded = vec![0; width];
                if codec.decode(hostile, &mut decoded) {
                    prop_assert_eq!(&record(&codec, &decoded), hostile);
                }
            }
        }
    }

    #[test]
    fn a_saved_codec_is_restored(
        (width, sample) in any_width().prop_flat_map(|width| (Just(width), any_keys(width, 20))),
    ) {
        for codec in codecs(width, &sample.concat()) {
            let saved = codec.saved();
            let restored = Codec::restore(&saved, width).unwrap();
            prop_assert_eq!(restored.saved(), saved.clone());
            for key in &sample {
                prop_assert_eq!(record(&restored, key), record(&codec, key));
            }
            if let spill::SavedCodec::Huffman { columns, mut lengths } = saved {
                prop_assert!(Codec::restore(&codec.saved(), width + 1).is_none());
                lengths[0][7] ^= 1;
                let damaged = spill::SavedCodec::Huffman { columns, lengths };
                prop_assert!(Codec::restore(&damaged, width).is_none());
            }
        }
    }

    #[test]
    fn segments_of_records_hold_and_subtract_their_keys(
        (width, run, candidates) in any_width().prop_flat_map(|width| {
            (Just(width), any_set(width), any_set(width))
        }),
        batch_keys in 1usize..3000,
    ) {
        for codec in codecs(width, &flat(&run)) {
            let segment = coded_segment(width, &run, &codec);
            let mut source = spill::SegmentSource::new(segment.clone(), None, None);
            let (mut all, mut batch) = (Vec::new(), Vec::new());
            while { source.next(&mut batch).unwrap(); !batch.is_empty() } {
                all.extend_from_slice(&batch);
            }
            prop_assert!(all == flat(&run));
            let mut subtract = SegmentSubtract::new(segment);
            let mut remaining = Vec::new();
            for batch in flat(&candidates).chunks(batch_keys * width) {
                let mut batch = batch.to_vec();
                subtract.subtract(&mut batch).unwrap();
                remaining.extend(batch);
            }
            let expected: Set = candidates.difference(&run).cloned().collect();
            prop_assert!(remaining == flat(&expected));
        }
    }
}

#[test]
fn damaged_blocks_and_blocks_of_another_codec_are_rejected() {
    let width = 9;
    let keys: Vec<u8> = (0..200).flat_map(|number| key(width, 3 * number)).collect();
    let codecs = codecs(width, &keys);
    for codec in &codecs {
        let mut block = Vec::new();
        BlockEncoder::new(width).with_codec(codec).encode(&keys, &mut block);
        let decode = |codec: &Codec, block: &[u8]| {
            let mut out = Vec::new();
            BlockDecoder::new(width)
                .with_codec(codec)
                .decode(block, "file", 5, &mut out)
                .map(|()| out)
        };
        assert_eq!(decode(codec, &block).unwrap(), keys);
        for bit in 0..8 * block.len() {
            let mut damaged = block.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(decode(codec, &damaged), Err(Error::Corrupt { offset: 5, .. })));
            // With a correct checksum, the block is rejected, or its keys could have been written.
            let sum = crc32fast::hash(&damaged[4..]).to_le_bytes();
            damaged[..4].copy_from_slice(&sum);
            if let Ok(keys) = decode(codec, &damaged) {
                assert!((1..=block_keys_max(width)).contains(&(keys.len() / width)));
                assert!(keys.chunks_exact(width).is_sorted_by(|one, next| one < next));
            }
        }
        for other in codecs.iter().chain([&Codec::Gaps]).filter(|it| it.name() != codec.name()) {
            assert!(decode(other, &block).is_err(), "{} as {}", codec.name(), other.name());
        }
    }
}

#[test]
fn wide_keys_share_codes() {
    let width = 300;
    let keys: Vec<u8> = (0..500).flat_map(|number| key(width, number * 77_777)).collect();
    let frequencies = ByteFrequencies::of_keys(width, &keys);
    let codes = |tables| HuffmanCode::train(&frequencies, tables).codes();
    assert_eq!(codes(HuffmanTables::Single), 1);
    assert!((2..=64).contains(&codes(HuffmanTables::Columns)));
}
