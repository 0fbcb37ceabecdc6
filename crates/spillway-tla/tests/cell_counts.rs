//! Searches over encoded states have the counts of the search over values, for every way of encoding. The models are
//! those of the folder `tla` of `SPILLWAY_CORPUS` with few states; `SPILLWAY_LARGE` takes more of them.

use spillway_base::source::SourceMap;
use spillway_tla::cell_search::{CellEncoding, CellSearch, SampleSize};
use spillway_tla::eval::{CompiledSpecification, MemorySearch, MemorySearchOptions};
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use std::path::{Path, PathBuf};

/// The encodings to compare. The second one has a sample that misses most values.
const ENCODINGS: [CellEncoding; 4] = [
    CellEncoding::Cells(SampleSize { breadth: 1000, walks: 5, steps: 50 }),
    CellEncoding::Cells(SampleSize { breadth: 3, walks: 0, steps: 0 }),
    CellEncoding::Escapes,
    CellEncoding::Numbers,
];

fn program(corpus: &Path, root: &str, config: &str) -> Option<CompiledSpecification> {
    let library = corpus.join("library");
    let (root, config) = (corpus.join(root), corpus.join(config));
    let search = SearchPath::new(&root, &[library.join("community"), library.join("tlapm")], None);
    let resolved = read_specification(&root, &config, &search, &mut SourceMap::default());
    resolved.ok().map(|it| CompiledSpecification::new(it.specification))
}

#[test]
fn every_encoding_has_the_counts_of_the_oracle() {
    let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let corpus = PathBuf::from(corpus).join("tla");
    let is_large = std::env::var_os("SPILLWAY_LARGE").is_some();
    let states_max = if is_large { 60_000 } else { 800 };
    let table = std::fs::read_to_string(corpus.join("reference.tsv")).unwrap();
    let mut compared = 0;
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        if cells[2].parse::<u64>().is_ok_and(|it| it > states_max) {
            continue;
        }
        let Some(program) = program(&corpus, cells[0], cells[1]) else { continue };
        let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
        let options = MemorySearchOptions { checks_deadlock, states_max: u64::MAX };
        let oracle = MemorySearch::run(&program, options);
        for encoding in ENCODINGS {
            let found = CellSearch::run(&program, encoding, checks_deadlock);
            assert_eq!(
                (found.distinct, found.generated, found.depth),
                (oracle.distinct, oracle.generated, oracle.depth),
                "{} by {encoding:?}: {:?}",
                cells[1],
                found.ending
            );
        }
        compared += 1;
    }
    assert!(compared >= 15, "only {compared} models can be read");
}
