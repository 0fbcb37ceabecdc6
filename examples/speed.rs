//! Measures the speed of searches, and the share of expansion.
//!
//! ```text
//! cargo run --release --example speed -- MODEL ... [--budgets 64,4096] [--threads 1,2] [--interp] [--chosen]
//! ```
//!
//! The output for each model is the CPU and wall time of whole searches at each budget (MiB) and number of threads. It
//! also contains the CPU time of expansion alone, over all states in the order in which the search expands them.
//!
//! With `--interp` the same is measured for the interpreter, with one search. With `--chosen`, the following are
//! measured alternately with plain expansion: computing enabled instances, expanding them by choice, without and with
//! labels, and checking states. Machines differ, so a yardstick is printed with the figures: the CPU time of sorting
//! 50,000,000 64-bit keys with the standard library, measured just before the model.

use spill::{BlockDecoder, Codec, Disk, LevelFormat, MeteredDisk, RealDisk};
use spillway::exec::{ExecutionMode, Executor, Interp, LabelledSink, SelectiveStateSpace};
use spillway::front::{Language, Options};
use spillway::model::{StateSpace, SuccessorSink};
use spillway::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchResources,
    return_large_blocks,
};
use spillway::source::SourceMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The number of keys of the yardstick.
const YARDSTICK_KEYS: usize = 50_000_000;

/// The number of states that are expanded in one call.
const BATCH_STATES: usize = 100_000;

/// The number of states in one call when steps are chosen.
const CHOSEN_STATES: usize = 1000;

struct Settings {
    models: Vec<String>,
    budgets: Vec<u64>,
    threads: Vec<usize>,
    interp: bool,
    chosen: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let settings = settings(std::env::args().skip(1))?;
    for path in &settings.models {
        measure(&settings, path)?;
    }
    Ok(())
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings {
        models: Vec::new(),
        budgets: vec![64, 4096],
        threads: vec![1, 2],
        interp: false,
        chosen: false,
    };
    while let Some(arg) = args.next() {
        let mut list = || args.next().ok_or(format!("{arg} needs numbers"));
        match arg.as_str() {
            "--budgets" => settings.budgets = numbers(&list()?)?,
            "--threads" => settings.threads = numbers(&list()?)?,
            "--interp" => settings.interp = true,
            "--chosen" => settings.chosen = true,
            _ => settings.models.push(arg),
        }
    }
    Ok(settings)
}

fn numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>, Box<dyn Error>> {
    let number = |text: &str| text.parse().map_err(|_| format!("`{text}` is not a number").into());
    list.split(',').map(number).collect()
}

fn measure(settings: &Settings, path: &str) -> Result<(), Box<dyn Error>> {
    let yardstick = yardstick();
    let interp = load(Path::new(path))?;
    let jit = Executor::new(&interp, ExecutionMode::Jit);
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    println!("{name}: yardstick {yardstick:.2} s of CPU; {}", describe(&jit));
    let mut expansion = None;
    for &memory in &settings.budgets {
        return_large_blocks(memory << 20);
        for &threads in &settings.threads {
            let base = MemoryPlan::resident();
            let plan = MemoryPlan::new(memory << 20, base, threads, interp.width())?;
            let inspect = |model: &dyn StateSpace, search: &ExternalSearch, disk: &dyn Disk| {
                expansion.get_or_insert_with(|| {
                    let mut all = expansion_alone(settings, &interp, model, search, disk);
                    let selective = jit.selective().ok().filter(|_| settings.chosen);
                    let measure_choice = |it: Box<dyn SelectiveStateSpace + '_>| {
                        expansion_by_choice(&*it, model, search, disk)
                    };
                    all.extend(selective.into_iter().flat_map(measure_choice));
                    all
                });
            };
            let cost = explore(jit.model(), plan, inspect)?;
            cost.print(&format!("{memory} MiB, {threads} threads"), yardstick);
        }
    }
    if settings.interp {
        let memory = settings.budgets[0];
        let plan = MemoryPlan::new(memory << 20, MemoryPlan::resident(), 1, interp.width())?;
        let cost = explore(&interp, plan, |_, _, _| {})?;
        cost.print(&format!("{memory} MiB, 1 threads, interpreted"), yardstick);
    }
    for (what, nanoseconds) in expansion.into_iter().flatten() {
        let ratio = nanoseconds / yardstick;
        println!("  expansion alone, {what}: {nanoseconds:.1} ns a transition ({ratio:.1})");
    }
    Ok(())
}

