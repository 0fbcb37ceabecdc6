//! Searches TLA+ specifications in memory over encoded states, next to the search over values, and prints what the
//! encoding needs.
//!
//! ```console
//! $ cargo run --release -p spillway-tla --example tla_cells -- [--library DIR] [--numbers] MC.tla MC.cfg ...
//! ```

use spillway_base::source::SourceMap;
use spillway_tla::cell_search::{CellEncoding, CellSearch, SampleSize, sample_states};
use spillway_tla::cells::{CellLayout, EncodedState};
use spillway_tla::eval::{
    CompiledSpecification, Evaluator, GeneratedStates, MemorySearch, MemorySearchOptions,
};
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use spillway_tla::value::Value;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let (mut libraries, mut files, mut compares_numbers) = (Vec::new(), Vec::new(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--library" => libraries.extend(words.next().map(PathBuf::from)),
            "--numbers" => compares_numbers = true,
            _ => files.push(PathBuf::from(word)),
        }
    }
    if files.is_empty() || !files.len().is_multiple_of(2) {
        eprintln!("usage: tla_cells [--library DIR] [--numbers] MC.tla MC.cfg ...");
        return ExitCode::from(2);
    }
    let mut all_equal = true;
    for pair in files.chunks(2) {
        match load(&pair[0], &pair[1], &libraries) {
            Ok(program) => all_equal &= compare(&pair[1], &program, compares_numbers),
            Err(error) => {
                eprintln!("{error}");
                all_equal = false;
            }
        }
    }
    if all_equal { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn load(
    root: &Path,
    config: &Path,
    libraries: &[PathBuf],
) -> Result<CompiledSpecification, String> {
    let mut sources = SourceMap::default();
    let search = SearchPath::new(root, libraries, None);
    let resolved = read_specification(root, config, &search, &mut sources);
    let resolved = resolved.map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(|it| it.render(&sources).to_string()).collect();
        texts.join("\n")
    })?;
    Ok(CompiledSpecification::new(resolved.specification))
}

/// Returns whether the counts are those of the search over values.
fn compare(config: &Path, program: &CompiledSpecification, compares_numbers: bool) -> bool {
    let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
    let start = Instant::now();
    let options = MemorySearchOptions { checks_deadlock, states_max: u64::MAX };
    let oracle = MemorySearch::run(program, options);
    let oracle_ns = start.elapsed().as_nanos() as u64 / oracle.generated.max(1);
    let mut encodings = vec![("cells", CellEncoding::Cells(SampleSize::default()))];
    if compares_numbers {
        encodings.push(("numbers", CellEncoding::Numbers));
        encodings.push(("escapes", CellEncoding::Escapes));
    }
    let mut all_equal = true;
    for (name, encoding) in encodings {
        let start = Instant::now();
        let found = CellSearch::run(program, encoding, checks_deadlock);
        let ns = start.elapsed().as_nanos() as u64 / found.generated.max(1);
        let is_equal = (found.distinct, found.generated, found.depth)
            == (oracle.distinct, oracle.generated, oracle.depth);
        all_equal &= is_equal;
        let it = found.encoding;
        println!(
            "{} {name}: {} distinct, {} generated ({}); {} bytes a key, {} bits vary; {} set aside, {} values, \
             {} escaped, {} KiB of dictionaries; {ns} ns a generated state ({oracle_ns} over values)",
            config.display(),
            found.distinct,
            found.generated,
            if is_equal { "equal" } else { "DIFFERENT" },
            it.width,
            it.varying_bits,
            it.set_aside,
            it.dictionary_values,
            it.escaped_values,
            it.dictionary_memory / 1024,
        );
        if !is_equal {
            println!(
                "  over values: {} distinct, {} generated; depths {} and {}; {:?}",
                oracle.distinct, oracle.generated, found.depth, oracle.depth, found.ending
            );
        }
    }
    measure(program);
    all_equal
}

/// Returns the nanoseconds of the fastest of several rounds: the machine may be busy.
fn time(run: &mut dyn FnMut()) -> usize {
    let round = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_nanos() as usize
    };
    (0..20).map(round).min().unwrap_or(0)
}

/// Prints the time to encode and to decode a state.
fn measure(program: &CompiledSpecification) {
    let sample = sample_states(program, SampleSize::default());
    let layout = CellLayout::from_sample(program.variable_count(), &sample);
    let mut dictionaries = layout.dictionaries();
    let mut evaluator = Evaluator::new(program);
    let mut key = vec![0; layout.width()];
    // The states as a search has them: decoded, with successors by the evaluator.
    let mut steps: Vec<(Vec<Value>, Vec<u8>, Vec<Value>)> = Vec::new();
    let mut all = sample.clone();
    for state in &sample {
        let mut generated = GeneratedStates::default();
        if evaluator.successors(state, &mut generated).is_ok() {
            all.extend(generated.values.chunks(state.len()).map(<[Value]>::to_vec));
        }
    }
    if layout.number(&all, &program.symbols, &mut dictionaries).is_err() {
        return;
    }
    for state in sample.iter().take(2000) {
        if layout.encode(state, &dictionaries, &mut key).is_err() {
            continue;
        }
        let Ok(state) = layout.decode(&key, &dictionaries) else { continue };
        let mut generated = GeneratedStates::default();
        if evaluator.successors(&state, &mut generated).is_ok() {
            steps.push((state, key.clone(), generated.values));
        }
    }
    let width = program.variable_count();
    let successors: usize = steps.iter().map(|it| it.2.len() / width).sum();
    let whole = time(&mut || {
        for successor in steps.iter().flat_map(|it| it.2.chunks(width)) {
            let _ = black_box(layout.encode(successor, &dictionaries, &mut key));
        }
    });
    let mut key = vec![0; layout.width()];
    let changed = time(&mut || {
        for (state, before, successors) in &steps {
            let before = EncodedState { values: state, key: before };
            for successor in successors.chunks(width) {
                let _ =
                    black_box(layout.encode_successor(successor, before, &dictionaries, &mut key));
            }
        }
    });
    let decoded = time(&mut || {
        for (_, key, _) in &steps {
            let _ = black_box(layout.decode(key, &dictionaries));
        }
    });
    println!(
        "  {} ns to encode a successor, {} ns with its predecessor, {} ns to decode a state; bits of cells: {:?}",
        whole / successors.max(1),
        changed / successors.max(1),
        decoded / steps.len().max(1),
        layout.cell_bits().collect::<Vec<_>>(),
    );
}
