//! Every store at the command line, at 64MiB, undisturbed and killed: the same counts, verdicts and lengths of
//! counterexamples.
//!
//! A model is checked in one session. Then it is checked again: stopped at a checkpoint after half of its states,
//! resumed, killed at a random instant, and resumed to the end.
//!
//! A few of our models are always checked. `SPILLWAY_LARGE` adds every configuration in their headers.
//! `SPILLWAY_CORPUS=FOLDER` adds a hundred external models, about a third of them in each language, that have a row
//! with 5,000 to 500,000 states in `FOLDER/LANGUAGE/reference.tsv`. Those counts are of the whole space, and the whole
//! space is visited, unless a verdict there is that of a tool that stopped at an error.

use crate::support::Random;
use crate::support::promises::{Promise, models, promises};
use serde_json::Value;
use spillway::reduce::symmetry::SymmetryEffort;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SPILLWAY: &str = env!("CARGO_BIN_EXE_spillway");

const STORES: [&str; 5] = ["sorted", "raw", "rle", "huffman", "comback"];

/// The numbers of states of our configurations that are always checked.
const QUICK_STATES: std::ops::Range<u64> = 5_000..5_300;

/// Larger configurations of this repository's models are not checked.
const OWN_STATES_MAX: u64 = 700_000;

/// The numbers of states of external models.
const CORPUS_STATES: std::ops::RangeInclusive<u64> = 5_000..=500_000;

/// A model and its flags.
struct StoreCase {
    name: String,
    flags: Vec<String>,
    /// Whether the whole state space is visited, with or without violations.
    keep_going: bool,
    /// The number of states in its header.
    states: Option<u64>,
}

/// The results that must not depend on the store or on interruptions.
#[derive(Clone, Debug, PartialEq)]
struct StoreResult {
    /// Verdict, states, transitions, levels, deadlocks.
    counts: [Value; 5],
    /// Kind, name, depth and count of each violation.
    violations: Vec<[Value; 4]>,
    /// The length of each replayed counterexample.
    lengths: Vec<usize>,
}

/// Counts over all cases.
#[derive(Default)]
struct StoreTally {
    searches: usize,
    killed: usize,
    states: u64,
}

impl StoreCase {
    fn of_promise(file: &Path, promise: &Promise) -> StoreCase {
        let mut flags = vec![file.display().to_string()];
        for (name, value) in &promise.defines {
            flags.extend(["--define".into(), format!("{name}={value}")]);
        }
        let reductions: &[&str] = match promise.symmetry {
            None => &["--reduce", "none"],
            Some(SymmetryEffort::Exact) => &["--reduce", "symmetry", "--symmetry", "exact"],
            Some(SymmetryEffort::Fast) => &["--reduce", "symmetry", "--symmetry", "fast"],
        };
        flags.extend(reductions.iter().map(|it| it.to_string()));
        let states = promise.fields["states"].parse().ok();
        StoreCase { name: promise.place.clone(), flags, keep_going: true, states }
    }

    fn of_corpus(folder: &Path, language: &str, file: &str, keep_going: bool) -> Option<StoreCase> {
        let paths = [folder.join(language).join(file), folder.join(file)];
        let path = paths.into_iter().find(|path| path.is_file())?;
        // Not every store supports postponed transitions.
        let flags = ["--language", language, "--reduce", "symmetry"].map(String::from);
        let flags = [vec![path.display().to_string()], flags.to_vec()].concat();
        Some(StoreCase { name: format!("{language}/{file}"), flags, keep_going, states: None })
    }

    fn check(&self, store: &str, dir: &Path) -> Command {
        let mut command = Command::new(SPILLWAY);
        command.arg("check").args(&self.flags).args(["--store", store]);
        command.args(self.keep_going.then_some("--keep-going"));
        command.arg("--dir").arg(dir);
        with_64mib(command)
    }
}

fn resume(dir: &Path) -> Command {
    let mut command = Command::new(SPILLWAY);
    command.arg("resume").arg(dir);
    with_64mib(command)
}

fn with_64mib(mut command: Command) -> Command {
    command.args(["--memory", "64MiB", "--checkpoint-every", "1s", "--json"]);
    command
}

