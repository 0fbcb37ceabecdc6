//! The code agrees with the documents: dependencies between folders, places of `unsafe`, existence of named files,
//! dependencies between modules, lengths of files and functions, and the contents of the book.

#[path = "tidy/book.rs"]
mod book;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/sizes.rs"]
mod sizes;

use spillway::front::{LANGUAGES, Language};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Dependencies: pairs of packages, or of folders (or files) directly below a crate's `src/`.
type Arrows = BTreeSet<(String, String)>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file below a folder, with its path from the root, and its text.
fn sources(folder: &str) -> Vec<(String, String)> {
    files_below(folder, "rs")
}

/// Every file with an ending below a folder, with its path from the root, and its text.
fn files_below(folder: &str, ending: &str) -> Vec<(String, String)> {
    let (mut files, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == ending) {
                let name = path.strip_prefix(root()).unwrap().display().to_string();
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// The folders with the code of each crate: `src`, `spill/src` and those below `crates`.
fn code_folders() -> Vec<String> {
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let names = crates.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut folders: Vec<String> = names.map(|name| format!("crates/{name}/src")).collect();
    folders.extend(["src", "spill/src"].map(str::to_string));
    folders.sort();
    folders
}

/// Every Rust file of the crates, without tests, with its path from the root, and its text.
fn all_sources() -> Vec<(String, String)> {
    code_folders().iter().flat_map(|folder| sources(folder)).collect()
}

/// The code of a file, without its test module and comments.
fn code(name: &str, text: &str) -> String {
    if name.ends_with("/tests.rs") {
        return String::new();
    }
    let own = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = own.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names after each `prefix`, in braces or alone, as in `use crate::{a, b::c}`.
fn named_after<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let word = |text: &'t str| {
        let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
        &text[..end]
    };
    let mut names = Vec::new();
    for rest in text.split(prefix).skip(1) {
        match rest.strip_prefix('{') {
            None => names.push(word(rest)),
            Some(list) => {
                let (mut depth, mut start) = (0, true);
                for (at, it) in list.char_indices() {
                    match it {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        it if start && it.is_alphabetic() => {
                            names.push(word(&list[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

/// The dependencies of the code of some files below `root`. `spill` is a crate.
fn arrows_of(root: &str, files: &[(String, String)]) -> Arrows {
    let below = |name: &str| {
        let rest = name.strip_prefix(root).unwrap_or(name);
        rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs").to_string()
    };
    let mut arrows = Arrows::new();
    for (name, text) in files {
        let (from, code) = (below(name), code(name, text));
        let mut to: Vec<_> =
            named_after(&code, "crate::").into_iter().map(str::to_string).collect();
        to.extend(code.contains("spill::").then(|| "spill".to_string()));
        arrows.extend(to.into_iter().filter(|to| *to != from).map(|to| (from.clone(), to)));
    }
    arrows
}

/// The dependencies in a document: lines in the block that `fence` opens, each `from -> to, to`.
fn documented_arrows(document: &str, fence: &str) -> Arrows {
    let lines = document.lines().skip_while(|line| *line != fence);
    let lines = lines.skip(1).take_while(|line| *line != "```");
    let pairs = lines.flat_map(|line| {
        let (from, to) = line.split_once("->").unwrap_or_else(|| panic!("no arrow: {line}"));
        let from: Vec<_> = from.split(',').map(str::trim).collect();
        let each = move |from: &str| {
            let from = from.to_string();
            to.split(',').map(move |to| (from.clone(), to.trim().to_string())).collect::<Vec<_>>()
        };
        from.into_iter().flat_map(each).collect::<Vec<_>>()
    });
    pairs.collect()
}

/// The modules of `spillway-base`, which every folder may use.
const BELOW_ALL: [&str; 8] =
    ["source", "diag", "numbers", "random", "budget", "components", "trees", "escape"];

fn without_base(arrows: Arrows) -> Arrows {
    arrows.into_iter().filter(|(_, to)| !BELOW_ALL.contains(&to.as_str())).collect()
}

/// The files below `root`, without those that only declare modules.
fn parts_of(root: &str) -> Vec<(String, String)> {
    let tops = ["lib.rs", "main.rs"].map(|name| format!("{root}{name}"));
    sources(root).into_iter().filter(|(name, _)| !tops.contains(name)).collect()
}

/// The dependencies that are left when those to parts without dependencies are removed repeatedly: cycles, and paths to
/// them.
fn in_cycles(mut arrows: Arrows) -> Arrows {
    loop {
        let using: BTreeSet<String> = arrows.iter().map(|(from, _)| from.clone()).collect();
        let before = arrows.len();
        arrows.retain(|(_, to)| using.contains(to));
        if arrows.len() == before {
            return arrows;
        }
    }
}

/// Asserts that dependencies equal those of `docs/internals/architecture.md` after `fence`, and have no cycle.
fn compare_arrows(found: &Arrows, fence: &str) {
    let documented = documented_arrows(&read("docs/internals/architecture.md"), fence);
    let secret: Vec<_> = found.difference(&documented).collect();
    let idle: Vec<_> = documented.difference(found).collect();
    assert!(
        secret.is_empty(),
        "arrows that docs/internals/architecture.md does not tell: {secret:?}"
    );
    assert!(
        idle.is_empty(),
        "arrows of docs/internals/architecture.md that are not there: {idle:?}"
    );
    let cyclic = in_cycles(found.clone());
    assert!(cyclic.is_empty(), "among these arrows is a cycle: {cyclic:?}");
}

#[test]
fn folder_dependencies_equal_the_architecture_page() {
    let files = parts_of("src/");
    compare_arrows(&without_base(arrows_of("src/", &files)), "```arrows");
    for (file, text) in &files {
        let is_direct = code(file, text).contains("spillway_");
        assert!(!is_direct, "{file} names a crate otherwise than `src/lib.rs` does");
    }
}

/// The dependencies in the manifests of packages on packages of the workspace.
fn arrows_of_manifests(manifests: &[String]) -> Arrows {
    let packages = manifests.iter().map(|text| {
        let manifest: toml::Table = text.parse().unwrap();
        let name = manifest["package"]["name"].as_str().unwrap().to_string();
        let used = manifest.get("dependencies").and_then(|it| it.as_table());
        let used = used.into_iter().flatten().map(|(used, _)| used.clone());
        (name, used.collect::<Vec<_>>())
    });
    let packages: BTreeMap<String, Vec<String>> = packages.collect();
    let arrows = packages.iter().flat_map(|(name, used)| {
        let own = used.iter().filter(|it| packages.contains_key(*it));
        own.map(|it| (name.clone(), it.clone()))
    });
    arrows.collect()
}

#[test]
fn crate_dependencies_equal_the_architecture_page() {
    let folders = code_folders();
    let manifests = folders.iter().map(|it| read(&format!("{}Cargo.toml", &it[..it.len() - 3])));
    compare_arrows(&arrows_of_manifests(&manifests.collect::<Vec<_>>()), "```arrows of crates");
    let planted = ["a", "b"].map(|name| {
        let other = if name == "a" { "b" } else { "serde" };
        format!("[package]\nname = \"{name}\"\n[dependencies]\n{other} = \"1\"\n")
    });
    let expected = [("a".to_string(), "b".to_string())];
    assert_eq!(arrows_of_manifests(&planted), expected.into());
}

#[test]
fn spill_dependencies_equal_the_architecture_page() {
    let arrows = arrows_of("spill/src/", &parts_of("spill/src/"));
    compare_arrows(&arrows, "```arrows of spill");
}

#[test]
fn a_planted_cycle_is_detected() {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let mut files = vec![
        file("spill/src/store/mod.rs", "use crate::runs::{merge, sort};"),
        file("spill/src/runs/sort.rs", "use crate::keys;\nuse crate::disk::Error;"),
        file("spill/src/keys/mod.rs", "use super::x; // crate::store"),
    ];
    assert_eq!(in_cycles(arrows_of("spill/src/", &files)), Arrows::new());
    files.push(file("spill/src/disk/directory.rs", "fn f() { crate::store::keep() }"));
    let pair = |from: &str, to: &str| (from.to_string(), to.to_string());
    let cycle = [pair("store", "runs"), pair("runs", "disk"), pair("disk", "store")];
    assert_eq!(in_cycles(arrows_of("spill/src/", &files)), cycle.into());
}

#[test]
fn a_planted_dependency_is_detected() {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let planted = [
        file("src/ir/mod.rs", "use crate::{source::Span, search::{Limits, memory}, cli};"),
        file("src/exec/a.rs", "fn f() { spill::sort() } // crate::report"),
        file("src/exec/b.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n use crate::front; }"),
    ];
    let pair = |from: &str, to: &str| (from.to_string(), to.to_string());
    let expected = [pair("ir", "search"), pair("ir", "cli"), pair("exec", "spill")];
    assert_eq!(without_base(arrows_of("src/", &planted)), expected.into());
    let documented = documented_arrows("x\n```arrows\na, b -> c, d\n```\ne -> f", "```arrows");
    assert_eq!(documented, [pair("a", "c"), pair("a", "d"), pair("b", "c"), pair("b", "d")].into());
}

/// The number of uses of the keyword in the code of each file.
fn unsafe_in(files: &[(String, String)]) -> BTreeMap<String, usize> {
    let counts = files.iter().map(|(name, text)| {
        let code = code(name, text);
        let words = code.split(|it: char| !it.is_alphanumeric() && it != '_');
        (name.clone(), words.filter(|word| *word == "unsafe").count())
    });
    counts.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn unsafe_is_used_only_in_the_documented_files() {
    let text = read("CONTRIBUTING.md");
    let rule = text.split("\n- ").find(|rule| rule.starts_with("**`unsafe`**")).unwrap();
    let documented: BTreeSet<&str> = rule.split('`').filter(|word| word.contains("src/")).collect();
    let mut idle = documented.clone();
    for (file, _) in unsafe_in(&all_sources()) {
        let place = documented.iter().find(|&&place| Path::new(&file).starts_with(place));
        let place =
            place.unwrap_or_else(|| panic!("CONTRIBUTING.md does not tell of `unsafe` in {file}"));
        idle.remove(place);
    }
    assert!(idle.is_empty(), "CONTRIBUTING.md tells of `unsafe` that is not there: {idle:?}");
}

#[test]
fn a_planted_unsafe_is_detected() {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let planted = [
        file("src/a.rs", "fn f() { unsafe { g() } }"),
        file("src/b.rs", "// unsafe\n#![deny(unsafe_op_in_unsafe_fn)]"),
    ];
    assert_eq!(unsafe_in(&planted).into_keys().collect::<Vec<_>>(), ["src/a.rs"]);
}

#[test]
fn files_named_in_documents_exist() {
    let code = ["src", "crates", "spill", "tests", "examples", "benches", "stateright", "fuzz"];
    let code: Vec<String> = code.into_iter().flat_map(sources).map(|it| it.0).collect();
    // A Rust file may be named by the end of its path.
    let is_tail = |word: &str| {
        let is_part = |it: char| it.is_alphanumeric() || "_/.-".contains(it);
        let is_file = word.ends_with(".rs") && word.chars().all(is_part);
        !is_file || code.iter().any(|it| it == word || it.ends_with(&format!("/{word}")))
    };
    let documents = ["README.md", "CONTRIBUTING.md"].map(|it| (it.to_string(), read(it)));
    for (document, text) in documents.into_iter().chain(files_below("docs", "md")) {
        for word in text.split('`').skip(1).step_by(2) {
            let folders = [
                "src/",
                "crates/",
                "spill/",
                "tests/",
                "docs/",
                "examples/",
                "benches/",
                "models/",
            ];
            let is_path = folders.iter().any(|it| word.starts_with(it))
                && !word.contains(['*', '{', ' ', '<', '…'])
                && !word.contains(char::is_uppercase);
            if is_path {
                let there = root().join(word).exists();
                assert!(there, "{document} names `{word}`, which is not there");
            }
            // Tutorials name the files of the reader's own project.
            let is_ours = !document.starts_with("docs/tutorials/");
            assert!(!is_ours || is_tail(word), "{document} names `{word}`, which is not there");
        }
        // Pages name others relative to themselves.
        let folder = root().join(&document).parent().unwrap().to_path_buf();
        let pages = text.split(['`', '(', ')', ' ']).filter(|it| it.ends_with(".md"));
        for page in pages {
            let there = root().join(page).exists() || folder.join(page).exists();
            assert!(there, "{document} names the page {page}, which is not there");
        }
    }
    for (file, text) in ["src", "crates", "spill"].into_iter().flat_map(sources) {
        for page in text.split('`').filter(|it| it.starts_with("docs/")) {
            assert!(root().join(page).exists(), "{file} names `{page}`, which is not there");
        }
        for word in text.split('`') {
            assert!(is_tail(word), "{file} names `{word}`, which is not there");
        }
    }
}

/// The languages that the code of some files names, in any case: file and name.
fn languages_in(files: &[(String, String)]) -> Vec<(String, &'static str)> {
    let named = files.iter().flat_map(|(file, text)| {
        let code = code(file, text).to_lowercase();
        let words: BTreeSet<String> =
            code.split(|it: char| !it.is_alphanumeric()).map(str::to_string).collect();
        let names = LANGUAGES.iter().map(|language| language.name);
        names.filter(move |&name| words.contains(name)).map(|name| (file.clone(), name))
    });
    named.collect()
}

#[test]
fn the_command_line_names_no_language() {
    assert_eq!(languages_in(&sources("src/cli")), []);
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let planted = [
        file("a.rs", "fn f() -> bool { language == promela::LANGUAGE }"),
        file("b.rs", "#[arg(help = \"for Murphi\")] // dve"),
        file("c.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n use crate::front::dve; }"),
    ];
    let found = [("a.rs".to_string(), "promela"), ("b.rs".to_string(), "murphi")];
    assert_eq!(languages_in(&planted), found);
}

#[test]
fn languages_have_distinct_names_and_endings() {
    let names: BTreeSet<_> = LANGUAGES.iter().map(|language| language.name).collect();
    assert_eq!(names.len(), LANGUAGES.len());
    for language in LANGUAGES {
        assert_eq!(Language::from_name(language.name), Some(*language));
        for ending in language.extensions {
            assert_eq!(Language::from_file_name(&format!("a.b/c.{ending}")), Some(*language));
        }
    }
    assert_eq!(Language::from_file_name("dve"), None);
}

#[test]
fn only_cli_output_writes_to_the_standard_streams() {
    for (file, text) in all_sources() {
        for panicking in ["println!", "print!(", "dbg!("] {
            let uses = code(&file, &text).contains(panicking);
            assert!(
                !uses,
                "{file}: `{panicking}` panics where nothing can be written; use cli/output"
            );
        }
    }
}
