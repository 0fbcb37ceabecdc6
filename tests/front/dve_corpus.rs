//! Every model of the BEEM corpus parses and lowers.
//!
//! The corpus is not part of the project: `SPILLWAY_CORPUS` names a folder that contains `dve/*.dve`.

use spillway::front::{Options, dve};
use spillway::source::SourceMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn models(corpus: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(corpus.join("dve")).expect("SPILLWAY_CORPUS has no dve folder");
    let paths = folder.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut models: Vec<_> =
        paths.filter(|path| path.extension() == Some("dve".as_ref())).collect();
    models.sort();
    models
}

#[test]
fn every_model_of_the_corpus_lowers() {
    let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") else {
        return println!("skipped: SPILLWAY_CORPUS is not set");
    };
    let models = models(Path::new(&corpus));
    let (mut failed, mut warnings, mut slowest) = (0, 0, (Duration::ZERO, String::new()));
    for path in &models {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sources = SourceMap::default();
        sources.add(name.clone(), std::fs::read_to_string(path).expect("readable"));
        let start = Instant::now();
        let loaded = dve::LANGUAGE.load(&mut sources, &Options::default());
        slowest = slowest.max((start.elapsed(), name));
        let diagnostics = match loaded {
            Ok(loaded) => {
                warnings += loaded.warnings.len();
                loaded.warnings
            }
            Err(errors) => {
                failed += 1;
                errors
            }
        };
        diagnostics.iter().for_each(|diagnostic| println!("{}", diagnostic.render(&sources)));
    }
    println!("{} models, {failed} refused, {warnings} warnings", models.len());
    println!("slowest: {} in {:?}", slowest.1, slowest.0);
    assert!(!models.is_empty());
    assert_eq!(failed, 0);
}
