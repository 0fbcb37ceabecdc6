//! Models of other people, if `SPILLWAY_CORPUS` names a folder with some in `murphi`: every one is
//! read, valid, and printed; and walks through each give the same by both ways of asking.

use spillway::exec::{Expansion, Interp, Model, Outcome};
use spillway::front::{self, Language, Options};
use spillway::ir::{text, validate::validate};
use spillway::source::Sources;
use std::path::{Path, PathBuf};

/// Steps of a walk.
const STEPS: usize = 100;

#[test]
fn models_of_others_are_read() {
    let Some(folder) = std::env::var_os("SPILLWAY_CORPUS") else { return };
    let mut files = Vec::new();
    find(&PathBuf::from(folder).join("murphi"), &mut files);
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let mut sources = Sources::default();
        sources.add(file.display().to_string(), String::from_utf8_lossy(&bytes));
        let loaded = front::load(Language::Murphi, &mut sources, &Options::default())
            .unwrap_or_else(|errors| panic!("{}", errors[0].render(&sources)));
        assert_eq!(validate(&loaded.program).map_err(|problems| format!("{problems:?}")), Ok(()));
        assert!(!text::print(&loaded.program).to_string().is_empty());
        walk(&Interp::new(loaded.program).unwrap());
    }
    println!("{} models", files.len());
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => find(&path, files),
            false if path.extension().is_some_and(|ending| ending == "m") => files.push(path),
            false => {}
        }
    }
    files.sort();
}

fn walk(model: &Interp) {
    let mut options = model.starts();
    for at in 0..STEPS {
        let successors: Vec<Vec<u8>> = options
            .drain(..)
            .filter_map(|step| match step.outcome {
                Outcome::Successor(state) => Some(state),
                Outcome::Fault(_) => None,
            })
            .collect();
        let Some(state) = successors.get(at * 7 % successors.len().max(1)) else { return };
        let mut buffer = Vec::new();
        let run = |out: &mut Expansion| model.expand(state, out);
        let _ = Expansion::collect(model.width(), &mut buffer, run).unwrap();
        options = model.steps(state);
        let stepped: Vec<u8> = options
            .iter()
            .filter_map(|step| match &step.outcome {
                Outcome::Successor(state) => Some(state.as_slice()),
                Outcome::Fault(_) => None,
            })
            .flatten()
            .copied()
            .collect();
        assert_eq!(buffer, stepped);
    }
}
