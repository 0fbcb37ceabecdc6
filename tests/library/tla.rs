//! TLA+ specifications on disk: every one of `models/tla` has TLC's counts and verdict (`counts.tsv`).

use super::alone;
use spillway::model::Violation;
use spillway::source::SourceMap;
use spillway::tla::eval::{Evaluator, MemorySearch, MemorySearchOptions, Program, SearchEnding};
use spillway::tla::modules::SearchPath;
use spillway::tla::system::SpecificationSystem;
use spillway::tla::{config, modules, resolve};
use spillway::{Check, CheckConfig, SearchVerdict, SpecificationModel};
use std::path::Path;

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

/// The counts of the mailboxes.
fn mailboxes() -> ExpectedCounts {
    let found = expected_searches().into_iter().find(|it| it.model == "mailboxes");
    match found.map(|it| it.result) {
        Some(ExpectedResult::Verified(counts)) => counts,
        _ => panic!("the table has the mailboxes"),
    }
}

fn configuration() -> String {
    configuration_of("mailboxes")
}

fn configuration_of(model: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{model}.cfg"))).unwrap()
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tla")
}

/// The mailboxes with a configuration.
fn program(configuration: &str) -> (Program, SourceMap) {
    program_of("mailboxes", configuration)
}

fn program_of(model: &str, configuration: &str) -> (Program, SourceMap) {
    let root = folder().join(format!("{model}.tla"));
    let mut sources = SourceMap::default();
    let file = sources.add(format!("{model}.cfg"), configuration);
    let config = config::parse(file, configuration).expect("a configuration");
    let search = SearchPath::new(&root, &[], None);
    let set = modules::load(&root, &search, &mut sources).expect("modules");
    let request = resolve::Request { set: &set, config: &config, formulas: &[], sources: &sources };
    let resolved = resolve::resolve(request).expect("a specification");
    (Program::new(resolved.specification), sources)
}

fn system(configuration: &str) -> SpecificationSystem {
    let (program, sources) = program(configuration);
    SpecificationSystem::new(program, &sources, &[]).expect("no symmetry")
}

/// Searches in memory, without cells.
fn oracle(program: &Program) -> MemorySearch {
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
    let _alone = alone();
    for ExpectedSearch { model, result } in expected_searches() {
        let (program, sources) = program_of(&model, &configuration_of(&model));
        let oracle = oracle(&program);
        let system = SpecificationSystem::new(program, &sources, &[]).expect("no symmetry");
        assert_eq!(system.unchecked(), [], "{model}");
        let found = Check::of_model(&system).run().unwrap();
        let outcome = found.outcome();
        match result {
            ExpectedResult::Verified(ExpectedCounts { distinct, generated, levels }) => {
                assert_eq!((oracle.distinct, oracle.generated), (distinct, generated), "{model}");
                assert_eq!(found.verdict(), SearchVerdict::Verified, "{model}: {found}");
                // The search does not count initial states that are generated twice.
                let initial = outcome.levels[0];
                assert_eq!(found.states(), distinct, "{model}");
                assert_eq!(outcome.counters.transitions + initial, generated, "{model}");
                assert_eq!(outcome.levels.len(), levels, "{model}");
            }
            ExpectedResult::Violated { check, steps } => {
                assert!(!matches!(oracle.ending, SearchEnding::Complete), "{model}");
                assert_eq!(oracle.trace.len() as u64, steps + 1, "{model}");
                let told = found.to_string();
                assert!(told.contains(&check), "{model}: {told}");
                let (violation, finding) = outcome.findings.iter().next().expect("a finding");
                assert_eq!(violation == Violation::Deadlock, check == "deadlock", "{model}");
                assert_eq!(finding.level, steps, "{model}");
            }
        }
    }
}

#[test]
fn a_specification_has_the_counts_of_tlc_with_any_number_of_threads() {
    let _alone = alone();
    let expected = mailboxes();
    for threads in [1, 2] {
        let system = system(&configuration());
        let found = Check::of_model(&system).threads(threads).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Verified);
        let outcome = found.outcome();
        assert_eq!((found.states(), outcome.levels.len()), (expected.distinct, expected.levels));
        assert_eq!(outcome.counters.transitions + 1, expected.generated);
    }
}

