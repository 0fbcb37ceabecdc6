//! Compares the lengths of the shortest counterexamples with those that SPIN reports.
//!
//! ```sh
//! cargo run --release --example shortest -- FOLDER [--max-states N] [--only NAME]
//! ```
//!
//! `FOLDER` holds Promela models and a `reference.tsv` with the columns `file`, `states` and `shortest_error_depth`:
//! the depth of the first error that `pan`, compiled with `-DBFS`, finds. That is the number of SPIN's transitions
//! before the violating state, or before the assertion that fails.
//!
//! SPIN counts every statement of an `atomic` sequence and both sides of a rendezvous, and a `d_step` once. Spillway's
//! own steps are whole sequences. So the fewest of SPIN's transitions are computed here as the path of least weight,
//! and the fewest steps are shown after it. The exit code is 1 if any length differs.

use spillway::exec::Interp;
use spillway::front::promela::trail;
use spillway::front::{ClaimChoice, Options, promela};
use spillway::model::{StepDescription, StepOutcome, SystemDescription, Violation};
use spillway::source::SourceMap;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::process::ExitCode;

struct Reference {
    file: String,
    states: u64,
    depth: u64,
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (mut folder, mut only, mut max) = (String::new(), String::new(), 3_000_000);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--only" => only = args.next().unwrap_or_default(),
            "--max-states" => max = args.next().and_then(|it| it.parse().ok()).unwrap_or(max),
            _ => folder = arg,
        }
    }
    let table = match std::fs::read_to_string(Path::new(&folder).join("reference.tsv")) {
        Ok(table) => table,
        Err(error) => {
            eprintln!("error: the first argument is a folder with a reference.tsv: {error}");
            return ExitCode::from(2);
        }
    };
    let (mut compared, mut equal) = (0, 0);
    println!("{:<60} {:>6} {:>6} {:>6}", "model", "SPIN", "here", "steps");
    for it in references(&table).filter(|it| it.states <= max && it.file.contains(&only)) {
        compared += 1;
        match shortest(&Path::new(&folder).join(&it.file)) {
            Ok((transitions, steps)) => {
                let same = transitions == Some(it.depth);
                equal += u64::from(same);
                let word = if same { "" } else { " DIFFERS" };
                let show = |it: Option<u64>| it.map_or("none".to_owned(), |it| it.to_string());
                let (ours, steps) = (show(transitions), show(steps));
                println!("{:<60} {:>6} {ours:>6} {steps:>6}{word}", it.file, it.depth);
            }
            Err(message) => println!("{:<60} {:>6} DIFFERS: {message}", it.file, it.depth),
        }
    }
    println!("{compared} models, {equal} equal, {} different", compared - equal);
    ExitCode::from(u8::from(equal < compared))
}

fn references(table: &str) -> impl Iterator<Item = Reference> {
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    lines.filter_map(move |line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let column = |name: &str| {
            let at = header.iter().position(|column| *column == name)?;
            fields.get(at)?.parse().ok()
        };
        let file = fields.first()?.to_string();
        Some(Reference { file, states: column("states")?, depth: column("shortest_error_depth")? })
    })
}

/// Returns the fewest of SPIN's transitions before an error, and the fewest steps.
fn shortest(path: &Path) -> Result<(Option<u64>, Option<u64>), String> {
    let text = std::fs::read(path).map_err(|error| error.to_string())?;
    let mut sources = SourceMap::default();
    sources.add(path.display().to_string(), String::from_utf8_lossy(&text));
    let options = Options { claim: ClaimChoice::Omit, ..Options::default() };
    let loaded = promela::LANGUAGE
        .load(&mut sources, &options)
        .map_err(|found| found[0].render(&sources).to_string())?;
    let model = Interp::new(loaded.program).map_err(|it| it.render(&sources).to_string())?;
    let numbers = trail::number_transitions(&mut sources, &options)
        .map_err(|it| it.render(&sources).to_string())?;
    let transitions = |step: &StepDescription| -> u64 {
        let known = |action: u32| numbers.actions.get(action as usize).is_some_and(Option::is_some);
        step.actions.iter().filter(|it| known(it.action)).count() as u64
    };
    Ok((least_weight(&model, transitions), least_weight(&model, |_| 1)))
}

/// Returns the least weight of the steps before an error. The failing transition is not counted.
fn least_weight(model: &Interp, weight: impl Fn(&StepDescription) -> u64) -> Option<u64> {
    let mut known: HashMap<Vec<u8>, u64> = HashMap::new();
    // The states to visit, by distance from the start.
    let mut open: VecDeque<Vec<Vec<u8>>> = VecDeque::from([Vec::new()]);
    for step in model.starts() {
        match step.outcome {
            StepOutcome::Successor(state) => {
                known.insert(state.clone(), 0);
                open[0].push(state);
            }
            StepOutcome::Fault(_) => return Some(0),
        }
    }
    let (mut distance, mut best) = (0, None::<u64>);
    while let Some(states) = open.pop_front() {
        if best.is_some_and(|best| best <= distance) {
            break;
        }
        for state in &states {
            if known[state] < distance {
                continue;
            }
            let mut error = |at: u64| best = Some(best.map_or(at, |best| best.min(at)));
            if model.violations(state).contains(&Violation::Deadlock) {
                error(distance);
            }
            for step in model.steps(state) {
                let weight = weight(&step);
                let next = match &step.outcome {
                    StepOutcome::Fault(_) => {
                        error(distance + weight.saturating_sub(1));
                        continue;
                    }
                    StepOutcome::Successor(next) => next,
                };
                let there = known.entry(next.clone()).or_insert(u64::MAX);
                if distance + weight < *there {
                    *there = distance + weight;
                    let ahead = weight.saturating_sub(1) as usize;
                    open.resize(open.len().max(ahead + 1), Vec::new());
                    open[ahead].push(next.clone());
                }
            }
        }
        distance += 1;
    }
    best
}