fn describe(executor: &Executor) -> String {
    spillway::report::print_compiled(&executor.compiled())
}

/// The cost of a search.
struct SearchCost {
    outcome: SearchOutcome,
    wall: f64,
    cpu: f64,
}

impl SearchCost {
    fn print(&self, what: &str, yardstick: f64) {
        let (states, transitions) = (self.outcome.states(), self.outcome.counters.transitions);
        let each = 1e9 * self.cpu / transitions as f64;
        println!(
            "  {what}: {states} states, {transitions} transitions, {:.2} s, {:.0} states/s, CPU \
             {:.2} s, {each:.1} ns a transition ({:.1})",
            self.wall,
            states as f64 / self.wall,
            self.cpu,
            each / yardstick,
        );
    }
}

fn explore(
    model: &dyn StateSpace,
    plan: MemoryPlan,
    inspect: impl FnOnce(&dyn StateSpace, &ExternalSearch, &dyn Disk),
) -> spill::Result<SearchCost> {
    let dir = tempfile::tempdir().unwrap_or_else(|error| panic!("a temporary directory: {error}"));
    let disk = Arc::new(MeteredDisk::new(Arc::new(RealDisk::open(dir.path())?), None)?);
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let control = SearchControl::default();
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let resources = SearchResources { disk: disk.clone(), plan, control: &control };
    let mut search = ExternalSearch::begin(model, resources, limits)?;
    let outcome = search.run()?;
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    inspect(model, &search, &*disk);
    Ok(SearchCost { outcome, wall, cpu })
}

/// Returns the nanoseconds of CPU time for each transition when every state is expanded once.
fn expansion_alone(
    settings: &Settings,
    interp: &Interp,
    model: &dyn StateSpace,
    search: &ExternalSearch,
    disk: &dyn Disk,
) -> Vec<(&'static str, f64)> {
    let mut executors = vec![("compiled", model, 0.0, 0)];
    if settings.interp {
        executors.push(("interpreted", interp, 0.0, 0));
    }
    each_batch(model.width(), search, disk, |states| {
        for (_, model, seconds, transitions) in &mut executors {
            let mut buffer = Vec::new();
            let discard = |buffer: &mut Vec<u8>| {
                buffer.clear();
                ControlFlow::Continue(())
            };
            let began = cpu_seconds();
            let run = |out: &mut SuccessorSink| model.expand(states, out);
            let collected = SuccessorSink::collect_in_batches(
                model.width(),
                &mut buffer,
                32 << 10,
                discard,
                run,
            );
            *seconds += cpu_seconds() - began;
            *transitions += collected.map_or(0, |it| it.counters.transitions);
        }
    });
    let each = |(what, _, seconds, transitions)| (what, 1e9 * seconds / transitions as f64);
    executors.into_iter().map(each).collect()
}

