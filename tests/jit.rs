//! Compiled code does what the interpreter does: the same successors in the same order, by the same
//! actions, and the same errors at the same places, on random reachable states of every model we
//! ship, and with `SPILLWAY_CORPUS` of every model there.

mod support;

use spillway::exec::Interp;
use spillway::exec::{Jit, Model};
use spillway::front::{self, Language, Options};
use spillway::ir::Overflow;
use spillway::source::Sources;
use std::path::{Path, PathBuf};
use support::agree::{assert_agree, assert_agree_in_any_order, random_states};

/// The folders of languages.
const LANGUAGES: [&str; 3] = ["dve", "murphi", "promela"];

/// Random states of each model.
const STATES: usize = 10_000;

/// The models in a folder and the folders in it.
fn models(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let within = |entry: PathBuf| match entry.is_dir() {
        true => models(&entry),
        false => vec![entry],
    };
    let mut files: Vec<PathBuf> = entries.into_iter().flat_map(within).collect();
    files.retain(|file| Language::of_file(&file.to_string_lossy()).is_some());
    files
}

/// Ready to run; or not, if the front end refuses it, as it may models of others.
fn interpreter(file: &Path, overflow: Overflow) -> Option<Interp> {
    let mut sources = Sources::default();
    let text = std::fs::read(file).unwrap();
    let text: String = text.iter().map(|&byte| char::from(byte)).collect();
    sources.add(file.display().to_string(), text);
    let options = Options { overflow: Some(overflow), ..Options::default() };
    let language = Language::of_file(&file.to_string_lossy()).unwrap();
    let loaded = front::load(language, &mut sources, &options).ok()?;
    Interp::new(loaded.program).ok()
}

fn compare_all(folder: &Path) {
    let files = models(folder);
    assert!(!files.is_empty());
    for file in files {
        for overflow in [Overflow::Fails, Overflow::Wraps] {
            let name = format!("{} ({overflow:?})", file.display());
            let Some(interp) = interpreter(&file, overflow) else {
                assert!(!folder.starts_with(env!("CARGO_MANIFEST_DIR")), "{name} is refused");
                println!("{name}: refused");
                continue;
            };
            let states = random_states(&interp, STATES, 1);
            match Jit::new(&interp) {
                Ok(jit) => {
                    let compiled = jit.compiled();
                    match Language::of_file(&file.to_string_lossy()) {
                        Some(Language::Promela) => {
                            assert_agree_in_any_order(&name, &interp, &jit, &states);
                        }
                        _ => {
                            assert_eq!(compiled.interpreted, 0, "{name}: everything is compiled");
                            assert_agree(&name, &interp, &jit, &states);
                        }
                    }
                    println!("{name}: {compiled:?}, {} bits", Model::bits(&interp));
                }
                Err(refused) => println!("{name}: interpreted, as {refused}"),
            }
        }
    }
}

#[test]
fn compiled_models_agree_with_the_interpreter() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    LANGUAGES.iter().for_each(|language| compare_all(&models.join(language)));
}

#[test]
fn compiled_models_of_the_corpus_agree_with_the_interpreter() {
    match std::env::var_os("SPILLWAY_CORPUS") {
        None => println!("skipped: SPILLWAY_CORPUS is not set"),
        Some(corpus) => {
            LANGUAGES.iter().for_each(|language| compare_all(&Path::new(&corpus).join(language)));
        }
    }
}
