//! Replays the corpora of the fuzz targets under `fuzz/`, and mutants of them.
//!
//! `SPILLWAY_LARGE` runs more mutants, which take minutes. After a change of a format, regenerate the corpora: `cargo
//! test --test corpora -- --ignored`.

mod hostile;

use hostile::support::{Random, is_large};
use hostile::{
    TARGETS, Target, codec_bytes, graph, killed_searches, postponing_graph, search, search_until,
    width_byte,
};
use spill::{BlockEncoder, Disk, FaultDisk, SegmentWriter, block_keys_max};
use spillway::front::{Options, promela};
use spillway::reduce::ReductionPlan;
use spillway::reduce::partial_order::{PartialOrderMethod, PartialOrderStrategy};
use spillway::search::checkpoint::{MANIFEST, SavedSearch};
use spillway::search::{CheckSelection, SearchControl, SearchVerdict};
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

/// The limits of a corpus, which is replayed at every change and copied with the project.
const FILES_MAX: usize = 40;
const FILE_BYTES_MAX: usize = 2048;

/// The suffix of the name of an input that [`mutate`] damaged.
const MUTANT_SUFFIX: &str = "-mutant";
/// The prefix of the name of an input that once made a decoder fail.
const FUZZER_PREFIX: &str = "found-";

/// Inputs by name.
type Corpus = BTreeMap<String, Vec<u8>>;

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

fn read_corpus(target: &str) -> Corpus {
    let entries = fs::read_dir(folder(target)).expect("there is a corpus");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
    };
    entries.map(read).collect()
}

/// Whether the target decodes an input. Prints the name of the input if it panics.
fn decodes(target: Target, name: &str, input: &[u8]) -> bool {
    let outcome = std::panic::catch_unwind(|| target(input));
    outcome.unwrap_or_else(|_| panic!("{name}: {}", input.escape_ascii()))
}

#[test]
fn hostile_bytes_are_rejected_or_decodable() {
    for (name, target) in TARGETS {
        let corpus = read_corpus(name);
        assert!((1..=FILES_MAX).contains(&corpus.len()), "{} files for {name}", corpus.len());
        for (file, input) in &corpus {
            assert!(input.len() <= FILE_BYTES_MAX, "{name}/{file} has {} bytes", input.len());
            let decoded = decodes(target, &format!("{name}/{file}"), input);
            let is_valid = !file.ends_with(MUTANT_SUFFIX) && !file.starts_with(FUZZER_PREFIX);
            assert!(decoded || !is_valid, "{name}/{file} is of another format: write it anew");
        }
    }
}

#[test]
fn mutants_are_rejected_or_decodable() {
    for (name, target) in TARGETS {
        let corpus = read_corpus(name);
        let inputs: Vec<&Vec<u8>> = corpus.values().collect();
        let mutants = if is_large() { 1_000_000 } else { 3_000 };
        let mut decoded = 0;
        for seed in 0..mutants {
            let mut random = Random::new(seed);
            let mut input = inputs[random.below(inputs.len())].clone();
            (0..1 + random.below(4)).for_each(|_| mutate(&mut input, &inputs, &mut random));
            decoded += u64::from(decodes(target, &format!("{name}, mutant {seed}"), &input));
        }
        println!("{name}: {} inputs, {mutants} mutants, {decoded} believed", inputs.len());
    }
}

/// Changes `input` in a way that decoders are known to miss.
fn mutate(input: &mut Vec<u8>, others: &[&Vec<u8>], random: &mut Random) {
    if input.is_empty() {
        return input.push(random.next() as u8);
    }
    let at = random.below(input.len());
    match random.below(8) {
        0 | 1 => input[at] ^= 1 << random.below(8),
        2 => input[at] = random.next() as u8,
        3 | 4 => overwrite(input, at, &number(random)),
        5 => input.truncate(at),
        6 => drop(input.drain(at..at + random.below(9).min(input.len() - at))),
        _ => {
            let other = others[random.below(others.len())];
            let start = random.below(other.len());
            let length = random.below(64).min(other.len() - start);
            input.splice(at..at, other[start..start + length].iter().copied());
        }
    }
}

fn overwrite(input: &mut [u8], at: usize, bytes: &[u8]) {
    let length = bytes.len().min(input.len() - at);
    input[at..at + length].copy_from_slice(&bytes[..length]);
}

