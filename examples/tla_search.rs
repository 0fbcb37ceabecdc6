//! Searches a TLA+ specification on disk, exactly, in a fixed memory budget.
//!
//! ```console
//! $ cargo run --release --example tla_search -- MC.tla MC.cfg --memory 64 --threads 2 --dir DIR
//! ```
//!
//! `--memory` is in MiB. A run in a directory in which the same search stopped resumes it. `--states N` stops after the
//! level that reaches N states. The last line has TLC's counts.

use spillway::diag::Diagnostic;
use spillway::source::SourceMap;
use spillway::{Check, SearchVerdict};
use spillway_tla::eval::Program;
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use spillway_tla::system::SpecificationSystem;
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit codes of `spillway check`: a violation, a mistake, a search that is not complete.
const VIOLATED: u8 = 1;
const WRONG: u8 = 2;
const INCOMPLETE: u8 = 3;

/// The flags.
struct Arguments {
    root: PathBuf,
    config: PathBuf,
    libraries: Vec<PathBuf>,
    dir: Option<PathBuf>,
    memory: u64,
    threads: Option<u16>,
    states_max: Option<u64>,
}

fn arguments() -> Option<Arguments> {
    let mut paths = Vec::new();
    let (mut libraries, mut dir, mut memory) = (Vec::new(), None, 1024);
    let (mut threads, mut states_max) = (None, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--library" => libraries.push(PathBuf::from(words.next()?)),
            "--dir" => dir = Some(PathBuf::from(words.next()?)),
            "--memory" => memory = words.next()?.parse().ok()?,
            "--threads" => threads = Some(words.next()?.parse().ok()?),
            "--states" => states_max = Some(words.next()?.parse().ok()?),
            _ => paths.push(PathBuf::from(word)),
        }
    }
    let mut paths = paths.into_iter();
    let root = paths.next()?;
    let config = paths.next().unwrap_or_else(|| root.with_extension("cfg"));
    Some(Arguments { root, config, libraries, dir, memory, threads, states_max })
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!(
            "usage: tla_search ROOT.tla [CONFIG.cfg] [--library DIR] [--dir DIR] [--memory MIB] [--threads N] \
             [--states N]"
        );
        return ExitCode::from(WRONG);
    };
    let mut sources = SourceMap::default();
    let search = SearchPath::new(&arguments.root, &arguments.libraries, None);
    let resolved = read_specification(&arguments.root, &arguments.config, &search, &mut sources);
    match resolved {
        Ok(resolved) => {
            print_diagnostics(&resolved.warnings, &sources);
            let program = Program::new(resolved.specification);
            let system = SpecificationSystem::new(program, &sources);
            ExitCode::from(check(&system, &arguments))
        }
        Err(errors) => {
            print_diagnostics(&errors, &sources);
            ExitCode::from(WRONG)
        }
    }
}

fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) {
    diagnostics.iter().for_each(|it| eprintln!("{}", it.render(sources)));
}

fn check(system: &SpecificationSystem, arguments: &Arguments) -> u8 {
    match system.false_assumption() {
        Ok(None) => {}
        Ok(Some(index)) => {
            println!("VIOLATED: assumption {} is false", index + 1);
            return VIOLATED;
        }
        Err(failure) => {
            println!("VIOLATED: {}", failure.text(&system.program().symbols));
            return VIOLATED;
        }
    }
    for name in system.unchecked() {
        println!("NOT checked: {name}");
    }
    let mut check = Check::of_model(system).memory(arguments.memory << 20);
    if let Some(threads) = arguments.threads {
        check = check.threads(threads);
    }
    if let Some(dir) = &arguments.dir {
        check = check.dir(dir);
    }
    if let Some(states) = arguments.states_max {
        check = check.max_states(states);
    }
    match check.run() {
        Ok(found) => {
            print!("{found}");
            let counters = found.outcome().counters;
            println!(
                "{} steps generated, {} distinct states found",
                counters.transitions,
                found.states()
            );
            match found.verdict() {
                SearchVerdict::Verified => 0,
                SearchVerdict::Violated => VIOLATED,
                SearchVerdict::Incomplete => INCOMPLETE,
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            WRONG
        }
    }
}
