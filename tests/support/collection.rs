//! Collections of models: those of the project, and an external corpus.
#![allow(dead_code)]

use spillway::front::{ClaimChoice, Language, Options};
use spillway::ir::OverflowRule;
use spillway::session::TextModel;
use spillway::source::SourceMap;
use std::path::{Path, PathBuf};

/// Returns the models that are programs in a folder and its subfolders.
pub fn find_models(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let within = |entry: PathBuf| match entry.is_dir() {
        true => find_models(&entry),
        false => vec![entry],
    };
    let mut files: Vec<PathBuf> = entries.into_iter().flat_map(within).collect();
    let language = |file: &PathBuf| Language::from_file_name(&file.to_string_lossy());
    files.retain(|file| language(file).is_some_and(Language::has_programs));
    files
}

/// Returns the text of a model, which may be in an encoding older than UTF-8.
pub fn text_of(file: &Path) -> String {
    std::fs::read(file).unwrap().into_iter().map(char::from).collect()
}

/// Returns the models, with their file names, in folders of the corpus that load with these options. If no corpus is
/// configured, prints so and returns none.
pub fn corpus_models(
    folders: &'static [&'static str],
    options: Options,
) -> impl Iterator<Item = (String, TextModel)> {
    let corpus = std::env::var_os("SPILLWAY_CORPUS");
    if corpus.is_none() {
        println!("skipped: SPILLWAY_CORPUS is not set");
    }
    let below =
        |corpus| folders.iter().flat_map(move |it| find_models(&Path::new(&corpus).join(it)));
    corpus.into_iter().flat_map(below).filter_map(move |file| {
        let name = file.to_string_lossy().into_owned();
        let mut sources = SourceMap::default();
        sources.add(&*name, text_of(&file));
        let language = Language::from_file_name(&name).unwrap();
        let (model, _) = TextModel::load(language, sources, options.clone()).ok()?;
        Some((name, model))
    })
}

/// Returns the options under which the references of the corpus count: values wrap, and claims are omitted.
pub fn reference_options() -> Options {
    let (overflow, claim) = (Some(OverflowRule::Wraps), ClaimChoice::Omit);
    Options { overflow, claim, ..Options::default() }
}