/// A number of 4 or 8 bytes that is small, or close to a bound of its type.
fn number(random: &mut Random) -> Vec<u8> {
    let small = random.below(20) as u64;
    let bounds = [0, small, u64::MAX - small, 1 << 32, (1 << 31) - small, i64::MAX as u64];
    let number = bounds[random.below(bounds.len())];
    number.to_le_bytes()[..4 + 4 * random.below(2)].to_vec()
}

#[test]
#[ignore = "writes the corpora anew"]
fn write_corpora() {
    write_corpus("block", blocks());
    write_corpus("segment", segments());
    write_corpus("manifest", manifests());
    write_corpus("job", jobs());
}

/// Writes the small inputs of `valid` and a mutant of each. Keeps the inputs that fuzzers found.
fn write_corpus(target: &str, mut valid: Corpus) {
    let folder = folder(target);
    fs::create_dir_all(&folder).unwrap();
    for (name, _) in read_corpus(target).iter().filter(|(name, _)| !name.starts_with(FUZZER_PREFIX))
    {
        fs::remove_file(folder.join(name)).unwrap();
    }
    valid.retain(|_, input| input.len() <= FILE_BYTES_MAX - 128);
    let inputs: Vec<&Vec<u8>> = valid.values().collect();
    for (seed, (name, input)) in valid.iter().enumerate() {
        let mut mutant = input.clone();
        mutate(&mut mutant, &inputs, &mut Random::new(seed as u64));
        fs::write(folder.join(name), input).unwrap();
        fs::write(folder.join(format!("{name}{MUTANT_SUFFIX}")), mutant).unwrap();
    }
}

