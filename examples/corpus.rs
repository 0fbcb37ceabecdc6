//! Compares Spillway's counts with reference counts over a folder of models.
//!
//! ```sh
//! cargo run --release --example corpus -- FOLDER [--max-states N] [--memory MIB] [--threads N]
//!                                         [--oracle] [--wrap] [--only NAME] [--min-states N]
//!                                         [--order declared|static|sampled] [--skip NAME]
//!                                         [--interp] [--language NAME] [--slots N]
//!                                         [--symmetry exact|fast|off] [--no-deadlock]
//! ```
//!
//! `FOLDER` holds the models and a `reference.tsv` with the columns `file`, `states`, `transitions`,
//! `deadlock_states`, `bfs_levels` and `errors`. An empty or absent value is unknown. For Murphi the columns are
//! `cmurphi_states`, `cmurphi_rules_fired` and `cmurphi_verdict`, or Rumur's if CMurphi has none. With `--symmetry
//! exact` the counts are those of `cmurphi_canonical_*`; with `fast` the states may be fewer than
//! `cmurphi_sym3_states`. If the verdict is an error, both tools stop early, and only the verdict is compared.
//!
//! The file extension selects the language, unless `--language` does. Every model whose reference has at most
//! `--max-states` states (default 3,000,000) is explored completely. The output is one line for each model, then a
//! total. `--memory 0` takes the least budget that works. The exit code is 1 if any count differs.
//!
//! `--order` chooses the key order. Each line then also shows the size of all states as one sorted run, in bytes for
//! each state and as a share of the packed states. It also shows the share of the time that the order took. `--interp`
//! runs the models in the interpreter instead of compiling them.

use spill::{
    Codec, Disk, KeyMerge, KeySource, MeteredDisk, RealDisk, SegmentSource, SegmentWriter,
};
use spillway::analysis::static_key_order::static_order;
use spillway::exec::{ExecutionMode, Executor, Interp};
use spillway::front::{ClaimChoice, Language, Options, dve};
use spillway::ir::OverflowRule;
use spillway::model::{StateSpace, memory};
use spillway::reduce::symmetry::{SymmetryEffort, SymmetryModel};
use spillway::search::key_order::order_from_sample;
use spillway::search::{
    CheckSelection, ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchOutcome,
    SearchResources, SearchVerdict, return_large_blocks,
};
use spillway::source::SourceMap;
use std::collections::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

struct Settings {
    folder: PathBuf,
    max_states: u64,
    min_states: u64,
    memory: u64,
    threads: usize,
    oracle: bool,
    overflow: OverflowRule,
    only: Option<String>,
    skip: Option<String>,
    order: Option<String>,
    exec: ExecutionMode,
    symmetry: Option<SymmetryEffort>,
    deadlock: bool,
    language: Option<&'static Language>,
    slots: Option<u32>,
}

/// The result for a model.
struct ExploredModel {
    outcome: SearchOutcome,
    /// The size of the store, if requested.
    store: String,
}

/// A row of the reference.
#[derive(Default)]
struct Reference {
    file: String,
    /// The approximate number of states. It is compared if `whole`.
    states: u64,
    /// Whether the counts are those of the whole state space.
    whole: bool,
    /// Whether fewer states are also correct.
    at_most: bool,
    transitions: Option<u64>,
    deadlocks: Option<u64>,
    levels: Option<u64>,
    verified: Option<bool>,
    /// The number of violations of any kind, as SPIN counts them.
    errors: Option<u64>,
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
    let (mut compared, mut equal, mut states, mut transitions) = (0, 0, 0, 0);
    let begun = Instant::now();
    for reference in references(&settings) {
        let started = Instant::now();
        let (line, agrees) = match explore(&settings, &reference) {
            Ok(ExploredModel { outcome, store }) => {
                states += outcome.states();
                transitions += outcome.counters.transitions;
                let (line, agrees) = compare(&reference, &outcome);
                (line + &store, agrees)
            }
            Err(error) => (error.to_string(), false),
        };
        compared += 1;
        equal += usize::from(agrees);
        let word = if agrees { "equal" } else { "DIFFERS" };
        let seconds = started.elapsed().as_secs_f64();
        println!("{:<26} {word:<8} {line} {seconds:.2}s", reference.file);
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{compared} models, {equal} equal, {} different; {states} states, {transitions} \
         transitions, {seconds:.0}s",
        compared - equal
    );
    ExitCode::from(u8::from(equal < compared))
}

