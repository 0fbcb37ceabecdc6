//! Compares the results with and without reductions over a folder of models.
//!
//! ```sh
//! cargo run --release --example reductions -- FOLDER [--max-states N] [--min-states N]
//!     [--language NAME] [--only NAME] [--memory MIB] [--method NAME]... [--proviso NAME] [--deadlocks]
//!     [--reduce LIST]... [--pairs LIST] [--looking-for CHECKS]
//! ```
//!
//! `FOLDER` holds the models and a `reference.tsv` with the columns `file` and `states` (or `cmurphi_states`). Every
//! model of at most `--max-states` states (default 300,000) is searched completely, then by each method (by default
//! all). Each search runs first for deadlocks alone, then for everything that can be checked. The output is one line
//! for each model with the states of each search. The exit code is 1 if any search finds a violation that the complete
//! one does not, or the other way around.
//!
//! With `--reduce`, lists of reductions are compared instead of methods. They are named as on the command line and
//! joined by commas (`confluence` uses the first of `--proviso`). The searches check everything, or the kinds that
//! `--looking-for` names (`deadlock`, `assertions`, `invariants`, `faults`). `--pairs` means each of its reductions
//! alone, each two of them, and all.
//!
//! If all reductions of a list preserve depth, violations must have equal depths, too. With symmetry, only the kinds
//! of violations are compared, since violations of exchanged processes are one. A reduction that the others of its
//! list exclude is reported, unless it does not apply to the model alone either.

use spillway::Check;
use spillway::front::{ClaimChoice, Language, Options};
use spillway::ir::OverflowRule;
use spillway::model::Violation;
use spillway::reduce::partial_order::{CycleProviso, PartialOrderMethod, PartialOrderStrategy};
use spillway::reduce::{PropertyClass, ReductionPlan, ReductionSelection, find_reduction};
use spillway::search::{CheckSelection, return_large_blocks};
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The settings of the command line.
struct Settings {
    folder: PathBuf,
    states: std::ops::RangeInclusive<u64>,
    memory: u64,
    language: Option<&'static Language>,
    only: Option<String>,
    methods: Vec<PartialOrderMethod>,
    provisos: Vec<CycleProviso>,
    deadlocks: bool,
    /// The checks for lists of reductions.
    checks: CheckSelection,
    /// Reductions that are used together.
    lists: Vec<Vec<String>>,
}

impl Settings {
    /// Returns the partial-order strategies. If the proviso does not matter to the search, each method has only one.
    fn strategies(&self, proviso_matters: bool) -> impl Iterator<Item = PartialOrderStrategy> {
        self.methods.iter().flat_map(move |&method| {
            let is_one = !proviso_matters
                || matches!(method, PartialOrderMethod::Sleep | PartialOrderMethod::LocalSleep);
            let provisos = if is_one { &self.provisos[..1] } else { &self.provisos };
            provisos.iter().map(move |&proviso| PartialOrderStrategy { method, proviso })
        })
    }
}

/// The result of a search.
struct SearchResult {
    states: u64,
    transitions: u64,
    /// The violations, with their levels.
    violated: BTreeMap<Violation, u64>,
}

impl SearchResult {
    /// Returns the violations: with their depths if `depth`, and only by their kinds if `by_kind`.
    fn violations(&self, by_kind: bool, depth: bool) -> BTreeSet<(String, Option<u64>)> {
        let kind = |it: &Violation| match it {
            Violation::Property(_) if by_kind => "property".to_owned(),
            Violation::Fault(kind, _) if by_kind => format!("{kind:?}"),
            it => format!("{it:?}"),
        };
        let mut violations: BTreeMap<String, u64> = BTreeMap::new();
        for (violation, level) in &self.violated {
            let least = violations.entry(kind(violation)).or_insert(*level);
            *least = (*least).min(*level);
        }
        violations.into_iter().map(|(name, level)| (name, depth.then_some(level))).collect()
    }
}

