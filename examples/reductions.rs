//! Compares what is found with and without partial-order reduction over a folder of models.
//!
//! ```sh
//! cargo run --release --example reductions -- FOLDER [--max-states N] [--min-states N]
//!     [--language NAME] [--only NAME] [--memory MIB] [--method NAME]... [--proviso NAME] [--deadlocks]
//! ```
//!
//! `FOLDER` holds the models and a `reference.tsv` with the columns `file` and `states` (or
//! `cmurphi_states`). Every model of at most `--max-states` states (300,000 if not given) is searched
//! whole, then by each method (all, if none is named): first for deadlocks alone, then for everything
//! there is to look for. One line a model: the states of each search. The exit code is 1 if any search finds
//! a violation that the whole one does not, or the other way around.

use spillway::Check;
use spillway::exec::Violation;
use spillway::front::{ClaimChoice, Language, Options};
use spillway::ir::Overflow;
use spillway::reduce::partial_order::{Method, Proviso, Way};
use spillway::search::{Checks, return_large_blocks};
use spillway::session::TextModel;
use spillway::source::Sources;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is asked for.
struct Settings {
    folder: PathBuf,
    states: std::ops::RangeInclusive<u64>,
    memory: u64,
    language: Option<&'static Language>,
    only: Option<String>,
    methods: Vec<Method>,
    provisos: Vec<Proviso>,
    deadlocks: bool,
}

impl Settings {
    /// The ways to choose steps, where the proviso matters and where it does not.
    fn ways(&self, matters: bool) -> impl Iterator<Item = Way> {
        self.methods.iter().flat_map(move |&method| {
            let is_one = !matters || matches!(method, Method::Sleep | Method::LocalSleep);
            let provisos = if is_one { &self.provisos[..1] } else { &self.provisos };
            provisos.iter().map(move |&proviso| Way { method, proviso })
        })
    }
}

/// What a search came to.
struct Came {
    states: u64,
    transitions: u64,
    violated: BTreeSet<Violation>,
}

fn main() -> ExitCode {
    return_large_blocks();
    let settings = match settings(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let (mut models, mut different) = (0, 0);
    for file in files(&settings) {
        models += 1;
        match compared(&settings, &file) {
            Ok((line, agrees)) => {
                different += u32::from(!agrees);
                println!("{file:<40} {line}");
            }
            Err(message) => println!("{file:<40} {}", message.lines().next().unwrap_or_default()),
        }
    }
    println!("{models} models, {different} with other verdicts");
    ExitCode::from(u8::from(different > 0))
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, String> {
    let (mut folder, mut least, mut most, mut memory) = (PathBuf::new(), 0, 300_000, 1024);
    let (mut language, mut only, mut methods, mut deadlocks) = (None, None, Vec::new(), false);
    let mut provisos = Proviso::ALL.to_vec();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is not a number"));
        match arg.as_str() {
            "--max-states" => most = number(value()?)?,
            "--min-states" => least = number(value()?)?,
            "--memory" => memory = number(value()?)?,
            "--only" => only = Some(value()?),
            "--deadlocks" => deadlocks = true,
            "--language" => {
                let name = value()?;
                let found = Language::from_name(&name);
                language = Some(found.ok_or(format!("there is no language `{name}`"))?);
            }
            "--method" => {
                let name = value()?;
                let found = Method::ALL.into_iter().find(|it| it.name() == name);
                methods.push(found.ok_or(format!("there is no method `{name}`"))?);
            }
            "--proviso" => {
                let name = value()?;
                let found = Proviso::ALL.into_iter().find(|it| it.name() == name);
                provisos = vec![found.ok_or(format!("there is no proviso `{name}`"))?];
            }
            _ => folder = PathBuf::from(arg),
        }
    }
    if methods.is_empty() {
        methods = Method::ALL.to_vec();
    }
    let states = least..=most;
    Ok(Settings { folder, states, memory, language, only, methods, provisos, deadlocks })
}

/// The models of the reference that are asked for.
fn files(settings: &Settings) -> Vec<String> {
    let table = std::fs::read_to_string(settings.folder.join("reference.tsv")).unwrap_or_default();
    let columns: Vec<&str> = table.lines().next().unwrap_or_default().split('\t').collect();
    let rows = table
        .lines()
        .skip(1)
        .map(|line| columns.iter().copied().zip(line.split('\t')).collect::<HashMap<&str, &str>>());
    let is_wanted = |row: &HashMap<&str, &str>| {
        let states = ["states", "cmurphi_states", "rumur_states"]
            .iter()
            .find_map(|it| row.get(it)?.parse().ok());
        states.is_some_and(|states: u64| settings.states.contains(&states))
    };
    let files = rows.filter(is_wanted).filter_map(|row| row.get("file").map(|it| it.to_string()));
    let is_named =
        |file: &String| settings.only.as_ref().is_none_or(|it| file.contains(it.as_str()));
    files.filter(is_named).collect()
}

fn load(settings: &Settings, file: &str) -> Result<TextModel, String> {
    let beside = settings.folder.join(file);
    let path: &Path =
        &if beside.is_file() { beside } else { settings.folder.join("..").join(file) };
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut sources = Sources::default();
    sources.add(file, String::from_utf8_lossy(&bytes));
    let language = settings.language.or_else(|| Language::of_file(file));
    let language = language.ok_or("its language is not known")?;
    // The references are counts without claims.
    let (overflow, claim) = (Some(Overflow::Wraps), ClaimChoice::Leave);
    let options = Options { overflow, claim, ..Options::default() };
    Ok(TextModel::load(language, sources, options).map_err(|error| error.to_string())?.0)
}

/// A line about a model, and whether all searches of it agree.
fn compared(settings: &Settings, file: &str) -> Result<(String, bool), String> {
    let mut model = load(settings, file)?;
    let none = Checks {
        deadlock: true,
        assertions: false,
        invariants: false,
        faults: false,
        claims: false,
    };
    let rounds: &[(&str, Checks)] = match settings.deadlocks {
        true => &[("deadlocks", none)],
        false => &[("deadlocks", none), ("all", Checks::default())],
    };
    let (mut line, mut agrees) = (String::new(), true);
    for (name, checks) in rounds {
        model = model.with_partial_order(None);
        let whole = searched(settings, &model, checks)?;
        if line.is_empty() {
            line = format!("{} states, {} transitions", whole.states, whole.transitions);
        }
        line += &format!("; {name}:");
        for way in settings.ways(*name != "deadlocks") {
            model = model.with_partial_order(Some((way, *checks)));
            let reduced = searched(settings, &model, checks)?;
            let same = reduced.violated == whole.violated;
            let word = if same { "" } else { " DIFFERS" };
            agrees &= same;
            let (how, proviso) = (way.method.name(), way.proviso.name());
            line += &format!(" {how} {proviso} {}/{}{word}", reduced.states, reduced.transitions);
        }
    }
    Ok((line, agrees))
}

fn searched(settings: &Settings, model: &TextModel, checks: &Checks) -> Result<Came, String> {
    let check = Check::of_text(model).checks(*checks).memory(settings.memory << 20).keep_going();
    let found = check.run().map_err(|error| error.to_string())?;
    let outcome = found.outcome();
    let counts = |it: &Violation| checks.selects(&model.interp, *it);
    let violated = outcome.findings.iter().map(|(check, _)| check).filter(counts).collect();
    Ok(Came { states: outcome.states(), transitions: outcome.transitions, violated })
}