fn settings(mut args: impl Iterator<Item = String>) -> Result<Settings, Box<dyn Error>> {
    let mut settings = Settings {
        folder: PathBuf::new(),
        max_states: 3_000_000,
        min_states: 0,
        memory: 1024,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        oracle: false,
        overflow: OverflowRule::Fails,
        only: None,
        skip: None,
        order: None,
        exec: ExecutionMode::Jit,
        symmetry: None,
        deadlock: true,
        language: None,
        slots: None,
    };
    while let Some(arg) = args.next() {
        let mut number = || -> Result<u64, Box<dyn Error>> {
            let value = args.next().ok_or(format!("{arg} needs a number"))?;
            value.parse().map_err(|_| format!("{arg}: `{value}` is not a number").into())
        };
        match arg.as_str() {
            "--max-states" => settings.max_states = number()?,
            "--min-states" => settings.min_states = number()?,
            "--memory" => settings.memory = number()?,
            "--threads" => settings.threads = number()? as usize,
            "--oracle" => settings.oracle = true,
            "--no-deadlock" => settings.deadlock = false,
            "--interp" => settings.exec = ExecutionMode::Interp,
            "--wrap" => settings.overflow = OverflowRule::Wraps,
            "--only" => settings.only = args.next(),
            "--skip" => settings.skip = args.next(),
            "--order" => settings.order = args.next(),
            "--slots" => settings.slots = Some(number()? as u32),
            "--language" => {
                let name = args.next().unwrap_or_default();
                let language = Language::from_name(&name);
                settings.language = Some(language.ok_or(format!("unknown language `{name}`"))?);
            }
            "--symmetry" => {
                settings.symmetry = match args.next().as_deref() {
                    Some("exact") => Some(SymmetryEffort::Exact),
                    Some("fast") => Some(SymmetryEffort::Fast),
                    _ => None,
                }
            }
            _ => settings.folder = PathBuf::from(arg),
        }
    }
    match settings.folder.join("reference.tsv").is_file() {
        true => Ok(settings),
        false => Err("the first argument is a folder with a reference.tsv".into()),
    }
}

fn references(settings: &Settings) -> Vec<Reference> {
    let table = std::fs::read_to_string(settings.folder.join("reference.tsv")).unwrap_or_default();
    let columns: Vec<&str> = table.lines().next().unwrap_or_default().split('\t').collect();
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let fields: HashMap<&str, &str> =
                columns.iter().copied().zip(line.split('\t')).collect();
            match columns.contains(&"cmurphi_states") {
                true => murphi_reference(&fields, settings.symmetry),
                false => dve_reference(&fields),
            }
        })
        .filter(|it| (settings.min_states..=settings.max_states).contains(&it.states))
        .filter(|it| settings.skip.as_ref().is_none_or(|skip| !it.file.contains(skip.as_str())))
        .filter(|it| settings.only.as_ref().is_none_or(|only| it.file.contains(only.as_str())))
        .collect()
}

fn number(fields: &HashMap<&str, &str>, column: &str) -> Option<u64> {
    fields.get(column)?.parse().ok()
}

fn dve_reference(fields: &HashMap<&str, &str>) -> Option<Reference> {
    Some(Reference {
        file: fields.get("file")?.to_string(),
        states: number(fields, "states")?,
        whole: true,
        transitions: number(fields, "transitions"),
        deadlocks: number(fields, "deadlock_states"),
        levels: number(fields, "bfs_levels"),
        errors: number(fields, "errors"),
        ..Reference::default()
    })
}

