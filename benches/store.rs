//! Measures the cost of the operations on keys, for each key: `cargo bench --bench store`.
//!
//! The keys are states of models of this repository, because sorting, compression and merging all depend on how keys
//! repeat and cluster. The models are Peterson's lock for five processes, a coherence protocol, dining philosophers,
//! and a synthetic model with keys of ten bytes. The *store* is all states found when there were three million. The
//! *candidates* are the successors of its largest level, in generated order. `uniform` is random keys, the worst case
//! for all operations.

mod support;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use spill::values::AndOperator;
use spill::{
    BLOCK_KEYS, BlockDecoder, BlockEncoder, Candidates, Codec, Disk, FaultDisk, KeyMerge,
    KeySource, RealDisk, Segment, SegmentSource, SegmentSubtract, SegmentWriter, SliceSource,
    Store, StoreBudget, ValueSpec, drain, sort_dedup, sort_pairs, subtract,
};
use spillway::model::StateSpace;
use spillway::system::synthetic::{StateSpaceShape, SyntheticStateSpace};
use std::hint::black_box;
use std::sync::Arc;

const STATES_MAX: u64 = 3_000_000;

/// Keys of one model.
struct BenchKeys {
    name: &'static str,
    width: usize,
    /// All states, sorted.
    store: Vec<u8>,
    /// Successors of the largest level, in generated order.
    candidates: Vec<u8>,
    /// Some neighbouring levels, each sorted.
    levels: Vec<Vec<u8>>,
}

impl BenchKeys {
    fn of(name: &'static str, model: &dyn StateSpace) -> BenchKeys {
        let width = model.width();
        let collect_data = |search: &spillway::search::ExternalSearch,
                            disk: &dyn Disk,
                            outcome: &_| {
            let outcome: &spillway::search::SearchOutcome = outcome;
            let saved = search.store().levels().saved().clone();
            let format = spill::LevelFormat { width, value_bytes: 0, codec: &Codec::Gaps };
            let keys = |levels: std::ops::Range<usize>| {
                let segments = levels.flat_map(|level| saved.open(disk, format, level).unwrap());
                union(width, segments.map(|it| Box::new(SegmentSource::new(it, None, None)) as _))
            };
            let count = outcome.levels.len();
            let largest = (0..count).max_by_key(|&level| outcome.levels[level]).unwrap();
            let candidates = support::successors(model, &keys(largest..largest + 1));
            let levels = (largest.saturating_sub(8)..largest).map(|level| keys(level..level + 1));
            BenchKeys { name, width, store: keys(0..count), candidates, levels: levels.collect() }
        };
        support::explore_and(model, 4 << 30, 2, Some(STATES_MAX), collect_data)
    }

    /// Returns random keys.
    fn uniform(width: usize) -> BenchKeys {
        let mut x = 0x9E37_79B9_7F4A_7C15_u64;
        let mut keys = vec![7; 1_000_000 * width];
        for key in keys.chunks_exact_mut(width) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            key[width - 8..].copy_from_slice(&x.to_be_bytes());
        }
        let mut store = keys.clone();
        sort_dedup(width, &mut store, &mut Vec::new());
        BenchKeys { name: "uniform", width, store, candidates: keys, levels: Vec::new() }
    }

    /// Extends the keys to pairs of `width` bytes, if they are shorter.
    fn with_values(&self, width: usize, keys: &[u8]) -> Vec<u8> {
        let pair = |(number, key): (u32, &[u8])| {
            let bit = (number.wrapping_mul(0x9E37_79B9) >> 16) % 12;
            let value = !(1u16 << bit);
            [key, &value.to_be_bytes()[..width - key.len()]].concat()
        };
        (0u32..).zip(keys.chunks_exact(self.width)).flat_map(pair).collect()
    }

    fn count(&self, keys: &[u8]) -> Throughput {
        Throughput::Elements((keys.len() / self.width) as u64)
    }

    fn segment(&self, disk: &RealDisk, keys: &[u8]) -> Segment {
        let mut file = disk.create(self.name).unwrap();
        let mut writer = SegmentWriter::new(self.width, &mut *file);
        writer.push(keys).unwrap();
        let at = writer.finish().unwrap();
        file.flush().unwrap();
        Segment::open(disk, self.name, at, self.width).unwrap()
    }
}

fn union<'a>(width: usize, sources: impl Iterator<Item = Box<dyn KeySource + 'a>>) -> Vec<u8> {
    let mut keys = Vec::new();
    let append = |batch: &[u8]| {
        keys.extend_from_slice(batch);
        Ok(())
    };
    drain(&mut KeyMerge::new(width, sources.collect()), append).unwrap();
    keys
}

fn store_operations(criterion: &mut Criterion) {
    let synthetic = SyntheticStateSpace::new(StateSpaceShape {
        states: STATES_MAX,
        ..StateSpaceShape::default()
    })
    .unwrap();
    let all = [
        BenchKeys::of("peterson", &support::load("peterson", &[("N", 5)])),
        BenchKeys::of("msi", &support::load("msi", &[("N", 14)])),
        BenchKeys::of("philosophers", &support::load("philosophers", &[("N", 14)])),
        BenchKeys::of("synthetic", &synthetic),
        BenchKeys::uniform(10),
    ];
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap();
    for data in &all {
        let (keys, length) =
            (data.store.len() / data.width, data.segment(&disk, &data.store).at().length);
        println!(
            "{}: {keys} keys of {} bytes, {:.3} bytes each as a segment; {} candidates",
            data.name,
            data.width,
            length as f64 / keys as f64,
            data.candidates.len() / data.width
        );
        sort(criterion, data);
        blocks(criterion, data, &disk);
        subtraction(criterion, data, &disk);
        merge(criterion, data);
        settle(criterion, data);
    }
}

