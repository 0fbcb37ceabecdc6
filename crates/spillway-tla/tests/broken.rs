//! Broken modules and configurations. Each has a file with the first message: the position, the problem, the remedy.

use spillway_base::diag::Diagnostic;
use spillway_base::source::SourceMap;
use spillway_tla::modules::{SearchPath, load};
use spillway_tla::read_specification;
use spillway_tla::resolve::check;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken")
}

fn modules() -> Vec<PathBuf> {
    let (mut modules, mut open) = (Vec::new(), vec![folder()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => open.push(path),
                Some(ending) if ending == "tla" => modules.push(path),
                _ => {}
            }
        }
    }
    modules.sort();
    modules
}

/// Reads a module, with its configuration if it has one. Returns the first message.
fn message(path: &Path) -> String {
    let (mut sources, config) = (SourceMap::default(), path.with_extension("cfg"));
    let search = SearchPath::new(path, &[], None);
    let errors: Vec<Diagnostic> = match config.exists() {
        true => read_specification(path, &config, &search, &mut sources).err().unwrap_or_default(),
        false => match load(path, &search, &mut sources) {
            Ok(set) => check(&set),
            Err(error) => vec![error],
        },
    };
    let Some(first) = errors.first() else { return "no message".to_owned() };
    let place = sources.locate(first.span).unwrap_or_default();
    let help = first.help.as_deref().unwrap_or("no remedy");
    let shown = format!("{place}: {}\nhelp: {help}\n", first.message);
    shown
        .replace(&format!("{}/", path.parent().unwrap().display()), "")
        .replace(&path.parent().unwrap().display().to_string(), "FOLDER")
}

#[test]
fn each_broken_module_has_its_message() {
    let (modules, mut failures) = (modules(), Vec::new());
    for path in &modules {
        let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        let found = message(path);
        if found != expected {
            let name = path.strip_prefix(folder()).unwrap().display();
            failures.push(format!("{name}\nfound:\n{found}expected:\n{expected}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        modules.len(),
        failures.join("\n")
    );
    assert!(modules.len() >= 40);
}