fn murphi_reference(
    fields: &HashMap<&str, &str>,
    symmetry: Option<SymmetryEffort>,
) -> Option<Reference> {
    let verdict = |tool: &str| {
        let verdict = fields.get(format!("{tool}_verdict").as_str())?;
        match *verdict {
            "" | "None" => None,
            verdict => Some(verdict == "ok"),
        }
    };
    let verified = verdict("cmurphi").or_else(|| verdict("rumur"));
    let columns: &[&str] = match symmetry {
        None => &["cmurphi", "rumur"],
        Some(SymmetryEffort::Exact) => &["cmurphi_canonical"],
        Some(SymmetryEffort::Fast) => &["cmurphi_sym3"],
    };
    let whole = verified != Some(false);
    let has_states = |column: &&&str| number(fields, &format!("{column}_states")).is_some();
    let column = match columns.iter().find(has_states) {
        Some(column) => column,
        // If the tool ended with an error and without counts, only the verdict is compared.
        None if verdict("cmurphi") == Some(false) && fields.get("cmurphi_states") == Some(&"") => {
            columns[0]
        }
        None => return None,
    };
    let fired = number(fields, &format!("{column}_rules_fired"));
    Some(Reference {
        file: fields.get("file")?.to_string(),
        states: number(fields, &format!("{column}_states")).unwrap_or_default(),
        whole,
        at_most: symmetry == Some(SymmetryEffort::Fast),
        transitions: fired.filter(|_| whole && symmetry != Some(SymmetryEffort::Fast)),
        verified,
        ..Reference::default()
    })
}

fn explore(settings: &Settings, reference: &Reference) -> Result<ExploredModel, Box<dyn Error>> {
    let in_folder = settings.folder.join(&reference.file);
    let in_parent = settings.folder.join("..").join(&reference.file);
    let path = if in_folder.is_file() { in_folder } else { in_parent };
    let model = load(&path, settings)?;
    let began = Instant::now();
    let interp = with_key_order(model, settings.order.as_deref())?;
    let ordering = began.elapsed().as_secs_f64();
    let checks = CheckSelection { deadlock: settings.deadlock, ..CheckSelection::default() };
    let limits =
        SearchLimits { checks, stop_on_violation: !reference.whole, ..SearchLimits::default() };
    let executor = Executor::new(&interp, settings.exec);
    let symmetric = settings.symmetry.and_then(|effort| {
        SymmetryModel::new(executor.model(), interp.program(), interp.layout(), effort)
    });
    let model: &dyn StateSpace = match &symmetric {
        Some(symmetric) => symmetric,
        None => executor.model(),
    };
    if settings.oracle {
        return Ok(ExploredModel {
            outcome: memory::search(model, &limits).map_err(|error| error.to_string())?,
            store: String::new(),
        });
    }
    let base = MemoryPlan::resident();
    let plan = |memory| MemoryPlan::new(memory, base, settings.threads, model.width());
    let plan = match settings.memory {
        0 => plan(0).or_else(|error| plan(error.minimum)),
        mib => plan(mib << 20),
    }
    .map_err(|error| error.to_string())?;
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let control = SearchControl::default();
    let search = || -> spill::Result<ExploredModel> {
        let real: Arc<dyn Disk> = Arc::new(RealDisk::open(dir.path())?);
        let disk = Arc::new(MeteredDisk::new(real, None)?);
        let resources = SearchResources { disk: disk.clone(), plan, control: &control };
        let mut search = ExternalSearch::begin(model, resources, limits)?;
        let outcome = search.run()?;
        let share = 100.0 * ordering / (ordering + search.seconds());
        let store = match settings.order.is_some() {
            false => String::new(),
            true => {
                store(model, &*disk, &search)? + &format!(", order {ordering:.3}s {share:.1}%,")
            }
        };
        Ok(ExploredModel { outcome, store })
    };
    search().map_err(|error| error.to_string().into())
}

/// Returns the model with the named key order.
fn with_key_order(model: Interp, order: Option<&str>) -> Result<Interp, Box<dyn Error>> {
    let fixed = static_order(model.program(), model.layout());
    let order = match order {
        None | Some("declared") => return Ok(model),
        Some("static") => fixed,
        Some("sampled") => {
            match order_from_sample(
                &model,
                &model.layout().key_groups(),
                &fixed,
                &SearchControl::default(),
            )
            .map_err(|error| error.to_string())?
            {
                Some(better) => better.order,
                None => return Ok(model),
            }
        }
        Some(other) => return Err(format!("there is no key order `{other}`").into()),
    };
    model.with_order(&order).map_err(|error| error.to_string().into())
}

