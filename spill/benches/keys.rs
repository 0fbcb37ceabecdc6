//! What the operations on keys cost, each per key: `cargo bench -p spill`.
//!
//! The keys are states of a model, as a breadth-first search meets them, because sorting,
//! compression and merging all depend on how they repeat and cluster: sixteen dining philosophers,
//! each with two bits of program counter, one for the fork and two that count meals, in ten bytes.
//! The *candidates* are the successors of the first level of more than a quarter of a million
//! states, in the order of their parents; the *store* is all states up to that level. `uniform` is
//! random keys, the worst case for everything.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use spill::{
    Decoder, Disk, Encoder, Merge, RealDisk, Segment, SegmentSubtract, SegmentWriter, SliceSource,
    Source, sort_dedup, subtract,
};
use std::hint::black_box;

const SEATS: usize = 16;
const WIDTH: usize = SEATS * 5 / 8;
const LEVEL_KEYS: usize = 250_000;

/// The states that follow from `state`.
fn successors(state: u128, found: &mut Vec<u8>) {
    let seat = |i: usize| (state >> (5 * (i % SEATS))) as u32 & 31;
    let put = |state: u128, i: usize, value: u32| {
        let at = 5 * (i % SEATS);
        state & !(31 << at) | u128::from(value) << at
    };
    for i in 0..SEATS {
        let (me, right) = (seat(i), seat(i + 1));
        let (counter, fork, meals) = (me & 3, me & 4, me >> 3);
        let next = match counter {
            0 if fork == 0 => put(state, i, 1 | 4 | meals << 3),
            1 if right & 4 == 0 => put(put(state, i, me + 1), i + 1, right | 4),
            2 => put(state, i, 3 | fork | (meals + 1).min(3) << 3),
            3 => put(put(state, i, meals << 3), i + 1, right & !4),
            _ => continue,
        };
        found.extend_from_slice(&next.to_be_bytes()[16 - WIDTH..]);
    }
}

struct Data {
    /// Successors of the last level, as found.
    candidates: Vec<u8>,
    /// The same, sorted.
    sorted: Vec<u8>,
    /// The levels up to the last, each sorted.
    levels: Vec<Vec<u8>>,
    /// All their keys.
    store: Vec<u8>,
}

fn data() -> Data {
    let mut levels = vec![vec![0; WIDTH]];
    let mut store = vec![0; WIDTH];
    let mut scratch = Vec::new();
    loop {
        let mut candidates = Vec::new();
        let level = levels.last().unwrap();
        for key in level.chunks_exact(WIDTH) {
            let mut state = [0; 16];
            state[16 - WIDTH..].copy_from_slice(key);
            successors(u128::from_be_bytes(state), &mut candidates);
        }
        let mut sorted = candidates.clone();
        sort_dedup(WIDTH, &mut sorted, &mut scratch);
        if level.len() / WIDTH > LEVEL_KEYS {
            return Data { candidates, sorted, levels, store };
        }
        let mut new = sorted;
        subtract(WIDTH, &mut new, &store);
        store.extend_from_slice(&new);
        sort_dedup(WIDTH, &mut store, &mut scratch);
        levels.push(new);
    }
}

fn uniform(count: usize) -> Vec<u8> {
    let mut x = 0x9E37_79B9_7F4A_7C15_u64;
    let mut keys = vec![7; count * WIDTH];
    for key in keys.chunks_exact_mut(WIDTH) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        key[WIDTH - 8..].copy_from_slice(&x.to_be_bytes());
    }
    keys
}

fn segment(disk: &RealDisk, keys: &[u8]) -> Segment {
    let mut file = disk.create("keys").unwrap();
    let mut writer = SegmentWriter::new(WIDTH, &mut *file);
    writer.push(keys).unwrap();
    let at = writer.finish().unwrap();
    file.flush().unwrap();
    Segment::open(disk, "keys", at, WIDTH).unwrap()
}

fn count(keys: &[u8]) -> Throughput {
    Throughput::Elements((keys.len() / WIDTH) as u64)
}

