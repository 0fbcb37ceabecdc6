//! Whatever is wrong with a model, there is a message: files are cut off, and words of theirs left
//! out, doubled and exchanged, and each is read. With `SPILLWAY_CORPUS` set to a folder, the
//! Promela models in it are treated so too.

use spillway::exec::Interp;
use spillway::front::{self, Language, Options};
use spillway::ir::validate::validate;
use spillway::source::Sources;
use std::path::{Path, PathBuf};

/// How often each file is changed.
const TIMES: usize = 60;

/// A small generator (Knuth's MMIX constants); the same numbers every time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// The model's words, signs and the space between them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for character in text.chars() {
        let class = |it: char| match it {
            it if it.is_alphanumeric() || it == '_' => 1,
            it if it.is_whitespace() => 2,
            _ => 3,
        };
        match words.last_mut() {
            Some(last)
                if class(character) != 3
                    && last.chars().all(|it| class(it) == class(character)) =>
            {
                last.push(character);
            }
            _ => words.push(character.to_string()),
        }
    }
    words
}

fn mutated(words: &[String], random: &mut Random) -> String {
    let mut words = words.to_vec();
    for _ in 0..=random.below(2) {
        let at = random.below(words.len());
        match random.below(5) {
            0 => words.truncate(at),
            1 => drop(words.remove(at)),
            2 => words.insert(at, words[at].clone()),
            3 => {
                let other = random.below(words.len());
                words.swap(at, other);
            }
            _ => words[at] = words[random.below(words.len())].clone(),
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let is_small = || path.metadata().is_ok_and(|about| about.len() < 40_000);
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_none_or(|it| it != "tsv" && it != "md") && is_small() {
            found.push(path);
        }
    }
}

/// Reads a model; a message must point into it.
fn read(path: &Path, text: &str) {
    let mut sources = Sources::default();
    sources.add(path.display().to_string(), text.to_owned());
    match front::load(Language::Promela, &mut sources, &Options::default()) {
        Ok(loaded) => {
            let valid = validate(&loaded.program);
            assert!(valid.is_ok(), "{}:\n{text}", path.display());
            // It may still be refused as too large.
            drop(Interp::new(loaded.program));
        }
        Err(found) => {
            assert!(!found.is_empty());
            for diagnostic in found {
                assert!(!diagnostic.message.is_empty());
                assert!(diagnostic.render(&sources).to_string().contains("error: "));
            }
        }
    }
}

#[test]
fn every_change_of_a_model_is_read_or_refused() {
    let mut paths = Vec::new();
    models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models/promela"), &mut paths);
    assert!(paths.len() >= 19);
    if let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") {
        models(&Path::new(&corpus).join("promela"), &mut paths);
    }
    let mut random = Random(1);
    for path in paths {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let words = words(&text);
        for _ in 0..TIMES {
            read(&path, &mutated(&words, &mut random));
        }
    }
}

#[test]
fn deep_nests_are_refused() {
    let deep = |open: &str, inner: &str, close: &str| {
        format!("init {{ {}{inner}{} }}", open.repeat(50_000), close.repeat(50_000))
    };
    let path = Path::new("model.pml");
    read(path, &deep("{ ", "skip", " }"));
    read(path, &deep("( ", "1", " )"));
    read(path, &deep("!", "1", ""));
    read(path, &deep("if :: ", "skip", " fi"));
    read(path, &deep("atomic { ", "skip", " }"));
    read(path, &deep("L: ", "skip", ""));
    read(path, &format!("byte x; ltl p {{ {}x }} init {{ skip }}", "[]".repeat(50_000)));
    read(path, &format!("init {{ byte x; x = 1{} }}", " + 1".repeat(50_000)));
    read(path, &format!("init {{ skip{} }}", " unless skip".repeat(50_000)));
    read(path, "#define A B + B\n#define B C + C\n#define C A\ninit { int x; x = A }");
    read(path, "init { L: goto K; K: goto L }");
    read(path, "init { do :: goto L; K: skip; L: goto K od }");
    read(path, "inline f() { g() } inline g() { f() } init { f() }");
}
