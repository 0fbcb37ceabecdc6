//! Every module of the corpus is parsed. The corpus is in the folder `tla` of `SPILLWAY_CORPUS`.

use spillway_base::source::SourceMap;
use std::path::{Path, PathBuf};

/// The files with an ending below a folder, in order.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn corpus() -> Option<PathBuf> {
    std::env::var_os("SPILLWAY_CORPUS").map(|it| PathBuf::from(it).join("tla"))
}

#[test]
fn every_module_is_parsed() {
    let Some(corpus) = corpus() else { return };
    let files = files_below(&corpus, "tla");
    let mut wrong = Vec::new();
    for path in &files {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let mut sources = SourceMap::default();
        let file = sources.add(path.display().to_string(), text);
        if let Err(error) = spillway_tla::syntax::parse(file, &sources.file(file).text) {
            wrong.push(error.render(&sources).to_string());
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    assert!(!files.is_empty());
}