/// Runs a command to its end. Returns its exit code and its output, or its messages if it failed.
fn run(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let code = output.status.code();
    let printed = if matches!(code, Some(0 | 1 | 3)) { output.stdout } else { output.stderr };
    (code, String::from_utf8_lossy(&printed).into_owned())
}

/// The results of the search in `dir` with the output `printed`.
fn found(case: &StoreCase, printed: &str, dir: &Path) -> (StoreResult, Value) {
    let json: Value = serde_json::from_str(printed).unwrap();
    let counts = ["verdict", "states", "transitions", "levels", "deadlocks"];
    let counts = counts.map(|name| json[name].clone());
    let fields = ["kind", "name", "depth", "count"];
    let violations = json["violations"].as_array().unwrap();
    let violations: Vec<[Value; 4]> =
        violations.iter().map(|it| fields.map(|name| it[name].clone())).collect();
    let mut trace = Command::new(SPILLWAY);
    trace.arg("trace").arg(dir).arg("--json");
    let (code, printed) = run(trace);
    assert_eq!(code, Some(i32::from(!violations.is_empty())), "{}: {printed}", case.name);
    let traces: Value = serde_json::from_str(&printed).unwrap();
    let traces = traces["counterexamples"].as_array().unwrap().iter();
    let lengths = traces.map(|it| it["steps"].as_array().unwrap().len()).collect();
    (StoreResult { counts, violations, lengths }, json)
}

/// Checks a model in every store. Returns `false` if some store rejects 64MiB as too little.
fn all_stores_agree(case: &StoreCase, random: &mut Random, tally: &mut StoreTally) -> bool {
    let mut expected: Option<StoreResult> = None;
    for store in STORES {
        let folder = tempfile::tempdir().unwrap();
        let [undisturbed, disturbed] = ["whole", "disturbed"].map(|name| folder.path().join(name));
        let begun = Instant::now();
        let (code, printed) = run(case.check(store, &undisturbed));
        let time = begun.elapsed();
        if is_memory_rejected(code, &printed) {
            println!("{}, {store}: {printed}", case.name);
            return false;
        }
        assert!(matches!(code, Some(0 | 1)), "{}, {store}: {printed}", case.name);
        let (found_whole, json) = found(case, &printed, &undisturbed);
        std::fs::remove_dir_all(&undisturbed).unwrap();
        let states = json["states"].as_u64().unwrap();
        assert!(case.states.is_none_or(|it| it == states), "{}, {store}: {states}", case.name);
        let expected = expected.get_or_insert_with(|| found_whole.clone());
        assert_eq!(&found_whole, expected, "{}, {store}", case.name);

        let was_killed = disturb(case, store, &disturbed, (states, time), random);
        let (code, printed) = run(resume(&disturbed));
        if was_killed.is_none() || is_memory_rejected(code, &printed) {
            println!("{}, {store}, disturbed: 64MiB are too little", case.name);
            return false;
        }
        let was_killed = was_killed.unwrap_or(false);
        assert!(matches!(code, Some(0 | 1)), "{}, {store}, resumed: {printed}", case.name);
        let (found_disturbed, _) = found(case, &printed, &disturbed);
        assert_eq!(&found_disturbed, expected, "{}, {store}, killed: {was_killed}", case.name);

        tally.searches += 1;
        tally.killed += usize::from(was_killed);
        tally.states += states;
        let peak = json["peak_rss_bytes"].as_u64().unwrap();
        if peak > 64 << 20 {
            println!("{}, {store}: {} MiB resident", case.name, peak >> 20);
        }
    }
    println!("{}: all stores agree", case.name);
    true
}

/// Whether a command rejected its memory budget. The resident memory before a search differs a little, so that a
/// resumption may be rejected although the beginning was not.
fn is_memory_rejected(code: Option<i32>, printed: &str) -> bool {
    code == Some(2) && printed.contains("a memory budget of 64MiB is too small")
}