fn sort(criterion: &mut Criterion, data: &BenchKeys) {
    let mut group = criterion.benchmark_group("sort and de-duplicate, per candidate");
    let mut scratch = Vec::new();
    group.sample_size(20).throughput(data.count(&data.candidates));
    group.bench_function(data.name, |bencher| {
        bencher.iter_batched_ref(
            || data.candidates.clone(),
            |keys| sort_dedup(data.width, keys, &mut scratch),
            BatchSize::PerIteration,
        );
    });
}

fn blocks(criterion: &mut Criterion, data: &BenchKeys, disk: &RealDisk) {
    let mut group = criterion.benchmark_group("blocks, per key");
    group.sample_size(20).throughput(data.count(&data.store));
    let mut encoder = BlockEncoder::new(data.width);
    let mut out = Vec::new();
    group.bench_function(format!("encode {}", data.name), |bencher| {
        bencher.iter(|| {
            out.clear();
            let blocks = data.store.chunks(BLOCK_KEYS * data.width);
            blocks.for_each(|keys| encoder.encode(keys, &mut out));
        });
    });
    let segment = data.segment(disk, &data.store);
    let (mut decoder, mut keys) = (BlockDecoder::new(data.width), Vec::new());
    group.bench_function(format!("decode {}", data.name), |bencher| {
        bencher.iter(|| {
            for block in 0..segment.blocks() {
                segment.decode(block, &mut decoder, &mut keys).unwrap();
                black_box(&keys);
            }
        });
    });
}

fn subtraction(criterion: &mut Criterion, data: &BenchKeys, disk: &RealDisk) {
    let mut group = criterion.benchmark_group("subtract");
    let mut sorted = data.candidates.clone();
    sort_dedup(data.width, &mut sorted, &mut Vec::new());
    let stored = data.segment(disk, &data.store);
    let from_segment = |keys: &[u8]| {
        let mut segment = SegmentSubtract::new(stored.clone());
        let mut batch = Vec::new();
        for keys in keys.chunks(16 * 1024 * data.width) {
            batch.clear();
            batch.extend_from_slice(keys);
            segment.subtract(&mut batch).unwrap();
            black_box(&batch);
        }
    };
    group.sample_size(20).throughput(data.count(&data.store));
    group.bench_function(format!("dense, a segment, per store key, {}", data.name), |bencher| {
        bencher.iter(|| from_segment(&sorted));
    });
    group.bench_function(format!("dense, in memory, per store key, {}", data.name), |bencher| {
        bencher.iter_batched_ref(
            || sorted.clone(),
            |keys| subtract(data.width, keys, &data.store),
            BatchSize::PerIteration,
        );
    });
    let sparse: Vec<u8> =
        sorted.chunks_exact(data.width).step_by(1000).flatten().copied().collect();
    group.throughput(data.count(&sparse));
    group.bench_function(format!("sparse, a segment, per candidate, {}", data.name), |bencher| {
        bencher.iter(|| from_segment(&sparse));
    });
}

fn merge(criterion: &mut Criterion, data: &BenchKeys) {
    let mut group = criterion.benchmark_group("merge, per key");
    group.sample_size(20);
    for sets in [2, 8] {
        let Some(first) = data.levels.len().checked_sub(sets) else { continue };
        let slices = &data.levels[first..];
        group.throughput(data.count(&slices.concat()));
        group.bench_function(format!("{sets} levels of {}", data.name), |bencher| {
            bencher.iter(|| {
                let source = |keys| Box::new(SliceSource::new(data.width, keys, None, None));
                union(data.width, slices.iter().map(|keys| source(keys) as Box<dyn KeySource>))
            });
        });
    }
}

/// Measures sorting candidates and settling them in a store with some levels in memory. It measures keys alone, and
/// keys with two bytes of values, in which each candidate clears one bit in twelve.
fn settle(criterion: &mut Criterion, data: &BenchKeys) {
    let mut group = criterion.benchmark_group("sort and settle, per candidate");
    group.sample_size(10).throughput(data.count(&data.candidates));
    for values in [None, Some(ValueSpec::new(2, AndOperator))] {
        let width = data.width + values.as_ref().map_or(0, ValueSpec::bytes);
        let levels: Vec<_> = data.levels.iter().map(|keys| data.with_values(width, keys)).collect();
        let candidates = data.with_values(width, &data.candidates);
        let add = |store: &mut Store, mut candidates: Vec<u8>| {
            sort_pairs(width, values.as_ref(), &mut candidates, &mut Vec::new());
            let candidates = Candidates { slices: vec![&candidates], segments: Vec::new() };
            match values {
                None => drop(store.settle(&candidates, 1, &|| false).unwrap()),
                Some(_) => drop(store.settle_pairs(&candidates, 1, &|| false).unwrap()),
            }
        };
        let prepare = || {
            let shares = StoreBudget { young: 1 << 30, filter: 0, plain: 0 };
            let store = Store::new(Arc::new(FaultDisk::new()), width, Codec::Gaps, shares);
            let mut store = match &values {
                None => store,
                Some(values) => store.with_values(values.clone()),
            };
            levels.iter().for_each(|level| add(&mut store, level.clone()));
            (store, candidates.clone())
        };
        let kind = if values.is_some() { "with values" } else { "keys alone" };
        group.bench_function(format!("{kind}, {}", data.name), |bencher| {
            bencher.iter_batched(
                prepare,
                |(mut store, candidates)| {
                    add(&mut store, candidates);
                    store
                },
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group!(benches, store_operations);
criterion_main!(benches);
