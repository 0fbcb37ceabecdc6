//! Each specification in `tests/semantics` against the first line of its configuration: the counts and the ending that
//! TLC has with one worker.

use spillway_base::source::SourceMap;
use spillway_tla::eval::{
    CompiledSpecification, Evaluator, FailedCheck, GeneratedStates, MemorySearch,
    MemorySearchOptions, SearchEnding,
};
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use spillway_tla::value::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/semantics")
}

/// A loaded specification with its sources.
struct LoadedSpecification {
    program: CompiledSpecification,
    sources: SourceMap,
}

fn load(name: &str) -> LoadedSpecification {
    let root = folder().join(name).with_extension("tla");
    let mut sources = SourceMap::default();
    let search = SearchPath::new(&root, &[], None);
    let resolved = read_specification(&root, &root.with_extension("cfg"), &search, &mut sources);
    let resolved = resolved.unwrap_or_else(|errors| {
        let errors: Vec<String> = errors.iter().map(|it| it.render(&sources).to_string()).collect();
        panic!("{name}: {}", errors.join("\n"))
    });
    LoadedSpecification { program: CompiledSpecification::new(resolved.specification), sources }
}

fn search(program: &CompiledSpecification) -> MemorySearch {
    let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
    MemorySearch::run(program, MemorySearchOptions { checks_deadlock, states_max: 10_000 })
}

fn ending(loaded: &LoadedSpecification, ending: &SearchEnding) -> String {
    match ending {
        SearchEnding::Complete => "complete".to_owned(),
        SearchEnding::LimitReached => "too many states".to_owned(),
        SearchEnding::Deadlock => "deadlock".to_owned(),
        SearchEnding::Postcondition(index) => format!("postcondition {}", index + 1),
        SearchEnding::Assumption(index) => format!("assumption {}", index + 1),
        SearchEnding::Violation(FailedCheck::Invariant(index)) => {
            format!("invariant {}", index + 1)
        }
        SearchEnding::Violation(FailedCheck::Property { property, .. }) => {
            format!("property {}", property + 1)
        }
        SearchEnding::Failure(failure) => {
            let place = failure.place.expect("a failure has a place");
            let span = loaded.program.specification[place].span;
            format!("{} in {}", failure.text(&loaded.program.symbols), loaded.sources.text(span))
        }
    }
}

#[test]
fn counts_and_endings_equal_those_of_tlc() {
    let mut failures = Vec::new();
    let mut count = 0;
    let mut files: Vec<_> =
        std::fs::read_dir(folder()).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    for config in files.iter().filter(|it| it.extension().is_some_and(|it| it == "cfg")) {
        let name = config.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(config).unwrap();
        let expected = text.lines().next().unwrap().trim_start_matches("\\* ").to_owned();
        let loaded = load(name);
        let found = search(&loaded.program);
        let ending = ending(&loaded, &found.ending);
        let found = format!("{} generated, {} distinct: {ending}", found.generated, found.distinct);
        if found != expected {
            failures.push(format!("{name}: {found}\n  expected: {expected}"));
        }
        count += 1;
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count >= 43, "{count} specifications");
}

#[test]
fn action_texts_have_their_parameters() {
    let loaded = load("Symmetric");
    let mut evaluator = Evaluator::new(&loaded.program);
    let initial = evaluator.initial_states().unwrap();
    evaluator.keep_parameters(true);
    let mut successors = Default::default();
    evaluator.successors(&initial.values, &mut successors).unwrap();
    let names: Vec<String> =
        successors.actions.iter().map(|it| evaluator.action_text(it)).collect();
    assert_eq!(names, ["Next(p: p1)", "Next(p: p2)", "Next(p: p3)"]);
}

#[test]
fn a_counterexample_starts_in_an_initial_state_and_ends_with_the_violation() {
    let loaded = load("StepProperty");
    let found = search(&loaded.program);
    let shown: Vec<String> =
        found.trace.iter().map(|it| it[0].text(&loaded.program.symbols).to_string()).collect();
    assert_eq!(shown, ["0", "1", "2", "3", "0"]);
}

/// TLC's order is that of its dump of states.
#[test]
fn successors_are_generated_in_the_order_of_tlc() {
    let loaded = load("SuccessorOrder");
    let mut evaluator = Evaluator::new(&loaded.program);
    let initial = evaluator.initial_states().unwrap();
    let mut successors = GeneratedStates::default();
    evaluator.successors(&initial.values, &mut successors).unwrap();
    let text = |it: &Value| it.text(&loaded.program.symbols).to_string();
    let values = successors.values.chunks(2).map(|it| (text(&it[0]), text(&it[1])));
    let values: Vec<(String, String)> = values.collect();
    let expected = std::fs::read_to_string(folder().join("SuccessorOrder.txt")).unwrap();
    let mut failures = Vec::new();
    for line in expected.lines() {
        let (kind, order) = line.split_once(": ").unwrap();
        let mut found: Vec<&str> = Vec::new();
        for (_, value) in values.iter().filter(|it| it.0 == kind) {
            if !found.contains(&value.as_str()) {
                found.push(value);
            }
        }
        if found.join(" ; ") != order {
            failures.push(format!("{kind}: {}\n  expected: {order}", found.join(" ; ")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
