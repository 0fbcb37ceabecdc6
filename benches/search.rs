//! Benchmarks of whole searches, and of expansion alone, on models of this repository and on synthetic ones: `cargo
//! bench --bench search`.
//!
//! One iteration explores the whole state space into a temporary directory. The budgets show the cost of little memory.
//! `docs/measurements/performance.md` has the figures.

mod support;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use spillway::exec::Interp;
use spillway::model::{StateSpace, SystemDescription};
use spillway::system::synthetic::{StateSpaceShape, SyntheticStateSpace};
use support::{explore, load, successors};

/// Models under `models/dve`, with constants that make them large enough to measure.
const MODELS: [(&str, &[(&str, i64)]); 3] =
    [("peterson", &[("N", 4)]), ("philosophers", &[("N", 12)]), ("bakery", &[("N", 4)])];

fn whole_searches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    group.sample_size(10);
    for (name, defines) in MODELS {
        let model = load(name, defines);
        let states = explore(&model, 1 << 30, 1).states();
        group.throughput(Throughput::Elements(states));
        for (memory, threads) in [(64, 1), (64, 2), (4096, 1), (4096, 2)] {
            let id = BenchmarkId::new(name, format!("{memory}MiB/{threads}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| explore(&model, memory << 20, threads));
            });
        }
    }
    group.finish();
}

/// Measures state spaces of different shapes. The cost of their successors is negligible.
fn shapes(criterion: &mut Criterion) {
    let base = StateSpaceShape { states: 2_000_000, ..StateSpaceShape::default() };
    let shapes = [
        ("middling", base.clone()),
        ("thin levels", StateSpaceShape { levels: 20_000, ..base.clone() }),
        ("few levels", StateSpaceShape { levels: 11, ..base.clone() }),
        ("many repeats", StateSpaceShape { degree: 15, ..base.clone() }),
        ("wide keys", StateSpaceShape { width: 40, ..base.clone() }),
        ("little to compress", StateSpaceShape { noise: 20, ..base }),
    ];
    let mut group = criterion.benchmark_group("synthetic, per transition");
    group.sample_size(10);
    for (name, shape) in shapes {
        group.throughput(Throughput::Elements(shape.states * u64::from(shape.degree)));
        let model = SyntheticStateSpace::new(shape).unwrap();
        for (memory, threads) in [(64, 1), (64, 2), (4096, 2)] {
            let id = BenchmarkId::new(name, format!("{memory}MiB/{threads}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| explore(&model, memory << 20, threads));
            });
        }
    }
    group.finish();
}

fn expansion(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("expand");
    for (name, defines) in MODELS {
        let model = load(name, defines);
        let states = level_of_states(&model);
        group.throughput(Throughput::Elements((states.len() / model.width()) as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| successors(&model, &states).len());
        });
    }
    group.finish();
}

/// Returns a level of at least a thousand states.
fn level_of_states(model: &Interp) -> Vec<u8> {
    let mut level: Vec<u8> = Vec::new();
    for start in model.starts() {
        if let spillway::model::StepOutcome::Successor(state) = start.outcome {
            level.extend(state);
        }
    }
    while level.len() < 1000 * model.width() {
        level = successors(model, &level);
        spill::sort_dedup(model.width(), &mut level, &mut Vec::new());
    }
    level
}

criterion_group!(benches, whole_searches, shapes, expansion);
criterion_main!(benches);