/// Measures the expansion of chosen steps, each part alternately with plain expansion of the same states.
fn expansion_by_choice(
    selective: &dyn SelectiveStateSpace,
    model: &dyn StateSpace,
    search: &ExternalSearch,
    disk: &dyn Disk,
) -> Vec<(&'static str, f64)> {
    let (width, mut sets) = (model.width(), selective.instances().sets());
    let (mut transitions, mut cost) = (0, [0.0; 5]);
    let discard = |buffer: &mut Vec<u8>| {
        buffer.clear();
        ControlFlow::Continue(())
    };
    // Code is compiled at the first request. This request is not measured.
    sets.clear(0);
    let _ = selective.enabled(&[], &mut sets);
    let _ = LabelledSink::collect(width, &mut Vec::new(), |out| {
        selective.expand_labelled(&[], &sets, out);
    });
    let _ = SuccessorSink::collect(width, &mut Vec::new(), |out| {
        selective.expand_chosen(&[], &sets, out);
        selective.check_states(&[], &sets, out);
    });
    each_batch(width, search, disk, |states| {
        // Blocks of the size that a search uses.
        for states in states.chunks(CHOSEN_STATES * width) {
            let mut buffer = Vec::new();
            let mut run = |run: &mut dyn FnMut(&mut SuccessorSink)| {
                SuccessorSink::collect_in_batches(width, &mut buffer, 32 << 10, discard, run)
                    .map_or(0, |it| it.counters.transitions)
            };
            let mut at = cpu_seconds();
            let mut lap = |what: usize| {
                let now = cpu_seconds();
                cost[what] += now - std::mem::replace(&mut at, now);
            };
            transitions += run(&mut |out| model.expand(states, out));
            lap(0);
            let _ = selective.enabled(states, &mut sets);
            lap(1);
            run(&mut |out| selective.expand_chosen(states, &sets, out));
            lap(2);
            run(&mut |out| selective.check_states(states, &sets, out));
            lap(3);
            let run = |out: &mut LabelledSink| selective.expand_labelled(states, &sets, out);
            let _ = LabelledSink::collect_in_batches(width, &mut buffer, 32 << 10, discard, run);
            lap(4);
        }
    });
    let names =
        ["in blocks", "what is enabled", "all of it chosen", "judging", "all of it with labels"];
    names.into_iter().zip(cost.map(|it| 1e9 * it / transitions as f64)).collect()
}

/// Visits all states, level by level, in batches.
fn each_batch(
    width: usize,
    search: &ExternalSearch,
    disk: &dyn Disk,
    mut visit: impl FnMut(&[u8]),
) {
    let levels = search.store().levels().saved();
    let format = LevelFormat { width, value_bytes: 0, codec: &Codec::Gaps };
    let mut decoder = BlockDecoder::new(width);
    let (mut batch, mut block) = (Vec::new(), Vec::new());
    for level in 0..levels.len() {
        for segment in levels.open(disk, format, level).unwrap_or_default() {
            for number in 0..segment.blocks() {
                if segment.decode(number, &mut decoder, &mut block).is_ok() {
                    batch.extend_from_slice(&block);
                }
                if batch.len() >= BATCH_STATES * width {
                    visit(&batch);
                    batch.clear();
                }
            }
        }
    }
    visit(&batch);
}

/// Returns the CPU seconds of a fixed workload.
fn yardstick() -> f64 {
    let mut seed = 1u64;
    let mut keys: Vec<u64> = Vec::with_capacity(YARDSTICK_KEYS);
    for _ in 0..YARDSTICK_KEYS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        keys.push(seed ^ (seed >> 29));
    }
    let began = cpu_seconds();
    keys.sort_unstable();
    let cost = cpu_seconds() - began;
    assert!(keys.is_sorted());
    cost
}

/// Returns the CPU time of this process in seconds, for all threads, in user and kernel mode.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists and `time` is written before it is read.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn load(path: &Path) -> Result<Interp, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut sources = SourceMap::default();
    sources.add(path.display().to_string(), String::from_utf8_lossy(&bytes));
    let rendered =
        |diagnostic: &spillway::diag::Diagnostic| diagnostic.render(&sources).to_string();
    let language =
        Language::from_file_name(&path.to_string_lossy()).ok_or("which language is it?")?;
    let loaded = language
        .load(&mut sources.clone(), &Options::default())
        .map_err(|all| all.iter().map(rendered).collect::<Vec<_>>().join("\n"))?;
    Interp::new(loaded.program).map_err(|diagnostic| rendered(&diagnostic).into())
}
