//! Files of other folders that tests read.

use std::path::{Path, PathBuf};

/// Returns the files with an extension in a folder and its subfolders, sorted.
pub fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
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