/// Sets of keys of `width` bytes, by name.
fn key_sets(width: usize) -> [(&'static str, Vec<u8>); 3] {
    let mut random = Random::new(width as u64);
    let scattered = |count: usize, random: &mut Random| {
        let key = |random: &mut Random| (0..width).map(|_| random.next() as u8).collect();
        let keys: BTreeSet<Vec<u8>> = (0..count).map(|_| key(random)).collect();
        keys.into_iter().flatten().collect()
    };
    [
        ("one", scattered(1, &mut random)),
        ("scattered", scattered(1200 / (width + 2), &mut random)),
        ("dense", numbered(width, if width == 1 { 200 } else { 300 })),
    ]
}

/// The keys 0, 3, 6, ... (without gaps for one-byte keys).
fn numbered(width: usize, count: u64) -> Vec<u8> {
    let step = if width == 1 { 1 } else { 3 };
    let key = |number: u64| {
        let mut key = vec![0; width];
        let used = width.min(8);
        key[width - used..].copy_from_slice(&(number * step).to_be_bytes()[8 - used..]);
        key
    };
    (0..count).flat_map(key).collect()
}

fn blocks() -> Corpus {
    let mut corpus = Corpus::new();
    for width in [1, 3, 8, 11, 16, 17, 40] {
        for (name, keys) in key_sets(width).into_iter().skip(usize::from(width != 8)) {
            let mut input = vec![width_byte(width)];
            BlockEncoder::new(width).encode(&keys, &mut input);
            corpus.insert(format!("{name}-{width:02}"), input);
        }
    }
    for (first, codec) in codec_bytes(9) {
        let mut input = vec![first];
        BlockEncoder::new(9).with_codec(&codec).encode(&numbered(9, 60), &mut input);
        corpus.insert(format!("{}-09", codec.name()), input);
    }
    corpus
}

fn segments() -> Corpus {
    let mut corpus = Corpus::new();
    for width in [1, 5, 8, 13, 17, 40] {
        for (name, keys) in key_sets(width).into_iter().skip(1) {
            corpus.insert(format!("{name}-{width:02}"), segment(width, 0, &keys));
        }
    }
    corpus.insert("empty".into(), segment(9, 0, &[]));
    corpus.insert("behind-another".into(), segment(5, 9, &numbered(5, 20)));
    for width in [2, 9] {
        let keys = numbered(width, 2 * block_keys_max(width) as u64 + 5);
        corpus.insert(format!("three-blocks-{width:02}"), segment(width, 0, &keys));
    }
    corpus
}

/// An input for the segment of `keys` at `offset` of a file.
fn segment(width: usize, offset: u8, keys: &[u8]) -> Vec<u8> {
    let disk = FaultDisk::new();
    let mut file = disk.create("keys").unwrap();
    file.write(&vec![0xab; offset.into()]).unwrap();
    let mut writer = SegmentWriter::new(width, &mut *file);
    writer.push(keys).unwrap();
    writer.finish().unwrap();
    file.flush().unwrap();
    [vec![width_byte(width), offset], disk.read("keys").unwrap()].concat()
}

fn manifests() -> Corpus {
    let ended = FaultDisk::new();
    search(&graph(), &ended, u64::MAX).unwrap();
    let stopped = FaultDisk::new();
    search(&graph(), &stopped, 30).unwrap();
    let mut corpus = Corpus::from([
        ("ended".into(), timeless_manifest(&ended)),
        ("stopped".into(), timeless_manifest(&stopped)),
        ("asleep".into(), timeless_manifest(&search_with_sleep_sets())),
    ]);
    let has_manifest = |disk: &FaultDisk| disk.read(MANIFEST).is_ok();
    let killed: Vec<FaultDisk> = killed_searches(&graph()).filter(has_manifest).collect();
    for sample in 0..10 {
        let disk = &killed[sample * killed.len() / 10];
        corpus.insert(format!("killed-{sample:02}"), timeless_manifest(disk));
    }
    let killed = killed_searches(&postponing_graph()).filter(has_manifest).collect::<Vec<_>>();
    for disk in killed.iter().chain(&stopped_searches()) {
        let SavedSearch { postponed, open, .. } = SavedSearch::load(disk).unwrap();
        let parts = [
            (!postponed.obligations.is_empty(), "-owed"),
            (!postponed.carried.is_empty(), "-carried"),
            (open.exhausted, "-exhausted"),
        ];
        let parts = parts.into_iter().filter(|(there, _)| *there).map(|(_, name)| name);
        let name = format!("put-off{}", parts.collect::<String>());
        corpus.entry(name).or_insert_with(|| timeless_manifest(disk));
    }
    corpus
}

/// A search of a model with sleep sets.
fn search_with_sleep_sets() -> FaultDisk {
    let text =
        "byte x, y; active proctype A() { x = 1; x = 2 } active proctype B() { y = 1; y = 2 }";
    let mut sources = SourceMap::default();
    sources.add("model.pml", text);
    let (model, _) = TextModel::load(&promela::LANGUAGE, sources, Options::default()).unwrap();
    let model = model.with_plan(ReductionPlan::new(
        PartialOrderStrategy::from(PartialOrderMethod::Sleep).into(),
        CheckSelection::default(),
    ));
    let disk = FaultDisk::new();
    search(model.searched().model(), &disk, u64::MAX).unwrap();
    assert!(SavedSearch::load(&disk).unwrap().values.is_some());
    disk
}

/// Searches that postpone transitions, each stopped after a few more states.
fn stopped_searches() -> Vec<FaultDisk> {
    let stopped = |states| {
        let (mut model, disk) = (postponing_graph(), FaultDisk::new());
        let control = Arc::new(SearchControl::new(Duration::ZERO, None));
        (model.states_until_stop, model.control) = (AtomicI64::new(states), Some(control.clone()));
        let outcome = search_until(&model, &disk, u64::MAX, &control).unwrap();
        (outcome.verdict == SearchVerdict::Incomplete).then_some(disk)
    };
    (0..).map_while(stopped).collect()
}

/// The manifest in `disk`, without the values that depend on the machine.
fn timeless_manifest(disk: &FaultDisk) -> Vec<u8> {
    let timeless = FaultDisk::new();
    let saved = SavedSearch::load(disk).unwrap();
    SavedSearch { seconds: 1.5, peak_rss_bytes: 1 << 20, ..saved }.commit(&timeless).unwrap();
    timeless.read(MANIFEST).unwrap()
}

fn jobs() -> Corpus {
    let flags: [(&str, &[&str]); 4] = [
        ("plain", &[]),
        ("defines", &["-D", "N=1", "-D", "M=-7"]),
        ("wraps", &["--overflow", "wrap", "--keep-going"]),
        ("unchecked", &["--no-deadlock"]),
    ];
    flags.into_iter().map(|(name, flags)| (name.into(), job_of(flags))).collect()
}

/// The job that the command line makes of a small model and `flags`.
fn job_of(flags: &[&str]) -> Vec<u8> {
    let model = "const byte N = 3; const int M = 0; byte n; process P { state a; init a; trans a -> a { guard n < N; effect n = n + 1; }; } system async;";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("model.dve"), model).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_spillway"))
        .args(["check", "model.dve", "--dir", "search"])
        .args(flags)
        .current_dir(folder.path())
        .output()
        .unwrap();
    fs::read(folder.path().join("search/job"))
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}
