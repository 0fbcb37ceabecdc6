//! The models of a corpus against TLC's counts. The variable `SPILLWAY_CORPUS` names the folder of the corpus. Without
//! it the test is skipped. Models of more than 10,000 generated states need `SPILLWAY_LARGE`.

use spillway_base::source::SourceMap;
use spillway_tla::eval::{CompiledSpecification, MemorySearch, MemorySearchOptions, SearchEnding};
use spillway_tla::modules::SearchPath;
use spillway_tla::read_specification;
use std::path::{Path, PathBuf};

/// A row of the table of the corpus.
struct Model {
    module: PathBuf,
    config: PathBuf,
    distinct: u64,
    generated: u64,
}

fn corpus() -> Option<PathBuf> {
    Some(Path::new(&std::env::var_os("SPILLWAY_CORPUS")?).join("tla"))
}

fn models(corpus: &Path) -> Vec<Model> {
    let table = std::fs::read_to_string(corpus.join("reference.tsv")).unwrap();
    let rows = table.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        Model {
            module: corpus.join(cells[0]),
            config: corpus.join(cells[1]),
            distinct: cells[2].parse().unwrap(),
            generated: cells[3].parse().unwrap(),
        }
    });
    rows.collect()
}

/// Searches a model. Returns the difference from the table, if there is one.
fn difference(corpus: &Path, model: &Model) -> Option<String> {
    let name = model.config.display();
    let libraries = ["community", "tlapm"].map(|it| corpus.join("library").join(it));
    let search = SearchPath::new(&model.module, &libraries, None);
    let mut sources = SourceMap::default();
    let resolved = match read_specification(&model.module, &model.config, &search, &mut sources) {
        Ok(resolved) => resolved,
        Err(errors) => return Some(format!("{name}: {}", errors[0].render(&sources))),
    };
    let program = CompiledSpecification::new(resolved.specification);
    let checks_deadlock = program.specification.checks.check_deadlock.unwrap_or(true);
    let options = MemorySearchOptions { checks_deadlock, states_max: u64::MAX };
    let found = MemorySearch::run(&program, options);
    let is_equal = matches!(found.ending, SearchEnding::Complete)
        && (found.distinct, found.generated) == (model.distinct, model.generated);
    (!is_equal).then(|| {
        format!(
            "{name}: {} distinct, {} generated, {:?}; expected {} and {}",
            found.distinct, found.generated, found.ending, model.distinct, model.generated
        )
    })
}

#[test]
fn counts_equal_those_of_tlc() {
    let Some(corpus) = corpus() else { return };
    let limit = if std::env::var_os("SPILLWAY_LARGE").is_some() { u64::MAX } else { 10_000 };
    let models = models(&corpus);
    let chosen = models.iter().filter(|it| it.generated <= limit);
    let different: Vec<String> = chosen.filter_map(|it| difference(&corpus, it)).collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
}
