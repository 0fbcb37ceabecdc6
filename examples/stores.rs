//! The tables of `docs/storage.md`: ways of storing states, measured against each other.
//!
//! ```text
//! cargo run --release --example stores -- [--memory MIB] [--comback] MODEL[,NAME=VALUE...] ...
//! ```
//!
//! Without `--comback`: for each model the table of Holzmann, Godefroid and Pirottin (1992) in kind.
//! States are kept in a hash table in memory, and on disk by the search itself with one thread; CPU
//! time is relative to `none` in memory and to `sorted` on disk. With `--comback`: the table of
//! Evangelista, Westergaard and Kristensen (2009) in kind: kinds and sizes of caches, with and
//! without grouping, CPU time relative to `sorted`. The exit code is 1 if any count differs.

use spill::{Codec, Metered, RealDisk, Tables, hash};
use spillway::exec::{Exec, Executor, Expansion, Interp, Model};
use spillway::front::{self, Language, Options};
use spillway::search::comback::{CacheKind, CacheSize, Settings};
use spillway::search::storage::trained;
use spillway::search::{Control, Limits, Outcome, Plan, Search, Storage, return_large_blocks};
use spillway::source::Sources;
use std::process::ExitCode;
use std::sync::Arc;

type Failed = Box<dyn std::error::Error>;

/// What every search of a model must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    states: u64,
    transitions: u64,
    levels: usize,
}

impl Counts {
    fn of(outcome: &Outcome) -> Counts {
        let (transitions, levels) = (outcome.transitions, outcome.levels.len());
        Counts { states: outcome.states(), transitions, levels }
    }
}

fn main() -> Result<ExitCode, Failed> {
    return_large_blocks();
    let (mut memory, mut comback, mut models) = (256, false, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--memory" => memory = args.next().ok_or("--memory MIB")?.parse()?,
            "--comback" => comback = true,
            _ => models.push(arg),
        }
    }
    let mut agree = true;
    for described in &models {
        let interp = load(described)?;
        let executor = Executor::new(&interp, Exec::Jit);
        let (model, budget) = (executor.model(), memory << 20);
        agree &= match comback {
            false => codecs(described, model, budget)?,
            true => combacks(described, model, budget)?,
        };
    }
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load(described: &str) -> Result<Interp, Failed> {
    let mut parts = described.split(',');
    let file = parts.next().unwrap_or_default();
    let language = Language::of_file(file).ok_or("an unknown language")?;
    let mut sources = Sources::default();
    sources.add(file, std::fs::read_to_string(file)?);
    let mut defines = Vec::new();
    for define in parts {
        let (name, value) = define.split_once('=').ok_or("NAME=VALUE")?;
        defines.push((name.to_string(), value.parse()?));
    }
    let options = Options { defines, ..Options::default() };
    let loaded = front::load(language, &mut sources, &options)
        .map_err(|errors| errors[0].render(&sources).to_string())?;
    Interp::new(loaded.program).map_err(|error| error.render(&sources).to_string().into())
}

/// CPU seconds of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// A hash table of records, as the paper has it: compared as they are.
struct Table {
    codec: Codec,
    records: Vec<u8>,
    ends: Vec<usize>,
    slots: Vec<u32>,
}

impl Table {
    fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.records[start..self.ends[at]]
    }

    /// Adds a state unless it is there.
    fn insert(&mut self, state: &[u8]) {
        if 2 * (self.ends.len() + 1) > self.slots.len() {
            self.grow();
        }
        let start = self.records.len();
        self.codec.encode(state, &mut self.records);
        let mask = self.slots.len() - 1;
        let mut slot = hash(&self.records[start..]) as usize & mask;
        while self.slots[slot] != u32::MAX {
            if self.get(self.slots[slot] as usize) == &self.records[start..] {
                self.records.truncate(start);
                return;
            }
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = self.ends.len() as u32;
        self.ends.push(self.records.len());
    }

    fn grow(&mut self) {
        let length = (2 * self.slots.len()).max(1 << 10);
        self.slots = vec![u32::MAX; length];
        for at in 0..self.ends.len() {
            let mut slot = hash(self.get(at)) as usize & (length - 1);
            while self.slots[slot] != u32::MAX {
                slot = (slot + 1) & (length - 1);
            }
            self.slots[slot] = at as u32;
        }
    }
}

/// Searches in memory; the counts, and bytes of records.
fn in_memory(model: &dyn Model, codec: Codec) -> (Counts, usize) {
    let (records, ends, slots) = (Vec::new(), Vec::new(), Vec::new());
    let mut table = Table { codec, records, ends, slots };
    let (mut buffer, mut state) = (Vec::new(), vec![0; model.width()]);
    let (mut transitions, mut levels, mut begun) = (0, 0, 0);
    let mut never = |_: &mut Vec<u8>| Ok(());
    let mut expansion = Expansion::new(model.width(), &mut buffer, usize::MAX, &mut never);
    model.initial(&mut expansion);
    drop(expansion);
    buffer.chunks_exact(model.width()).for_each(|state| table.insert(state));
    while begun < table.ends.len() {
        let end = table.ends.len();
        levels += 1;
        for at in begun..end {
            assert!(table.codec.decode(table.get(at), &mut state), "a record is of a state");
            buffer.clear();
            let mut expansion = Expansion::new(model.width(), &mut buffer, usize::MAX, &mut never);
            model.expand(&state, &mut expansion);
            transitions += expansion.transitions;
            buffer.chunks_exact(model.width()).for_each(|state| table.insert(state));
        }
        begun = end;
    }
    (Counts { states: begun as u64, transitions, levels }, table.records.len())
}