fn main() -> ExitCode {
    let settings = match settings(std::env::args().skip(1)) {
        Ok(settings) => settings,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    return_large_blocks(settings.memory << 20);
    let (mut models, mut different) = (0, 0);
    for file in files(&settings) {
        models += 1;
        let compare = if settings.lists.is_empty() { compare_methods } else { compare_lists };
        match compare(&settings, &file) {
            Ok((line, agrees)) => {
                different += u32::from(!agrees);
                println!("{file:<40} {line}");
            }
            Err(error) => {
                println!("{file:<40} {}", error.to_string().lines().next().unwrap_or_default())
            }
        }
    }
    println!("{models} models, {different} with other verdicts");
    ExitCode::from(u8::from(different > 0))
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, Box<dyn Error>> {
    let (mut folder, mut least, mut most, mut memory) = (PathBuf::new(), 0, 300_000, 1024);
    let (mut language, mut only, mut methods, mut deadlocks) = (None, None, Vec::new(), false);
    let (mut provisos, mut lists) = (CycleProviso::ALL.to_vec(), Vec::new());
    let mut checks = CheckSelection::default();
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
                language = Some(found.ok_or(format!("unknown language `{name}`"))?);
            }
            "--method" => {
                let name = value()?;
                let found = PartialOrderMethod::ALL.into_iter().find(|it| it.name() == name);
                methods.push(found.ok_or(format!("there is no method `{name}`"))?);
            }
            "--proviso" => {
                let name = value()?;
                let found = CycleProviso::ALL.into_iter().find(|it| it.name() == name);
                provisos = vec![found.ok_or(format!("there is no proviso `{name}`"))?];
            }
            "--looking-for" => checks = parse_checks(&value()?)?,
            "--reduce" => lists.push(parse_reductions(&value()?)?),
            "--pairs" => lists.extend(pairs(&parse_reductions(&value()?)?)),
            _ => folder = PathBuf::from(arg),
        }
    }
    if methods.is_empty() {
        methods = PartialOrderMethod::ALL.to_vec();
    }
    let states = least..=most;
    Ok(Settings {
        folder,
        states,
        memory,
        language,
        only,
        methods,
        provisos,
        deadlocks,
        checks,
        lists,
    })
}

/// The names of all reductions.
const REDUCTIONS: [&str; 15] = [
    "por",
    "reversible",
    "symmetry",
    "dead",
    "values",
    "states",
    "linear",
    "merge",
    "slice",
    "structural",
    "confluence",
    "simultaneous",
    "dominate",
    "boring",
    "doomed",
];

/// Returns the checks with these names.
fn parse_checks(list: &str) -> Result<CheckSelection, Box<dyn Error>> {
    let names: Vec<&str> = list.split(',').collect();
    let known = ["deadlock", "assertions", "invariants", "faults"];
    if let Some(other) = names.iter().find(|it| !known.contains(it)) {
        return Err(format!("there is no check `{other}`").into());
    }
    let [deadlock, assertions, invariants, faults] = known.map(|it| names.contains(&it));
    Ok(CheckSelection { deadlock, assertions, invariants, faults, claims: false })
}

/// Parses a list of reductions.
fn parse_reductions(list: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    match names.iter().find(|it| !REDUCTIONS.contains(&it.as_str())) {
        Some(other) => Err(format!("there is no reduction `{other}`").into()),
        None => Ok(names),
    }
}

/// Returns lists of one reduction, of each two, and of all.
fn pairs(all: &[String]) -> Vec<Vec<String>> {
    let mut lists: Vec<Vec<String>> = all.iter().map(|it| vec![it.clone()]).collect();
    for (number, one) in all.iter().enumerate() {
        lists.extend(all[number + 1..].iter().map(|other| vec![one.clone(), other.clone()]));
    }
    lists.push(all.to_vec());
    lists
}

/// Returns the reduction plan of a list, for a search with the settings' checks.
fn wished(settings: &Settings, list: &[String]) -> ReductionPlan {
    let mut selection = ReductionSelection::of(list.iter().map(String::as_str));
    if let Some(confluence) = selection.get_mut("confluence") {
        confluence.set("proviso", settings.provisos[0].name());
    }
    if let Some(dead) = selection.get_mut("dead") {
        let is_joint =
            list.iter().all(|it| find_reduction(it).is_some_and(|it| it.allows_joint_resets));
        dead.set("joint", is_joint);
    }
    ReductionPlan::new(selection, settings.checks)
}

/// Returns the selected models of the reference.
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

fn load(settings: &Settings, file: &str) -> Result<TextModel, Box<dyn Error>> {
    let beside = settings.folder.join(file);
    let path: &Path =
        &if beside.is_file() { beside } else { settings.folder.join("..").join(file) };
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut sources = SourceMap::default();
    sources.add(file, String::from_utf8_lossy(&bytes));
    let language = settings.language.or_else(|| Language::from_file_name(file));
    let language = language.ok_or("its language is not known")?;
    // The references are counts without claims.
    let (overflow, claim) = (Some(OverflowRule::Wraps), ClaimChoice::Omit);
    let options = Options { overflow, claim, ..Options::default() };
    Ok(TextModel::load(language, sources, options).map_err(|error| error.to_string())?.0)
}

