//! Expectations in the headers of the models, one line for each configuration:
//!
//! ```text
//! // expect: [NAME=VALUE ...] [symmetry=...] verdict=... [kind=... depth=...] states=...
//! //         transitions=... levels=... deadlocks=...                              (on one line)
//! ```
//!
//! (`--` instead of `//` in Murphi.) Lines such as these hold the expectations about runs:
//!
//! ```text
//! // runs: [NAME=VALUE ...] verdict=violated | --ltl FORMULA|NAME
//! // runs: [NAME=VALUE ...] verdict=verified states=... transitions=... | --acceptance|--non-progress
//! ```
//!
//! `--fair weak` comes first if only weakly fair runs are checked. Counts are those of the product with the automaton.
//!
//! Symmetry reduction is off unless the line says `symmetry=exact` or `symmetry=fast`. A model with a never claim is
//! searched with it. Counts are those of the whole state space; kind and depth are those of the shallowest violation.
//! Lines that begin with `scale:` are larger configurations.

use spillway::front::Language;
use spillway::reduce::symmetry::SymmetryEffort;
use spillway::session::Fairness;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An expectation from one line of a header.
pub struct Promise {
    /// The file and line, for messages.
    pub place: String,
    /// Whether this is a larger configuration.
    pub large: bool,
    /// The reduction of symmetric states.
    pub symmetry: Option<SymmetryEffort>,
    /// The constants.
    pub defines: Vec<(String, i64)>,
    /// The expected values, by name.
    pub fields: BTreeMap<String, String>,
}

/// Returns the files of the models under `models/`.
pub fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let folders = ["dve", "murphi", "pnml", "promela"].map(|language| folder.join(language));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| Language::from_file_name(&file.to_string_lossy()).is_some());
    files.sort();
    files
}

/// An expectation about the runs of a model.
pub struct RunsPromise {
    /// The checked property as flags: the first flag, and an optional value.
    pub asked: (String, String),
    /// The fairness of the checked runs.
    pub fairness: Fairness,
    /// The rest of the line.
    pub promise: Promise,
}

/// Returns the lines of a header, with their positions.
fn header<'t>(file: &Path, text: &'t str) -> impl Iterator<Item = (String, &'t str)> {
    let file = file.display().to_string();
    text.lines().enumerate().filter_map(move |(number, line)| {
        let line = line.strip_prefix("// ").or_else(|| line.strip_prefix("-- "))?;
        Some((format!("{file}:{}", number + 1), line))
    })
}

/// Returns the expectations in the text of a model. A model with expectations about runs needs no others.
pub fn promises(file: &Path, text: &str) -> Vec<Promise> {
    let promises: Vec<Promise> = header(file, text)
        .filter_map(|(place, line)| {
            let promise = match (line.strip_prefix("expect: "), line.strip_prefix("scale: ")) {
                (Some(promise), _) => parse(place, promise, false),
                (_, Some(promise)) => parse(place, promise, true),
                _ => return None,
            };
            for name in ["verdict", "states", "transitions", "levels", "deadlocks"] {
                assert!(promise.fields.contains_key(name), "{}: no {name}", promise.place);
            }
            Some(promise)
        })
        .collect();
    let is_empty = promises.is_empty() && runs(file, text).is_empty();
    assert!(!is_empty, "{}: the header has no `// expect:` line", file.display());
    promises
}

/// Returns the expectations about runs in the text of a model.
pub fn runs(file: &Path, text: &str) -> Vec<RunsPromise> {
    header(file, text)
        .filter_map(|(place, line)| {
            let (promise, asked) = line.strip_prefix("runs: ")?.split_once(" | ")?;
            let weak = asked.strip_prefix("--fair weak ");
            let asked = weak.unwrap_or(asked);
            let (flag, rest) = asked.split_once(' ').unwrap_or((asked, ""));
            let asked = (flag.to_owned(), rest.to_owned());
            let fairness = if weak.is_some() { Fairness::Weak } else { Fairness::None };
            Some(RunsPromise { asked, fairness, promise: parse(place, promise, false) })
        })
        .collect()
}

fn parse(place: String, line: &str, large: bool) -> Promise {
    let mut promise =
        Promise { place, large, symmetry: None, defines: vec![], fields: BTreeMap::new() };
    for word in line.split_whitespace() {
        let (name, value) =
            word.split_once('=').unwrap_or_else(|| panic!("{}: `{word}`?", promise.place));
        match name.starts_with(|c: char| c.is_ascii_uppercase()) {
            _ if word == "symmetry=exact" => promise.symmetry = Some(SymmetryEffort::Exact),
            _ if word == "symmetry=fast" => promise.symmetry = Some(SymmetryEffort::Fast),
            true => promise.defines.push((name.into(), value.parse().unwrap())),
            false => drop(promise.fields.insert(name.into(), value.into())),
        }
    }
    promise
}