/// Returns the size of all states as one sorted run.
fn store(
    model: &dyn StateSpace,
    disk: &dyn Disk,
    search: &ExternalSearch,
) -> spill::Result<String> {
    let levels = search.store().levels().saved();
    let mut sources: Vec<Box<dyn KeySource>> = Vec::new();
    let format = spill::LevelFormat { width: model.width(), value_bytes: 0, codec: &Codec::Gaps };
    for level in 0..levels.len() {
        for segment in levels.open(disk, format, level)? {
            sources.push(Box::new(SegmentSource::new(segment, None, None)));
        }
    }
    let mut file = disk.create("all")?;
    let mut writer = SegmentWriter::new(model.width(), &mut *file);
    let mut merge = KeyMerge::new(model.width(), sources);
    let mut batch = Vec::new();
    loop {
        merge.next(&mut batch, 4096)?;
        if batch.is_empty() {
            break;
        }
        writer.push(&batch)?;
    }
    let at = writer.finish()?;
    let bytes = at.length as f64 / at.keys as f64;
    let share = 100.0 * bytes / (f64::from(model.bits()) / 8.0);
    Ok(format!(", {bytes:.3} B/state, {share:.2}% of {} bits", model.bits()))
}

fn load(path: &Path, settings: &Settings) -> Result<Interp, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut sources = SourceMap::default();
    sources.add(path.display().to_string(), String::from_utf8_lossy(&bytes));
    let overflow = Some(settings.overflow);
    // The references are counts without claims.
    let claim = ClaimChoice::Omit;
    let options = Options { overflow, slots: settings.slots, claim, ..Options::default() };
    let by_name = Language::from_file_name(&path.to_string_lossy());
    let language = settings.language.or(by_name).unwrap_or(&dve::LANGUAGE);
    let loaded = language.load(&mut sources, &options).map_err(|diagnostics| {
        diagnostics.iter().map(|it| it.render(&sources).to_string()).collect::<Vec<_>>().join("\n")
    })?;
    Interp::new(loaded.program).map_err(|diagnostic| diagnostic.render(&sources).to_string().into())
}

/// Returns the results. The reference's number follows each result that differs.
fn compare(reference: &Reference, outcome: &SearchOutcome) -> (String, bool) {
    let mut agrees = true;
    let mut field = |name: &str, ours: u64, theirs: Option<u64>| match theirs {
        Some(theirs) if theirs != ours => {
            agrees = false;
            format!("{name} {ours} (reference {theirs})")
        }
        _ => format!("{name} {ours}"),
    };
    let faults: u64 = outcome
        .findings
        .iter()
        .filter(|(check, _)| matches!(check, spillway::model::Violation::Fault(..)))
        .map(|(_, finding)| finding.count)
        .sum();
    // SPIN counts arrivals at states, so the initial state counts once more.
    let arrivals = outcome.counters.transitions + u64::from(reference.errors.is_some());
    let fewer = reference.at_most && outcome.states() <= reference.states;
    let states = Some(reference.states).filter(|_| reference.whole && !fewer);
    let line = [
        field("states", outcome.states(), states),
        field("transitions", arrivals, reference.transitions),
        field("errors", outcome.deadlocks() + faults, reference.errors),
        field("deadlocks", outcome.deadlocks(), reference.deadlocks),
        field("levels", outcome.levels.len() as u64, reference.levels),
    ]
    .join(", ");
    let line = match reference.verified {
        Some(verified) if verified != (outcome.verdict == SearchVerdict::Verified) => {
            agrees = false;
            format!("{line}, {} (reference not)", outcome.verdict.name())
        }
        _ => format!("{line}, {}", outcome.verdict.name()),
    };
    let errors = if faults > 0 { format!(", {faults} run-time errors") } else { String::new() };
    (line + &errors, agrees)
}
