//! TLA+ specifications on disk. TLC (of 2026) finds 8,312 distinct states and generates 26,545, in 13 levels.

use super::exclusive_search;
use spillway::source::SourceMap;
use spillway::tla::eval::{CompiledSpecification, MemorySearch, MemorySearchOptions};
use spillway::tla::modules::SearchPath;
use spillway::tla::system::SpecificationSystem;
use spillway::tla::{config, modules, resolve};
use spillway::{Check, CheckConfig, SearchVerdict, SpecificationModel};
use std::path::Path;

const DISTINCT: u64 = 8312;
const STEPS: u64 = 26_544;
const LEVELS: usize = 13;

fn configuration() -> String {
    std::fs::read_to_string(folder().join("mailboxes.cfg")).unwrap()
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tla")
}

/// The mailboxes specification with a configuration.
fn program(configuration: &str) -> (CompiledSpecification, SourceMap) {
    let root = folder().join("mailboxes.tla");
    let mut sources = SourceMap::default();
    let file = sources.add("mailboxes.cfg", configuration);
    let config = config::parse(file, configuration).expect("a configuration");
    let search = SearchPath::new(&root, &[], None);
    let set = modules::load(&root, &search, &mut sources).expect("modules");
    let request = resolve::Request { set: &set, config: &config, formulas: &[], sources: &sources };
    let resolved = resolve::resolve(request).expect("a specification");
    (CompiledSpecification::new(resolved.specification), sources)
}

fn system(configuration: &str) -> SpecificationSystem {
    let (program, sources) = program(configuration);
    SpecificationSystem::new(program, &sources, &[]).expect("no symmetry")
}

#[test]
fn a_specification_has_the_counts_of_tlc() {
    let _exclusive = exclusive_search();
    let options = MemorySearchOptions { checks_deadlock: false, states_max: u64::MAX };
    let oracle = MemorySearch::run(&program(&configuration()).0, options);
    assert_eq!((oracle.distinct, oracle.generated), (DISTINCT, STEPS + 1));
    for threads in [1, 2] {
        let system = system(&configuration());
        let found = Check::of_model(&system).threads(threads).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Verified);
        let outcome = found.outcome();
        assert_eq!((found.states(), outcome.levels.len()), (DISTINCT, LEVELS));
        assert_eq!((outcome.counters.transitions, outcome.generated()), (STEPS, STEPS + 1));
    }
}

#[test]
fn a_specification_resumes_after_each_stop() {
    let _exclusive = exclusive_search();
    let dir = tempfile::tempdir().unwrap();
    let (mut most, mut stops) = (1, 0);
    loop {
        // Each session reads the dictionaries from the directory.
        let system = system(&configuration());
        let check = Check::of_model(&system).dir(dir.path()).max_states(most);
        let found = check.run().unwrap();
        if found.verdict() == SearchVerdict::Verified {
            assert_eq!(found.states(), DISTINCT);
            assert_eq!(found.outcome().generated(), STEPS + 1);
            break;
        }
        (most, stops) = (2 * found.states(), stops + 1);
    }
    assert!(stops > 5, "{stops} stops");
}

#[test]
fn a_violated_invariant_has_a_shortest_trace_with_names_of_the_specification() {
    let _exclusive = exclusive_search();
    let system = system(&configuration().replace("InOrder", "InOrder NeverAll"));
    let found = Check::of_model(&system).run().unwrap();
    assert_eq!(found.verdict(), SearchVerdict::Violated);
    let text = found.to_string();
    // Four letters are sent, and one peer reads them.
    assert!(text.contains("after    8 steps (shortest)"), "{text}");
    assert!(text.contains("Send (p: ") && text.contains("Read (p: "), "{text}");
    assert!(text.contains("[from |-> "), "{text}");
}

/// The most distinct states of a model that is searched; the second number is for `SPILLWAY_LARGE`.
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

/// The numbers of distinct and generated states of a specification, or the error as text.
fn counts(root: &Path, config: CheckConfig) -> Result<(u64, u64), String> {
    let model = SpecificationModel::open(root, &config).map_err(|it| it.to_string())?.0;
    let found =
        Check::of_specification(&model).config(config).run().map_err(|it| it.to_string())?;
    match found.verdict() {
        SearchVerdict::Verified => Ok((found.states(), found.outcome().generated())),
        _ => Err(found.to_string()),
    }
}
