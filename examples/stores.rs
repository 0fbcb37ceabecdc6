//! The tables of `docs/internals/storage.md`: comparisons of the ways to store states.
//!
//! ```text
//! cargo run --release --example stores -- [--memory MIB] [--comback | --wide | --grouping] MODEL[,NAME=VALUE...] ...
//! ```
//!
//! The output has Markdown rows for each model. Without a choice it is a table like that of Holzmann, Godefroid and
//! Pirottin (1992). States are kept in a hash table in memory, and on disk by the search itself with one thread. CPU
//! time is relative to `none` in memory and to `sorted` on disk.
//!
//! - `--comback`: a table like that of Evangelista, Westergaard and Kristensen (2009): kinds and sizes of caches, with
//!   and without grouping, with CPU time relative to `sorted`.
//! - `--wide`: the size of each part of ComBack's store with default settings.
//! - `--grouping`: the actions that are executed without a cache, and those that ComBack would execute if it looked up
//!   each successor when it is generated.
//!
//! The exit code is 1 if any count differs.

use spill::{Codec, HuffmanTables, MeteredDisk, RealDisk, hash};
use spillway::exec::{ExecutionMode, Executor, Interp};
use spillway::front::{Language, Options};
use spillway::model::{StateSpace, SuccessorSink};
use spillway::search::comback::{
    CacheKind, CacheSize, CombackSettings, RebuildStats, StateCacheConfig,
};
use spillway::search::storage::train_codec;
use spillway::search::store_stats::{StorePart, StorePartKind};
use spillway::search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchResources,
    StateStorage, model_failure, return_large_blocks,
};
use spillway::source::SourceMap;
use std::process::ExitCode;
use std::sync::Arc;

type BoxedError = Box<dyn std::error::Error>;

/// Prints the table of a model, searched with this memory in bytes. Returns whether all counts agree.
type Table = fn(&dyn StateSpace, u64) -> Result<bool, BoxedError>;

/// The counts on which all searches of a model must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    states: u64,
    transitions: u64,
    levels: usize,
}

impl Counts {
    fn of(outcome: &SearchOutcome) -> Counts {
        let (transitions, levels) = (outcome.counters.transitions, outcome.levels.len());
        Counts { states: outcome.states(), transitions, levels }
    }
}

fn main() -> Result<ExitCode, BoxedError> {
    let (mut memory, mut table, mut models): (_, Table, _) = (256, compare_codecs, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--memory" => memory = args.next().ok_or("--memory MIB")?.parse()?,
            "--comback" => table = compare_caches,
            "--wide" => table = parts,
            "--grouping" => table = compare_groupings,
            _ => models.push(arg),
        }
    }
    return_large_blocks(memory << 20);
    let mut agree = true;
    for described in &models {
        let interp = load(described)?;
        let executor = Executor::new(&interp, ExecutionMode::Jit);
        println!("\n{described}: {} bytes per state\n", executor.model().width());
        let all_agree = table(executor.model(), memory << 20)?;
        println!("\n{}", if all_agree { "all agree" } else { "THEY DIFFER" });
        agree &= all_agree;
    }
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn load(described: &str) -> Result<Interp, BoxedError> {
    let mut parts = described.split(',');
    let file = parts.next().unwrap_or_default();
    let language = Language::from_file_name(file).ok_or("an unknown language")?;
    let mut sources = SourceMap::default();
    sources.add(file, std::fs::read_to_string(file)?);
    let mut defines = Vec::new();
    for define in parts {
        let (name, value) = define.split_once('=').ok_or("NAME=VALUE")?;
        defines.push((name.to_string(), value.parse()?));
    }
    let options = Options { defines, ..Options::default() };
    let loaded = language
        .load(&mut sources, &options)
        .map_err(|errors| errors[0].render(&sources).to_string())?;
    Interp::new(loaded.program).map_err(|error| error.render(&sources).to_string().into())
}

/// Returns the CPU seconds of this process.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// A hash table of records, as in the paper: records are compared directly.
struct HashTable {
    codec: Codec,
    records: Vec<u8>,
    ends: Vec<usize>,
    slots: Vec<u32>,
}