/// One search on disk.
struct Searched {
    counts: Counts,
    seconds: f64,
    /// Bytes of the store at the end, in memory and on disk.
    store: [u64; 2],
    peak: u64,
    /// Suspects rebuilt, and actions executed for them.
    rebuilt: Option<(u64, u64)>,
}

fn on_disk(model: &dyn Model, budget: u64, storage: Storage) -> Result<Searched, Failed> {
    let dir = tempfile::tempdir()?;
    let disk = Arc::new(Metered::new(Arc::new(RealDisk::open(dir.path())?), None)?);
    let plan = Plan::new(budget, 8 << 20, 1, model.width() + 8)?;
    let limits = Limits { stop_on_violation: false, ..Limits::default() };
    let control = Control::default();
    let begun = cpu_seconds();
    let mut search = Search::begin_stored(model, disk.clone(), plan, limits, &control, storage)?;
    let outcome = search.run()?;
    let seconds = cpu_seconds() - begun;
    let parts = search.store().parts();
    let rebuilt = search.store().rebuilt().map(|it| (it.states, it.actions));
    Ok(Searched {
        counts: Counts::of(&outcome),
        seconds,
        store: [
            parts.iter().map(|part| part.memory).sum(),
            parts.iter().map(|part| part.disk).sum(),
        ],
        peak: disk.usage().peak,
        rebuilt,
    })
}

fn codecs(name: &str, model: &dyn Model, budget: u64) -> Result<bool, Failed> {
    let each = [
        ("none", Codec::Raw),
        ("run-length", Codec::Rle),
        ("huffman, one code", trained(model, Tables::Single)),
        ("huffman", trained(model, Tables::Columns)),
    ];
    println!("\n{name}: {} bytes a state\n", model.width());
    println!("| in memory | CPU s | time | B a state | of none |");
    println!("| --- | --- | --- | --- | --- |");
    let (mut expected, mut first, mut agree) = (None, 0.0, true);
    for (what, codec) in each.clone() {
        let begun = cpu_seconds();
        let (counts, bytes) = in_memory(model, codec);
        let seconds = cpu_seconds() - begun;
        agree &= *expected.get_or_insert(counts) == counts;
        first = if what == "none" { seconds } else { first };
        let bytes = bytes as f64 / counts.states as f64;
        let (time, share) = (seconds / first.max(0.01), bytes / model.width() as f64);
        println!("| {what} | {seconds:.2} | {time:.2} | {bytes:.2} | {share:.2} |");
    }
    println!("\n| on disk | CPU s | time | B a state | at most on disk |");
    println!("| --- | --- | --- | --- | --- |");
    let sorted = [("sorted", Codec::Gaps)];
    for (what, codec) in sorted.into_iter().chain(each) {
        let found = on_disk(model, budget, Storage::Sorted(codec))?;
        agree &= expected == Some(found.counts);
        first = if what == "sorted" { found.seconds } else { first };
        let each = |bytes: u64| bytes as f64 / found.counts.states as f64;
        let (seconds, time) = (found.seconds, found.seconds / first.max(0.01));
        let (store, peak) = (each(found.store[1]), each(found.peak));
        println!("| {what} | {seconds:.2} | {time:.2} | {store:.2} | {peak:.2} |");
    }
    println!("\n{:?}, {}", expected, if agree { "all agree" } else { "THEY DIFFER" });
    Ok(agree)
}

fn combacks(name: &str, model: &dyn Model, budget: u64) -> Result<bool, Failed> {
    let sorted = on_disk(model, budget, Storage::default())?;
    let counts = sorted.counts;
    println!("\n{name}: {} bytes a state, {counts:?}\n", model.width());
    println!("| cache | states | grouped | CPU s | time | B a state | actions a rebuilt state |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let each = |bytes: [u64; 2]| bytes.iter().sum::<u64>() as f64 / counts.states as f64;
    let (seconds, store) = (sorted.seconds, each(sorted.store));
    println!("| sorted | | | {seconds:.2} | 1.00 | {store:.2} | |");
    let sizes = [100, 1000, 10_000].map(CacheSize::States);
    let kinds = [
        ("random", CacheKind::Random),
        ("fifo", CacheKind::Fifo),
        ("heuristic", CacheKind::Heuristic),
        ("stratified-10", CacheKind::Stratified(10)),
    ];
    let none = [("none", CacheKind::None, CacheSize::States(1))];
    let some = kinds.iter().flat_map(|&(name, kind)| sizes.map(|size| (name, kind, size)));
    let caches: Vec<_> = none.into_iter().chain(some).collect();
    let mut agree = true;
    for groups in [true, false] {
        for &(what, kind, size) in &caches {
            let settings = Settings { hash_bits: 32, cache: (kind, size), groups };
            let found = on_disk(model, budget, Storage::Comback(settings))?;
            agree &= counts == found.counts;
            let (rebuilt, actions) = found.rebuilt.unwrap_or_default();
            let states = match (kind, size) {
                (CacheKind::None, _) | (_, CacheSize::Share) => 0,
                (_, CacheSize::States(states)) => states,
            };
            println!(
                "| {what} | {states} | {} | {:.2} | {:.2} | {:.2} | {:.2} |",
                if groups { "yes" } else { "no" },
                found.seconds,
                found.seconds / sorted.seconds.max(0.01),
                each(found.store),
                actions as f64 / rebuilt.max(1) as f64,
            );
        }
    }
    println!("\n{}", if agree { "all agree" } else { "THEY DIFFER" });
    Ok(agree)
}
