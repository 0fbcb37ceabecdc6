//! Every module of the corpus is parsed and resolved, with every configuration. The corpus is in the folder `tla` of
//! `SPILLWAY_CORPUS`.

mod files;

use files::files_below;
use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use spillway_tla::modules::{SearchPath, load};
use spillway_tla::read_specification;
use spillway_tla::resolve::check;
use std::path::{Path, PathBuf};

fn corpus() -> Option<PathBuf> {
    std::env::var_os("SPILLWAY_CORPUS").map(|it| PathBuf::from(it).join("tla"))
}

#[test]
fn every_module_is_parsed() {
    let Some(corpus) = corpus() else { return };
    let files = files_below(&corpus, "tla");
    let mut failures = Vec::new();
    for path in &files {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let mut sources = SourceMap::default();
        let file = sources.add(path.display().to_string(), text);
        if let Err(error) = spillway_tla::syntax::parse(file, &sources.file(file).text) {
            failures.push(error.render(&sources).to_string());
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), files.len(), failures.join("\n"));
    assert!(!files.is_empty());
}

/// Returns the search path for a module of the corpus: its folder, then the libraries.
fn search(corpus: &Path, root: &Path) -> SearchPath {
    let library = corpus.join("library");
    SearchPath::new(root, &[library.join("community"), library.join("tlapm")], None)
}

fn rendered(errors: &[Diagnostic], sources: &SourceMap) -> String {
    let all: Vec<String> = errors.iter().map(|it| it.render(sources).to_string()).collect();
    all.join("\n")
}

/// Modules that need another version of a standard module, for example the Bags of a prover, which lacks CopiesIn.
const OTHER_MODULE_VERSIONS: [&str; 1] = ["BagsTheorems.tla"];

#[test]
fn every_module_is_resolved() {
    let Some(corpus) = corpus() else { return };
    let (mut failures, mut count) = (Vec::new(), 0);
    for path in files_below(&corpus, "tla") {
        let mut sources = SourceMap::default();
        let errors = match load(&path, &search(&corpus, &path), &mut sources) {
            Ok(set) => check(&set),
            Err(error) => vec![error],
        };
        count += 1;
        let is_other = OTHER_MODULE_VERSIONS.iter().any(|it| path.ends_with(it));
        if errors.is_empty() == is_other {
            failures.push(format!("{}\n{}", path.display(), rendered(&errors, &sources)));
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_configuration_is_resolved() {
    let Some(corpus) = corpus() else { return };
    let (mut failures, mut count) = (Vec::new(), 0);
    for table in ["reference.tsv", "verdicts.tsv"] {
        let Ok(table) = std::fs::read_to_string(corpus.join(table)) else { continue };
        for row in table.lines().skip(1) {
            let mut cells = row.split('\t').map(|it| corpus.join(it));
            let (root, config) = (cells.next().unwrap(), cells.next().unwrap());
            let mut sources = SourceMap::default();
            let found = read_specification(&root, &config, &search(&corpus, &root), &mut sources);
            count += 1;
            if let Err(errors) = found {
                let errors = rendered(&errors, &sources);
                failures.push(format!("{} {}\n{errors}", root.display(), config.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}