#[test]
fn a_specification_goes_on_after_each_stop() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let expected = mailboxes();
    let (mut most, mut stops) = (1, 0);
    loop {
        // Each session reads the dictionaries from the directory.
        let system = system(&configuration());
        let check = Check::of_model(&system).dir(dir.path()).max_states(most);
        let found = check.run().unwrap();
        if found.verdict() == SearchVerdict::Verified {
            assert_eq!(found.states(), expected.distinct);
            assert_eq!(found.outcome().counters.transitions + 1, expected.generated);
            break;
        }
        (most, stops) = (2 * found.states(), stops + 1);
    }
    assert!(stops > 5, "{stops} stops");
}

#[test]
fn a_violated_invariant_has_a_shortest_trace_in_the_words_of_the_specification() {
    let _alone = alone();
    let system = system(&configuration().replace("InOrder", "InOrder NeverAll"));
    let found = Check::of_model(&system).run().unwrap();
    assert_eq!(found.verdict(), SearchVerdict::Violated);
    let told = found.to_string();
    // Four letters are sent, and one peer reads them.
    assert!(told.contains("after    8 steps (shortest)"), "{told}");
    assert!(told.contains("Send (p: ") && told.contains("Read (p: "), "{told}");
    assert!(told.contains("[from |-> "), "{told}");
}

/// The most distinct states of a model that is searched, and with `SPILLWAY_LARGE`.
const DISTINCT_MAX: [u64; 2] = [20_000, 2_000_000];

/// Every model of `SPILLWAY_CORPUS` with TLC's counts: distinct states, and states generated.
#[test]
fn models_of_the_corpus_have_the_counts_of_tlc() {
    let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") else {
        return println!("skipped: SPILLWAY_CORPUS is not set");
    };
    let folder = Path::new(&corpus).join("tla");
    let reference = std::fs::read_to_string(folder.join("reference.tsv")).unwrap();
    let most = DISTINCT_MAX[usize::from(std::env::var_os("SPILLWAY_LARGE").is_some())];
    let (mut equal, mut wrong) = (0, Vec::new());
    for row in reference.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [module, configuration, distinct, generated, ..] = fields[..] else {
            panic!("a row has too few fields: {row}")
        };
        let [distinct, generated]: [u64; 2] = [distinct, generated].map(|it| it.parse().unwrap());
        let text = std::fs::read_to_string(folder.join(configuration)).unwrap();
        if text.lines().any(|line| line.trim().starts_with("VIEW")) {
            println!("{configuration}: left out: VIEW is not applied");
            continue;
        }
        if distinct > most {
            println!("{configuration}: left out: {distinct} states");
            continue;
        }
        let mut config = CheckConfig::default();
        config.model.configuration = Some(folder.join(configuration));
        config.model.libraries =
            ["community", "tlapm"].map(|it| folder.join("library").join(it)).to_vec();
        config.limits.memory = 512 << 20;
        let found = counts(&folder.join(module), config);
        match found == Ok((distinct, generated)) {
            true => equal += 1,
            false => wrong.push(format!("{configuration}: {distinct}, {generated}: {found:?}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{equal} models are equal");
}

/// Returns the distinct and the generated states of a specification. An error is told as text.
fn counts(root: &Path, config: CheckConfig) -> Result<(u64, u64), String> {
    let model = SpecificationModel::open(root, &config).map_err(|it| it.to_string())?.0;
    let program = model.system().program();
    let initial = Evaluator::new(program).initial_states();
    let initial = initial.map_err(|it| it.text(&program.symbols))?.values.len();
    let initial = (initial / program.variable_count()) as u64;
    let found =
        Check::of_specification(&model).config(config).run().map_err(|it| it.to_string())?;
    match found.verdict() {
        SearchVerdict::Verified => {
            Ok((found.states(), initial + found.outcome().counters.transitions))
        }
        _ => Err(found.to_string()),
    }
}
