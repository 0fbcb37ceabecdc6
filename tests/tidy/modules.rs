//! The modules of a folder, with their dependencies by used names, have no cycles.

use super::{code, code_folders, in_cycles, read, sources};
use std::collections::{BTreeMap, BTreeSet};

/// A module, as the names of its path in the crate.
type Module = Vec<String>;

/// The modules of a crate, with the paths that each uses.
struct Crate {
    modules: BTreeMap<Module, Vec<UsedPath>>,
}

/// A path as written, one name after another.
struct UsedPath {
    path: Vec<String>,
    /// The local name, if a `use` declares one.
    name: Option<String>,
}

impl Crate {
    /// The modules of files below `root`.
    fn of(root: &str, files: &[(String, String)]) -> Crate {
        let modules = files.iter().map(|(file, text)| {
            let file = file.strip_prefix(root).unwrap_or(file).trim_end_matches(".rs");
            let mut module: Module = file.split('/').map(str::to_string).collect();
            let is_folder = module.last().is_some_and(|it| ["mod", "lib", "main"].contains(&&**it));
            module.truncate(module.len() - usize::from(is_folder));
            (module, used_paths(&code(file, text)))
        });
        Crate { modules: modules.collect() }
    }

    /// The module that a path in another module refers to.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (mut at, mut rest) = (from.clone(), path);
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {}
            first => {
                let inside = [from.as_slice(), &[first.to_string()]].concat();
                self.modules.get(&inside)?;
            }
        }
        while rest.first().is_some_and(|it| it == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        while let Some((first, others)) = rest.split_first() {
            let inside = [at.as_slice(), std::slice::from_ref(first)].concat();
            if !self.modules.contains_key(&inside) {
                break;
            }
            (at, rest) = (inside, others);
        }
        // A re-exported name belongs to another module.
        let reexported = rest.first().filter(|_| depth < 6).and_then(|name| {
            let mut uses = self.modules.get(&at)?.iter();
            let given = uses.find(|it| it.name.as_ref() == Some(name))?;
            self.resolve(&at, &given.path, depth + 1)
        });
        Some(reexported.unwrap_or(at))
    }

    /// The dependencies between the parts of each folder.
    fn arrows(&self) -> BTreeMap<Module, BTreeSet<(String, String)>> {
        let mut arrows: BTreeMap<Module, BTreeSet<_>> = BTreeMap::new();
        for (from, uses) in &self.modules {
            for to in uses.iter().filter_map(|it| self.resolve(from, &it.path, 0)) {
                let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
                if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
                    let folder = from[..common].to_vec();
                    arrows.entry(folder).or_default().insert((one.clone(), other.clone()));
                }
            }
        }
        arrows
    }

    /// The modules of dependency cycles, by folder.
    fn cycles(&self) -> BTreeMap<String, BTreeSet<String>> {
        let cyclic = self.arrows().into_iter().filter_map(|(folder, arrows)| {
            let backwards = |arrows: BTreeSet<(String, String)>| {
                arrows.into_iter().map(|(from, to)| (to, from)).collect::<BTreeSet<_>>()
            };
            // The first pass removes parts that lead to no cycle, the second those that no cycle leads to.
            let remaining = backwards(in_cycles(backwards(in_cycles(arrows))));
            let names = remaining.into_iter().map(|(from, _)| from).collect::<BTreeSet<_>>();
            (!names.is_empty()).then(|| (folder.join("/"), names))
        });
        cyclic.collect()
    }
}

/// The paths that some code uses.
fn used_paths(code: &str) -> Vec<UsedPath> {
    let (mut all, mut rest) = (Vec::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let (_, after) = match line.split_once("use ") {
            Some((before, after)) if is_visibility(before.trim()) => (before, after),
            _ => {
                rest += line;
                rest += "\n";
                continue;
            }
        };
        let mut tree = after.to_string();
        while !tree.contains(';') {
            tree += lines.next().unwrap_or(";");
        }
        branches(tree.split(';').next().unwrap_or_default(), &mut Vec::new(), &mut all);
    }
    for start in ["crate::", "super::", "self::"] {
        for at in rest.match_indices(start).map(|(at, _)| at) {
            let is_word = |it: char| it.is_alphanumeric() || it == '_';
            if rest[..at].ends_with(|it| is_word(it) || it == ':') {
                continue;
            }
            let end =
                rest[at..].find(|it| !is_word(it) && it != ':').map_or(rest.len(), |it| at + it);
            let path = rest[at..end].split("::").filter(|it| !it.is_empty());
            all.push(UsedPath { path: path.map(str::to_string).collect(), name: None });
        }
    }
    all
}

fn is_visibility(word: &str) -> bool {
    word.is_empty() || word == "pub" || word.starts_with("pub(") && word.ends_with(')')
}

/// The paths of a tree of names, as `a::{b, c::d as e}`.
fn branches(tree: &str, before: &mut Vec<String>, all: &mut Vec<UsedPath>) {
    let (stem, inside) = match tree.split_once('{') {
        Some((stem, inside)) => (stem, inside.trim_end().strip_suffix('}')),
        None => (tree, None),
    };
    let (stem, renamed) = stem.split_once(" as ").unwrap_or((stem, ""));
    let names = stem.split("::").map(str::trim).filter(|it| !it.is_empty());
    let length = before.len();
    before.extend(names.map(str::to_string));
    match inside {
        None => {
            let name = if renamed.is_empty() { before.last().cloned() } else { None };
            let name = name.or_else(|| Some(renamed.trim().to_string()));
            let is_own = before.last().is_some_and(|it| it == "self");
            let path = before[..before.len() - usize::from(is_own && before.len() > 1)].to_vec();
            all.push(UsedPath { path, name });
        }
        Some(inside) => {
            let mut depth = 0;
            let parts = inside.split(|it| {
                depth += i32::from(it == '{') - i32::from(it == '}');
                it == ',' && depth == 0
            });
            for part in parts.filter(|it| !it.trim().is_empty()) {
                branches(part, before, all);
            }
        }
    }
    before.truncate(length);
}

#[test]
fn modules_of_a_folder_have_no_cyclic_dependencies() {
    let text = read("CONTRIBUTING.md");
    assert!(text.contains("do not use each other in circles"), "CONTRIBUTING.md says otherwise");
    for root in code_folders() {
        let cycles = Crate::of(&format!("{root}/"), &sources(&root)).cycles();
        assert_eq!(cycles, BTreeMap::new(), "modules below {root} that use each other");
    }
}

#[test]
fn a_planted_cycle_of_modules_is_detected() {
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    let mut files = vec![
        file("src/lib.rs", "pub mod a;"),
        file(
            "src/a/mod.rs",
            "mod b;\nmod c;\nmod d;\npub use c::{Thing, deep::{Other as Another}};",
        ),
        file("src/a/b.rs", "use super::{\n    Another, d::x,\n};"),
        file("src/a/c.rs", "pub struct Thing; // use super::b::y"),
        file("src/a/d.rs", "fn f(it: crate::a::Thing) {}"),
    ];
    assert_eq!(Crate::of("src/", &files).cycles(), BTreeMap::new());
    // A dependency by a name that `a` re-exports.
    files[3].1 = "use super::d::f as g;".into();
    let cycle = BTreeMap::from([("a".to_string(), ["c", "d"].map(str::to_string).into())]);
    assert_eq!(Crate::of("src/", &files).cycles(), cycle);
}
