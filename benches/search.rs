//! Whole searches, and expansion alone, on models we ship: `cargo bench --bench search`.
//!
//! One iteration explores the whole state space into a temporary directory. The budgets show what
//! little memory costs; `docs/performance.md` has the figures.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use spill::{Metered, RealDisk};
use spillway::exec::{Expansion, Interp, Model};
use spillway::front::{self, Language, Options};
use spillway::search::{Control, Limits, Outcome, Plan, Search};
use spillway::source::Sources;
use std::path::Path;
use std::sync::Arc;

/// Models under `models/dve`, with the constants that make them large enough to measure.
const MODELS: [(&str, &[(&str, i64)]); 3] =
    [("peterson", &[("N", 4)]), ("philosophers", &[("N", 12)]), ("bakery", &[("N", 4)])];

fn load(name: &str, defines: &[(&str, i64)]) -> Interp {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/dve/{name}.dve"));
    let mut sources = Sources::default();
    sources.add(name, std::fs::read_to_string(path).unwrap());
    let defines = defines.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    let options = Options { defines, ..Options::default() };
    Interp::new(front::load(Language::Dve, &mut sources, &options).unwrap().program).unwrap()
}

fn explore(model: &Interp, memory: u64, threads: usize) -> Outcome {
    let dir = tempfile::tempdir().unwrap();
    let disk = Metered::new(Arc::new(RealDisk::open(dir.path()).unwrap()), None).unwrap();
    let plan = Plan::new(memory, 8 << 20, threads, model.width()).unwrap();
    let limits = Limits { stop_on_violation: false, ..Limits::default() };
    let control = Control::default();
    Search::begin(model, Arc::new(disk), plan, limits, &control).unwrap().run().unwrap()
}

fn whole(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("search");
    group.sample_size(10);
    for (name, defines) in MODELS {
        let model = load(name, defines);
        let states = explore(&model, 1 << 30, 1).states();
        group.throughput(Throughput::Elements(states));
        for (memory, threads) in [(64, 1), (64, 2), (4096, 1), (4096, 2)] {
            let what = BenchmarkId::new(name, format!("{memory}MiB/{threads}"));
            group.bench_function(what, |bencher| {
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
        let states = some_states(&model);
        group.throughput(Throughput::Elements((states.len() / model.width()) as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| successors(&model, &states).len());
        });
    }
    group.finish();
}

fn successors(model: &Interp, states: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    let mut never = |_: &mut Vec<u8>| Ok(());
    let mut expansion = Expansion::new(model.width(), &mut buffer, usize::MAX, &mut never);
    model.expand(states, &mut expansion);
    buffer
}

/// A level of at least a thousand states.
fn some_states(model: &Interp) -> Vec<u8> {
    let mut level = Vec::new();
    let mut never = |_: &mut Vec<u8>| Ok(());
    model.initial(&mut Expansion::new(model.width(), &mut level, usize::MAX, &mut never));
    while level.len() < 1000 * model.width() {
        level = successors(model, &level);
        spill::sort_dedup(model.width(), &mut level, &mut Vec::new());
    }
    level
}

criterion_group!(benches, whole, expansion);
criterion_main!(benches);