/// Compares the searches of a model by lists of reductions. Returns its line, and whether all agree. Lists without an
/// applicable reduction are omitted, and lists with the same applicable reductions share a search.
fn compare_lists(settings: &Settings, file: &str) -> Result<(String, bool), Box<dyn Error>> {
    let mut model = load(settings, file)?;
    let checks = settings.checks;
    let whole = searched(settings, &model, &checks)?;
    let (mut line, mut agrees) = (format!("{} states", whole.states), true);
    let mut alone = BTreeSet::new();
    let mut known: BTreeMap<Vec<(String, Option<&str>)>, SearchResult> = BTreeMap::new();
    for list in &settings.lists {
        model.wished = wished(settings, list);
        let (used, depth, refused) = {
            let searched = model.searched();
            let stack = searched.stack();
            let refused: Vec<String> = stack.refusals().iter().map(|it| it.name.clone()).collect();
            let summaries = stack.summaries(&Default::default()).into_iter();
            let used: Vec<_> = summaries.map(|it| (it.name, it.proviso)).collect();
            (used, stack.preserves().has(PropertyClass::Depth), refused)
        };
        let name = list.join("+");
        if let [_] = list[..] {
            // This reduction alone does not apply to the model.
            alone.extend(refused.iter().cloned());
        }
        for refused in refused.iter().filter(|it| !alone.contains(*it)) {
            line += &format!("; {name}: {refused} refused");
        }
        if used.is_empty() {
            continue;
        }
        let reduced = match known.entry(used) {
            Entry::Occupied(same) => same.into_mut(),
            Entry::Vacant(new) => new.insert(searched(settings, &model, &checks)?),
        };
        let by_kind = list.iter().any(|it| it == "symmetry");
        let same = reduced.violations(by_kind, depth) == whole.violations(by_kind, depth);
        let word = if same { "" } else { " DIFFERS" };
        agrees &= same;
        line += &format!("; {name} {}{word}", reduced.states);
    }
    Ok((line, agrees))
}

/// Compares the searches of a model by methods. Returns its line, and whether all agree.
fn compare_methods(settings: &Settings, file: &str) -> Result<(String, bool), Box<dyn Error>> {
    let mut model = load(settings, file)?;
    let none = CheckSelection { deadlock: true, ..CheckSelection::NONE };
    let rounds: &[(&str, CheckSelection)] = match settings.deadlocks {
        true => &[("deadlocks", none)],
        false => &[("deadlocks", none), ("all", CheckSelection::default())],
    };
    let (mut line, mut agrees) = (String::new(), true);
    for (name, checks) in rounds {
        model = model.with_plan(ReductionPlan::default());
        let whole = searched(settings, &model, checks)?;
        if line.is_empty() {
            line = format!("{} states, {} transitions", whole.states, whole.transitions);
        }
        line += &format!("; {name}:");
        for strategy in settings.strategies(*name != "deadlocks") {
            model = model.with_plan(ReductionPlan::new(strategy.into(), *checks));
            let reduced = searched(settings, &model, checks)?;
            let same = reduced.violated.keys().eq(whole.violated.keys());
            let word = if same { "" } else { " DIFFERS" };
            agrees &= same;
            let (how, proviso) = (strategy.method.name(), strategy.proviso.name());
            line += &format!(" {how} {proviso} {}/{}{word}", reduced.states, reduced.transitions);
        }
    }
    Ok((line, agrees))
}

fn searched(
    settings: &Settings,
    model: &TextModel,
    checks: &CheckSelection,
) -> Result<SearchResult, Box<dyn Error>> {
    let check = Check::of_text(model).checks(*checks).memory(settings.memory << 20).keep_going();
    let found = check.run().map_err(|error| error.to_string())?;
    let outcome = found.outcome();
    let counts = |it: &Violation| checks.selects(&model.interp, *it);
    let found = outcome.findings.iter().map(|(check, found)| (check, found.level));
    let violated = found.filter(|(check, _)| counts(check)).collect();
    Ok(SearchResult {
        states: outcome.states(),
        transitions: outcome.counters.transitions,
        violated,
    })
}
