//! Folders of models, ours and those of others.
#![allow(dead_code)]

use spillway::front::Language;
use std::path::{Path, PathBuf};

/// The models in a folder and the folders in it.
pub fn models_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let within = |entry: PathBuf| match entry.is_dir() {
        true => models_below(&entry),
        false => vec![entry],
    };
    let mut files: Vec<PathBuf> = entries.into_iter().flat_map(within).collect();
    files.retain(|file| Language::of_file(&file.to_string_lossy()).is_some());
    files
}

/// The text of a model, which may be older than UTF-8.
pub fn text_of(file: &Path) -> String {
    std::fs::read(file).unwrap().into_iter().map(char::from).collect()
}