fn bench(c: &mut Criterion) {
    let Data { candidates, sorted, levels, store } = data();
    let folder = tempfile::tempdir().unwrap();
    let disk = RealDisk::open(folder.path()).unwrap();
    let mut random = uniform(1_000_000);
    let mut scratch = Vec::new();
    let describe = |name: &str, keys: &[u8]| {
        let (keys, length) = (keys.len() / WIDTH, segment(&disk, keys).at().length);
        println!("{name}: {keys} keys, encoded {:.3} bytes a key", length as f64 / keys as f64);
    };
    println!("candidates: {}", candidates.len() / WIDTH);
    describe("candidates, sorted", &sorted);
    describe("level", levels.last().unwrap());
    describe("store", &store);

    let mut group = c.benchmark_group("sort");
    for (name, keys) in [("candidates", &candidates), ("uniform", &random)] {
        group.throughput(count(keys));
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || keys.clone(),
                |keys| sort_dedup(WIDTH, keys, &mut scratch),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
    sort_dedup(WIDTH, &mut random, &mut scratch);
    describe("uniform", &random);

    for (name, keys) in [("store", &store), ("uniform", &random)] {
        let mut group = c.benchmark_group("block");
        group.throughput(count(keys));
        let mut encoder = Encoder::new(WIDTH);
        let mut blocks = Vec::new();
        group.bench_function(format!("encode {name}"), |b| {
            b.iter(|| {
                blocks.clear();
                keys.chunks(spill::BLOCK_KEYS * WIDTH)
                    .for_each(|keys| encoder.encode(keys, &mut blocks));
            });
        });
        let segment = segment(&disk, keys);
        let (mut decoder, mut decoded) = (Decoder::new(WIDTH), Vec::new());
        group.bench_function(format!("decode {name}"), |b| {
            b.iter(|| {
                for block in 0..segment.blocks() {
                    segment.decode(block, &mut decoder, &mut decoded).unwrap();
                    black_box(&decoded);
                }
            });
        });
        group.finish();
    }

    let mut group = c.benchmark_group("subtract");
    group.throughput(count(&store));
    group.bench_function("dense, in memory, per store key", |b| {
        b.iter_batched_ref(
            || sorted.clone(),
            |keys| subtract(WIDTH, keys, &store),
            BatchSize::PerIteration,
        );
    });
    let stored = segment(&disk, &store);
    let from_segment = |keys: &Vec<u8>| {
        let mut segment = SegmentSubtract::new(stored.clone());
        let mut batch = Vec::new();
        for keys in keys.chunks(16 * 1024 * WIDTH) {
            batch.clear();
            batch.extend_from_slice(keys);
            segment.subtract(&mut batch).unwrap();
            black_box(&batch);
        }
    };
    group.bench_function("dense, segment, per store key", |b| b.iter(|| from_segment(&sorted)));
    let sparse: Vec<u8> = sorted.chunks_exact(WIDTH).step_by(1000).flatten().copied().collect();
    group.throughput(count(&sparse));
    group.bench_function("one of a thousand, in memory, per candidate", |b| {
        b.iter_batched_ref(
            || sparse.clone(),
            |keys| subtract(WIDTH, keys, &store),
            BatchSize::PerIteration,
        );
    });
    group.bench_function("one of a thousand, segment, per candidate", |b| {
        b.iter(|| from_segment(&sparse));
    });
    group.finish();

    let mut group = c.benchmark_group("merge");
    for sets in [1, 2, 3, 8] {
        let slices = &levels[levels.len() - sets..];
        group.throughput(count(&slices.concat()));
        group.bench_function(format!("{sets} levels"), |b| {
            b.iter(|| {
                let source = |keys| Box::new(SliceSource::new(WIDTH, keys, None, None));
                let sources = slices.iter().map(|keys| source(keys) as Box<dyn Source>);
                let mut merge = Merge::new(WIDTH, sources.collect());
                let mut batch = Vec::new();
                loop {
                    merge.next(&mut batch, 16 * 1024).unwrap();
                    if black_box(&batch).is_empty() {
                        break;
                    }
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