/// Searches half of `states`, resumes, and kills the process within the `time` of a whole search. Returns whether the
/// kill came before the end. `None` if the memory was rejected.
fn disturb(
    case: &StoreCase,
    store: &str,
    dir: &Path,
    (states, time): (u64, Duration),
    random: &mut Random,
) -> Option<bool> {
    let mut half = case.check(store, dir);
    half.arg("--max-states").arg((states / 2).max(1).to_string());
    let (code, printed) = run(half);
    if is_memory_rejected(code, &printed) {
        return None;
    }
    assert!(matches!(code, Some(0 | 1 | 3)), "{}, {store}, half: {printed}", case.name);
    let mut child = resume(dir).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(time.mul_f64(random.below(600) as f64 / 1000.0));
    let _ = child.kill();
    // A killed process has no exit code.
    Some(child.wait().unwrap().code().is_none())
}

fn own_cases(wanted: impl Fn(u64) -> bool) -> Vec<StoreCase> {
    let of_file = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        let all = promises(&file, &text);
        all.iter().map(|promise| StoreCase::of_promise(&file, promise)).collect::<Vec<_>>()
    };
    let cases = models().into_iter().flat_map(of_file);
    cases.filter(|case| case.states.is_some_and(&wanted)).collect()
}

/// The external models in one language, smallest first.
fn corpus_cases(folder: &Path, language: &str) -> Vec<StoreCase> {
    let table = folder.join(language).join("reference.tsv");
    let table = std::fs::read_to_string(&table)
        .unwrap_or_else(|error| panic!("{}: {error}", table.display()));
    let mut rows: Vec<(u64, &str, bool)> = table
        .lines()
        .skip(1)
        .filter_map(|row| {
            let mut fields = row.split('\t');
            let (file, states) = (fields.next()?, fields.next()?);
            let is_whole = !fields.any(|field| field.starts_with("ERR"));
            Some((states.parse().ok()?, file, is_whole))
        })
        .filter(|(states, ..)| CORPUS_STATES.contains(states))
        .collect();
    rows.sort_unstable();
    let case = |(_, file, is_whole)| StoreCase::of_corpus(folder, language, file, is_whole);
    rows.into_iter().filter_map(case).collect()
}

fn report(what: &str, cases: usize, tally: &StoreTally) {
    let StoreTally { searches, killed, states } = tally;
    println!(
        "{what}: {cases} models, {searches} searches of {states} states in all; each again, \
         stopped halfway, resumed, {killed} of them killed, resumed"
    );
}

#[test]
fn all_stores_agree_on_our_models() {
    let large = crate::support::is_large();
    let cases =
        own_cases(
            |states| if large { states <= OWN_STATES_MAX } else { QUICK_STATES.contains(&states) },
        );
    let (mut random, mut tally) = (Random::new(5), StoreTally::default());
    for case in &cases {
        assert!(all_stores_agree(case, &mut random, &mut tally), "{}", case.name);
    }
    assert!(cases.len() >= 4);
    report("ours", cases.len(), &tally);
}

/// The models of one language among a hundred external ones.
fn all_stores_agree_on(language: &str, wanted: usize) {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else {
        return println!("skipped: SPILLWAY_CORPUS is not set");
    };
    let cases = corpus_cases(Path::new(&folder), language);
    let (mut random, mut tally) = (Random::new(6), StoreTally::default());
    let taken = spread_cases(cases, wanted)
        .filter(|case| all_stores_agree(case, &mut random, &mut tally))
        .take(wanted)
        .count();
    assert_eq!(taken, wanted);
    report(language, taken, &tally);
}

#[test]
fn all_stores_agree_on_dve_models_of_the_corpus() {
    all_stores_agree_on("dve", 34);
}

#[test]
fn all_stores_agree_on_murphi_models_of_the_corpus() {
    all_stores_agree_on("murphi", 31);
}

#[test]
fn all_stores_agree_on_promela_models_of_the_corpus() {
    all_stores_agree_on("promela", 35);
}

/// All cases: first `wanted` evenly spaced ones, then the others as replacements.
fn spread_cases(cases: Vec<StoreCase>, wanted: usize) -> impl Iterator<Item = StoreCase> {
    let all = cases.len();
    let first = |at: usize| at * wanted / all != (at + 1) * wanted / all;
    let (first, others): (Vec<_>, Vec<_>) =
        cases.into_iter().enumerate().partition(|&(at, _)| first(at));
    first.into_iter().chain(others).map(|(_, case)| case)
}
