//! Measures the cost of codecs for each state, in CPU time of one core: `cargo bench --bench codec`.
//!
//! The states are those of models of this repository, up to a million, and of a synthetic model with keys of ten bytes.
//! Each codec encodes and decodes them. It then finds a tenth of them, as candidates, in the blocks of all states.

#[path = "support/cpu.rs"]
mod cpu;
mod support;

use cpu::CpuTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use spill::{
    ByteFrequencies, Codec, Disk, HuffmanCode, HuffmanTables, RealDisk, Segment, SegmentSubtract,
    SegmentWriter,
};
use spillway::model::StateSpace;
use spillway::system::synthetic::{StateSpaceShape, SyntheticStateSpace};
use std::hint::black_box;
use std::sync::Arc;

const STATES_MAX: u64 = 1_000_000;

/// The number of bytes encoded at a time: they fit the second-level cache.
const BATCH_BYTES: usize = 64 << 10;

fn states(model: &dyn StateSpace) -> Vec<u8> {
    let width = model.width();
    let collect_keys = |search: &spillway::search::ExternalSearch, disk: &dyn Disk, _: &_| {
        let format = spill::LevelFormat { width, value_bytes: 0, codec: &Codec::Gaps };
        let levels = search.store().levels().saved().clone();
        let mut all = Vec::new();
        for level in 0..levels.len() {
            for segment in levels.open(disk, format, level).unwrap() {
                let mut source = spill::SegmentSource::new(segment, None, None);
                let mut batch = Vec::new();
                while {
                    spill::KeySource::next(&mut source, &mut batch).unwrap();
                    !batch.is_empty()
                } {
                    all.extend_from_slice(&batch);
                }
            }
        }
        spill::sort_dedup(width, &mut all, &mut Vec::new());
        all
    };
    support::explore_and(model, 4 << 30, 2, Some(STATES_MAX), collect_keys)
}

fn segment(disk: &dyn Disk, name: &str, width: usize, keys: &[u8], codec: &Codec) -> Segment {
    let mut file = disk.create(name).unwrap();
    let mut writer = SegmentWriter::new(width, &mut *file).with_codec(codec);
    writer.push(keys).unwrap();
    let at = writer.finish().unwrap();
    file.flush().unwrap();
    Segment::open(disk, name, at, width).unwrap().with_codec(codec)
}

fn codecs(criterion: &mut Criterion<CpuTime>) {
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap();
    let synthetic = SyntheticStateSpace::new(StateSpaceShape {
        states: STATES_MAX,
        ..StateSpaceShape::default()
    })
    .unwrap();
    let data = [
        ("synthetic", 10, states(&synthetic)),
        {
            let model = support::load("peterson", &[("N", 4)]);
            ("peterson", model.width(), states(&model))
        },
        {
            let model = support::load("sliding_window", &[("ROOM", 3)]);
            ("sliding_window", model.width(), states(&model))
        },
    ];
    for (name, width, keys) in &data {
        let (width, count) = (*width, keys.len() / width);
        let frequencies = ByteFrequencies::of_keys(width, keys);
        let train = |tables| Arc::new(HuffmanCode::train(&frequencies, tables));
        let mut group = criterion.benchmark_group(format!("codec/{name}/{width}"));
        group.sample_size(20).throughput(Throughput::Elements(count as u64));
        let codecs = [
            ("raw", Codec::Raw),
            ("rle", Codec::Rle),
            ("huffman-single", Codec::Huffman(train(HuffmanTables::Single))),
            ("huffman", Codec::Huffman(train(HuffmanTables::Columns))),
        ];
        for (codec_name, codec) in &codecs {
            let (mut out, mut ends) = (Vec::new(), Vec::new());
            group.bench_function(format!("encode/{codec_name}"), |bencher| {
                bencher.iter(|| {
                    for batch in keys.chunks(BATCH_BYTES / width * width) {
                        codec.encode_all(width, black_box(batch), &mut out, &mut ends);
                    }
                });
            });
            let mut records = Vec::new();
            let mut ends = Vec::new();
            for key in keys.chunks_exact(width) {
                codec.encode(key, &mut records);
                ends.push(records.len());
            }
            let bytes = records.len() as f64 / count as f64;
            println!("{name}: {codec_name}: {bytes:.2} bytes of {width} a state");
            group.bench_function(format!("decode/{codec_name}"), |bencher| {
                let mut key = vec![0; width];
                bencher.iter(|| {
                    let mut start = 0;
                    for &end in &ends {
                        assert!(codec.decode(black_box(&records[start..end]), &mut key));
                        start = end;
                    }
                });
            });
        }
        let candidates: Vec<u8> = keys.chunks_exact(width).step_by(10).flatten().copied().collect();
        for (codec_name, codec) in codecs.iter().chain([&("sorted", Codec::Gaps)]) {
            let segment = segment(&disk, &format!("{name}-{codec_name}"), width, keys, codec);
            group.bench_function(format!("subtract/{codec_name}"), |bencher| {
                bencher.iter(|| {
                    let mut subtract = SegmentSubtract::new(segment.clone());
                    let mut remaining = 0;
                    for batch in candidates.chunks(BATCH_BYTES / width * width) {
                        let mut batch = batch.to_vec();
                        subtract.subtract(&mut batch).unwrap();
                        remaining += batch.len();
                    }
                    assert_eq!(remaining, 0);
                });
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(CpuTime);
    targets = codecs
}
criterion_main!(benches);
