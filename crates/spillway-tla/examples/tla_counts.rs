//! Searches a TLA+ specification in memory and prints its counts, in the form of TLC's.
//!
//! ```console
//! $ cargo run --release -p spillway-tla --example tla_counts -- MC.tla MC.cfg [--library DIR] [--states N]
//! ```

use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use spillway_tla::eval::{
    CompiledSpecification, Evaluator, FailedCheck, MemorySearch, MemorySearchOptions, SearchEnding,
};
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use spillway_tla::standard::Failure;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// What the command line says.
struct Arguments {
    root: PathBuf,
    config: PathBuf,
    libraries: Vec<PathBuf>,
    states_max: u64,
    shows_trace: bool,
}

fn arguments() -> Option<Arguments> {
    let mut paths = Vec::new();
    let (mut libraries, mut states_max, mut shows_trace) = (Vec::new(), u64::MAX, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--library" => libraries.push(PathBuf::from(words.next()?)),
            "--states" => states_max = words.next()?.parse().ok()?,
            "--trace" => shows_trace = true,
            _ => paths.push(PathBuf::from(word)),
        }
    }
    let mut paths = paths.into_iter();
    let root = paths.next()?;
    let config = paths.next().unwrap_or_else(|| root.with_extension("cfg"));
    Some(Arguments { root, config, libraries, states_max, shows_trace })
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("usage: tla_counts ROOT.tla [CONFIG.cfg] [--library DIR] [--states N] [--trace]");
        return ExitCode::from(2);
    };
    let mut sources = SourceMap::default();
    let search = SearchPath::new(&arguments.root, &arguments.libraries, None);
    let resolved = read_specification(&arguments.root, &arguments.config, &search, &mut sources);
    match resolved {
        Ok(resolved) => {
            print_diagnostics(&resolved.warnings, &sources);
            explore(&arguments, &CompiledSpecification::new(resolved.specification), &sources)
        }
        Err(errors) => {
            print_diagnostics(&errors, &sources);
            ExitCode::from(2)
        }
    }
}

fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) {
    for it in diagnostics {
        eprintln!("{}", it.render(sources));
    }
}

fn explore(
    arguments: &Arguments,
    program: &CompiledSpecification,
    sources: &SourceMap,
) -> ExitCode {
    let checks = &program.specification.checks;
    let options = MemorySearchOptions {
        checks_deadlock: checks.check_deadlock.unwrap_or(true),
        states_max: arguments.states_max,
    };
    let start = Instant::now();
    let found = MemorySearch::run(program, options);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} states generated, {} distinct states found, depth {}, {:.3} s, {:.0} ns per generated state",
        found.generated,
        found.distinct,
        found.depth,
        seconds,
        seconds * 1e9 / found.generated.max(1) as f64,
    );
    println!("{}", ending_text(program, &found.ending, sources));
    if arguments.shows_trace {
        print_trace(program, &found);
    }
    match found.ending {
        SearchEnding::Complete => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn ending_text(
    program: &CompiledSpecification,
    ending: &SearchEnding,
    sources: &SourceMap,
) -> String {
    let checks = &program.specification.checks;
    match ending {
        SearchEnding::Complete => "complete".to_owned(),
        SearchEnding::LimitReached => "the limit of states is reached".to_owned(),
        SearchEnding::Assumption(index) => format!("assumption {} is false", index + 1),
        SearchEnding::Deadlock => "deadlock".to_owned(),
        SearchEnding::Postcondition(index) => format!("postcondition {} is false", index + 1),
        SearchEnding::Violation(FailedCheck::Invariant(index)) => {
            let definition = checks.invariants[*index];
            format!("violated: invariant {}", program.specification[definition].name)
        }
        SearchEnding::Violation(FailedCheck::Property { property, .. }) => {
            format!("violated: property {}", checks.properties[*property].name)
        }
        SearchEnding::Failure(failure) => failure_text(program, failure, sources),
    }
}

fn failure_text(program: &CompiledSpecification, failure: &Failure, sources: &SourceMap) -> String {
    let mut text = format!("failed: {}", failure.text(&program.symbols));
    for place in failure.place.iter().chain(&failure.calls) {
        let span = program.specification[*place].span;
        if let Some(place) = sources.locate(span) {
            text.push_str(&format!("\n  {place}: {}", sources.text(span).replace('\n', " ")));
        }
    }
    text
}

fn print_trace(program: &CompiledSpecification, found: &MemorySearch) {
    let mut evaluator = Evaluator::new(program);
    let actions = evaluator.explain(&found.trace);
    for (at, state) in found.trace.iter().enumerate() {
        let action = at.checked_sub(1).and_then(|at| actions.get(at)).cloned().flatten();
        println!("State {}: {}", at + 1, action.unwrap_or_default());
        for (variable, value) in state.iter().enumerate() {
            println!("  {} = {}", program.variable_name(variable), value.text(&program.symbols));
        }
    }
}
