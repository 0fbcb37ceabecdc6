//! Our TLA+ specifications: each of `models/tla` has TLC's counts and verdict (`models/tla/counts.tsv`).

use super::exclusive_search;
use spillway::model::Violation;
use spillway::source::SourceMap;
use spillway::tla::eval::{CompiledSpecification, MemorySearch, MemorySearchOptions, SearchEnding};
use spillway::tla::modules::SearchPath;
use spillway::tla::read_specification;
use spillway::tla::system::SpecificationSystem;
use spillway::{Check, SearchVerdict};
use std::path::{Path, PathBuf};

/// A row of the table of specifications.
struct ExpectedSearch {
    model: String,
    result: ExpectedResult,
}

/// What TLC finds in a specification.
enum ExpectedResult {
    Verified(ExpectedCounts),
    /// The name of the violated invariant, or `deadlock`, and the number of steps to it.
    Violated {
        check: String,
        steps: u64,
    },
}

/// TLC's counts of a whole search.
struct ExpectedCounts {
    distinct: u64,
    generated: u64,
    levels: usize,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tla")
}

/// Reads the table of specifications.
fn expected_searches() -> Vec<ExpectedSearch> {
    let table = std::fs::read_to_string(folder().join("counts.tsv")).unwrap();
    table.lines().filter(|it| !it.starts_with('#')).skip(1).map(expected_search).collect()
}

fn expected_search(row: &str) -> ExpectedSearch {
    let fields: Vec<&str> = row.split('\t').collect();
    let [model, distinct, generated, levels, verdict, steps] = fields[..] else {
        panic!("a row of six fields: {row}")
    };
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a number in {row}"));
    let result = match verdict {
        "verified" => ExpectedResult::Verified(ExpectedCounts {
            distinct: number(distinct),
            generated: number(generated),
            levels: number(levels) as usize,
        }),
        check => ExpectedResult::Violated { check: check.to_owned(), steps: number(steps) },
    };
    ExpectedSearch { model: model.to_owned(), result }
}

/// Reads a specification of the table.
pub(crate) fn program_of(model: &str) -> (CompiledSpecification, SourceMap) {
    let root = folder().join(format!("{model}.tla"));
    let mut sources = SourceMap::default();
    let search = SearchPath::new(&root, &[], None);
    let resolved = read_specification(&root, &root.with_extension("cfg"), &search, &mut sources);
    let resolved = resolved.unwrap_or_else(|it| panic!("{model}: {}", it[0].render(&sources)));
    (CompiledSpecification::new(resolved.specification), sources)
}

/// Searches in memory, without cells.
fn oracle(program: &CompiledSpecification) -> MemorySearch {
    let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
    MemorySearch::run(program, MemorySearchOptions { checks_deadlock, states_max: u64::MAX })
}

#[test]
fn the_table_has_every_specification() {
    let mut models: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|it| Some(it.unwrap().file_name().to_str()?.strip_suffix(".tla")?.to_owned()))
        .collect();
    models.sort();
    let listed: Vec<String> = expected_searches().into_iter().map(|it| it.model).collect();
    assert_eq!(listed, models);
}

#[test]
fn every_specification_has_the_result_of_tlc() {
    let _exclusive = exclusive_search();
    for ExpectedSearch { model, result } in expected_searches() {
        let (program, sources) = program_of(&model);
        let oracle = oracle(&program);
        let system = SpecificationSystem::new(program, &sources, &[]).expect("no symmetry");
        assert_eq!(system.unchecked(), [], "{model}");
        let found = Check::of_model(&system).run().unwrap();
        let outcome = found.outcome();
        match result {
            ExpectedResult::Verified(ExpectedCounts { distinct, generated, levels }) => {
                assert_eq!((oracle.distinct, oracle.generated), (distinct, generated), "{model}");
                assert_eq!(found.verdict(), SearchVerdict::Verified, "{model}: {found}");
                assert_eq!((found.states(), outcome.levels.len()), (distinct, levels), "{model}");
                // No initial state of these models is generated twice.
                let initial = outcome.levels[0];
                assert_eq!(outcome.counters.transitions + initial, generated, "{model}");
            }
            ExpectedResult::Violated { check, steps } => {
                assert!(!matches!(oracle.ending, SearchEnding::Complete), "{model}");
                assert_eq!(oracle.trace.len() as u64, steps + 1, "{model}");
                let report = found.to_string();
                assert!(report.contains(&check), "{model}: {report}");
                let (violation, finding) = outcome.findings.iter().next().expect("a finding");
                assert_eq!(violation == Violation::Deadlock, check == "deadlock", "{model}");
                assert_eq!(finding.level, steps, "{model}");
            }
        }
    }
}