impl HashTable {
    fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.records[start..self.ends[at]]
    }

    /// Adds a state unless it is present. Returns its number.
    fn insert(&mut self, state: &[u8]) -> usize {
        if 2 * (self.ends.len() + 1) > self.slots.len() {
            self.grow();
        }
        let start = self.records.len();
        self.codec.encode(state, &mut self.records);
        let mask = self.slots.len() - 1;
        let mut slot = hash(&self.records[start..]) as usize & mask;
        while self.slots[slot] != u32::MAX {
            let number = self.slots[slot] as usize;
            if self.get(number) == &self.records[start..] {
                self.records.truncate(start);
                return number;
            }
            slot = (slot + 1) & mask;
        }
        let number = self.ends.len();
        self.slots[slot] = number as u32;
        self.ends.push(self.records.len());
        number
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

/// One search in memory.
struct MemorySearch {
    counts: Counts,
    /// The size of the records in bytes.
    bytes: usize,
    /// The number of actions that ComBack would execute without a cache if it looked up each successor when it is
    /// generated. A known successor needs as many actions as there are levels before its own.
    plain_actions: u64,
}

fn in_memory(model: &dyn StateSpace, codec: Codec) -> spill::Result<MemorySearch> {
    let (records, ends, slots) = (Vec::new(), Vec::new(), Vec::new());
    let mut table = HashTable { codec, records, ends, slots };
    let (mut buffer, mut state) = (Vec::new(), vec![0; model.width()]);
    let (mut transitions, mut begun, mut plain_actions) = (0, 0, 0);
    let mut first_of_level = Vec::new();
    let _ = SuccessorSink::collect(model.width(), &mut buffer, |out| model.initial(out))
        .map_err(model_failure)?;
    buffer.chunks_exact(model.width()).for_each(|state| {
        table.insert(state);
    });
    while begun < table.ends.len() {
        let end = table.ends.len();
        first_of_level.push(begun);
        for at in begun..end {
            assert!(table.codec.decode(table.get(at), &mut state), "a record is of a state");
            buffer.clear();
            let run = |out: &mut SuccessorSink| model.expand(&state, out);
            let expanded = SuccessorSink::collect(model.width(), &mut buffer, run);
            transitions += expanded.map_err(model_failure)?.counters.transitions;
            for state in buffer.chunks_exact(model.width()) {
                let known = table.ends.len();
                let number = table.insert(state);
                if number < known {
                    let new_level = usize::from(number >= end);
                    let level = first_of_level.partition_point(|&first| first <= number) - 1;
                    plain_actions += (level + new_level) as u64;
                }
            }
        }
        begun = end;
    }
    let (states, levels) = (begun as u64, first_of_level.len());
    let counts = Counts { states, transitions, levels };
    Ok(MemorySearch { counts, bytes: table.records.len(), plain_actions })
}

/// One search on disk.
struct DiskSearch {
    counts: Counts,
    seconds: f64,
    /// The parts of the store at the end.
    parts: Vec<StorePart>,
    /// The maximum number of bytes on disk, candidates included.
    peak: u64,
    rebuilt: RebuildStats,
}

impl DiskSearch {
    /// Returns the bytes of the parts of these kinds for each state, in memory and on disk.
    fn bytes(&self, kinds: impl Fn(StorePartKind) -> bool) -> [f64; 2] {
        let parts = self.parts.iter().filter(|part| kinds(part.kind));
        let sums =
            parts.fold([0, 0], |[memory, disk], part| [memory + part.memory, disk + part.disk]);
        sums.map(|bytes| bytes as f64 / self.counts.states as f64)
    }

    /// Returns the number of executed actions for each rebuilt state.
    fn actions(&self) -> f64 {
        self.rebuilt.actions as f64 / self.rebuilt.states.max(1) as f64
    }

    /// Returns the bytes for each state, in memory and on disk together.
    fn all_bytes(&self) -> f64 {
        self.bytes(|_| true).iter().sum()
    }
}

fn on_disk(
    model: &dyn StateSpace,
    budget: u64,
    storage: StateStorage,
) -> Result<DiskSearch, BoxedError> {
    let dir = tempfile::tempdir()?;
    let disk = Arc::new(MeteredDisk::new(Arc::new(RealDisk::open(dir.path())?), None)?);
    let plan = MemoryPlan::new(budget, 8 << 20, 1, model.width() + 8)?;
    let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
    let control = SearchControl::default();
    let begun = cpu_seconds();
    let resources = SearchResources { disk: disk.clone(), plan, control: &control };
    let mut search = ExternalSearch::begin_stored(model, resources, limits, storage)?;
    let outcome = search.run()?;
    let seconds = (cpu_seconds() - begun).max(0.01);
    Ok(DiskSearch {
        counts: Counts::of(&outcome),
        seconds,
        parts: search.store().parts(),
        peak: disk.usage().peak,
        rebuilt: search.store().rebuilt().unwrap_or_default(),
    })
}

fn compare_codecs(model: &dyn StateSpace, budget: u64) -> Result<bool, BoxedError> {
    let each = [
        ("none", Codec::Raw),
        ("run-length", Codec::Rle),
        (
            "huffman, one code",
            train_codec(model, HuffmanTables::Single, &SearchControl::default())?,
        ),
        ("huffman", train_codec(model, HuffmanTables::Columns, &SearchControl::default())?),
    ];
    println!("| in memory | CPU s | time | B a state | of none |");
    println!("| --- | --- | --- | --- | --- |");
    let (mut expected, mut first, mut agree) = (None, 0.0, true);
    for (what, codec) in each.clone() {
        let begun = cpu_seconds();
        let MemorySearch { counts, bytes, .. } = in_memory(model, codec)?;
        let seconds = (cpu_seconds() - begun).max(0.01);
        agree &= *expected.get_or_insert(counts) == counts;
        first = if what == "none" { seconds } else { first };
        let bytes = bytes as f64 / counts.states as f64;
        let (time, share) = (seconds / first, bytes / model.width() as f64);
        println!("| {what} | {seconds:.2} | {time:.2} | {bytes:.2} | {share:.2} |");
    }
    println!("\n| on disk | CPU s | time | levels, B a state | merged | at most on disk |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let sorted = [("sorted", Codec::Gaps)];
    for (what, codec) in sorted.into_iter().chain(each) {
        let found = on_disk(model, budget, StateStorage::Sorted(codec))?;
        agree &= expected == Some(found.counts);
        first = if what == "sorted" { found.seconds } else { first };
        let [_, levels] = found.bytes(|kind| kind == StorePartKind::Levels);
        let [_, merged] = found.bytes(|kind| kind == StorePartKind::MergedRuns);
        let peak = found.peak as f64 / found.counts.states as f64;
        let (seconds, time) = (found.seconds, found.seconds / first);
        println!("| {what} | {seconds:.2} | {time:.2} | {levels:.2} | {merged:.2} | {peak:.2} |");
    }
    println!("\n{expected:?}");
    Ok(agree)
}

fn compare_caches(model: &dyn StateSpace, budget: u64) -> Result<bool, BoxedError> {
    let sorted = on_disk(model, budget, StateStorage::default())?;
    println!("{:?}\n", sorted.counts);
    println!("| cache | B a state | time, grouped | actions | time, not | actions |");
    println!("| --- | --- | --- | --- | --- | --- |");
    println!("| (sorted: {:.2} s) | {:.2} | 1 | | | |", sorted.seconds, sorted.all_bytes());
    let sizes = [1000, 10_000].map(|states| (states.to_string(), CacheSize::States(states)));
    let kinds = [
        ("random", CacheKind::Random),
        ("fifo", CacheKind::Fifo),
        ("heuristic", CacheKind::Heuristic),
        ("stratified-10", CacheKind::Stratified(10)),
    ];
    let mut caches = vec![(
        "none".to_string(),
        StateCacheConfig { kind: CacheKind::None, size: CacheSize::default() },
    )];
    caches.push(("default".to_string(), CombackSettings::default().cache));
    for (name, kind) in kinds {
        for (states, size) in &sizes {
            caches.push((format!("{name}:{states}"), StateCacheConfig { kind, size: *size }));
        }
    }
    let mut agree = true;
    for (name, cache) in caches {
        let [grouped, single] = [true, false].map(|groups| {
            let settings = CombackSettings { hash_bits: 32, cache, groups };
            on_disk(model, budget, StateStorage::Comback(settings))
        });
        let (grouped, single) = (grouped?, single?);
        agree &= [grouped.counts, single.counts] == [sorted.counts; 2];
        print!("| {name} | {:.2} |", grouped.all_bytes());
        for found in [grouped, single] {
            print!(" {:.2} | {:.2} |", found.seconds / sorted.seconds, found.actions());
        }
        println!();
    }
    Ok(agree)
}

fn compare_groupings(model: &dyn StateSpace, budget: u64) -> Result<bool, BoxedError> {
    let plain = in_memory(model, Codec::Raw)?;
    let cache = StateCacheConfig { kind: CacheKind::None, size: CacheSize::default() };
    let settings = CombackSettings { hash_bits: 32, cache, groups: true };
    let grouped = on_disk(model, budget, StateStorage::Comback(settings))?;
    let (states, actions) = (plain.counts.states, grouped.rebuilt.actions);
    let ratio = actions as f64 / plain.plain_actions.max(1) as f64;
    println!("| {states} | {} | {actions} | {ratio:.2} |", plain.plain_actions);
    Ok(grouped.counts == plain.counts)
}

fn parts(model: &dyn StateSpace, budget: u64) -> Result<bool, BoxedError> {
    let sorted = on_disk(model, budget, StateStorage::default())?;
    let found = on_disk(model, budget, StateStorage::Comback(CombackSettings::default()))?;
    println!("{:?}\n", sorted.counts);
    println!("| | CPU s | in memory + on disk, B a state | together | at most on disk |");
    println!("| --- | --- | --- | --- | --- |");
    for (name, searched) in [("sorted", &sorted), ("comback", &found)] {
        let each = searched.parts.iter().map(|part| {
            let [memory, disk] = searched.bytes(|kind| kind == part.kind);
            format!("{} {memory:.2} + {disk:.2}", part.kind.name())
        });
        let (seconds, each) = (searched.seconds, each.collect::<Vec<_>>().join(", "));
        let (all, peak) =
            (searched.all_bytes(), searched.peak as f64 / sorted.counts.states as f64);
        println!("| {name} | {seconds:.2} | {each} | {all:.2} | {peak:.2} |");
    }
    println!("\ntime {:.2}", found.seconds / sorted.seconds);
    Ok(sorted.counts == found.counts)
}
