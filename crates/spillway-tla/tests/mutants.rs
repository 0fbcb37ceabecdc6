//! Mutants of modules: tokens truncated, omitted, doubled and exchanged. Each one has a specification or a message, and
//! none causes a panic.
//!
//! The modules are those of `tests/modules`, and with `SPILLWAY_CORPUS` those of its folder `tla`. `SPILLWAY_MUTANTS`
//! is the number of mutants.

mod files;

use files::files_below;
use spillway_base::random::SplitMix64;
use spillway_base::source::SourceMap;
use spillway_tla::config::{self, Config};
use spillway_tla::modules::{SearchPath, load, load_text};
use spillway_tla::resolve::{Request, check, resolve};
use spillway_tla::syntax::lexer::tokenize;
use std::path::{Path, PathBuf};

/// The number of mutants without `SPILLWAY_MUTANTS`.
const DEFAULT_MUTANTS: usize = 300;

fn own_modules() -> Vec<PathBuf> {
    files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules"), "tla")
}

/// Returns a text with one to three changes of its tokens.
fn mutant(text: &str, random: &mut SplitMix64) -> String {
    let tokens = tokenize(0, text, 0).unwrap();
    let words: Vec<&str> =
        tokens.iter().map(|it| &text[it.span.start as usize..it.span.end as usize]).collect();
    let mut gaps = Vec::new();
    let mut end = 0;
    for token in &tokens {
        gaps.push(&text[end..token.span.start as usize]);
        end = token.span.end as usize;
    }
    let mut changed: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(changed.len());
        changed[at] = match random.below(5) {
            0 => String::new(),
            1 => format!("{0} {0}", changed[at]),
            2 => {
                let count = changed[at].chars().count().max(1);
                changed[at].chars().take(random.below(count)).collect()
            }
            3 => changed[random.below(changed.len())].clone(),
            _ => {
                let other = random.below(changed.len());
                std::mem::replace(&mut changed[other], words[at].to_owned())
            }
        };
    }
    gaps.iter().zip(&changed).map(|(gap, word)| format!("{gap}{word}")).collect()
}

#[test]
fn mutants_of_modules_cause_no_panic() {
    let mut files = own_modules();
    if let Some(corpus) = std::env::var_os("SPILLWAY_CORPUS") {
        files.extend(files_below(&PathBuf::from(corpus).join("tla"), "tla"));
    }
    let requested = std::env::var("SPILLWAY_MUTANTS").ok().and_then(|it| it.parse().ok());
    let (mut random, mut accepted) = (SplitMix64::new(68), 0);
    for number in 0..requested.unwrap_or(DEFAULT_MUTANTS) {
        let path = &files[number % files.len()];
        let text = String::from_utf8(std::fs::read(path).unwrap()).unwrap();
        let text = mutant(&text, &mut random);
        let mut sources = SourceMap::default();
        let search = SearchPath::new(path, &[], None);
        if let Ok(set) = load_text("mutant", &text, &search, &mut sources) {
            let config = Config::default();
            let request = Request { set: &set, config: &config, formulas: &[], sources: &sources };
            let errors = resolve(request).err().unwrap_or_default();
            assert!(errors.iter().all(|it| !it.render(&sources).to_string().is_empty()));
            accepted += usize::from(check(&set).is_empty());
        }
    }
    // Some changes, such as those of numbers, leave a module valid.
    assert!(accepted > 0);
}

#[test]
fn mutants_of_configurations_cause_no_panic() {
    const TEXT: &str = "CONSTANTS A = 1 B = {a, {b}, \"c\"} \\* comment\n C <- [M] D Nat <- E\n\
                        SPECIFICATION Spec INVARIANTS I J!K PROPERTY P CHECK_DEADLOCK FALSE\n\
                        VIEW V SYMMETRY S (* comment *) CONSTRAINT X ALIAS Y -1 = Z";
    let mut random = SplitMix64::new(69);
    for _ in 0..2000 {
        let (start, end) = (random.below(TEXT.len()), random.below(TEXT.len()));
        let text = format!("{}{}", &TEXT[..start], &TEXT[end..]);
        let mut sources = SourceMap::default();
        let file = sources.add("mutant", text.as_str());
        if let Err(error) = config::parse(file, &text) {
            assert!(!error.render(&sources).to_string().is_empty());
        }
    }
}

/// The modules themselves have no faults.
#[test]
fn the_original_modules_are_resolved() {
    for path in own_modules() {
        let mut sources = SourceMap::default();
        let search = SearchPath::new(&path, &[], None);
        let set = match load(&path, &search, &mut sources) {
            Ok(set) => set,
            Err(error) => panic!("{}", error.render(&sources)),
        };
        let errors = check(&set);
        let shown: Vec<String> = errors.iter().map(|it| it.render(&sources).to_string()).collect();
        assert!(errors.is_empty(), "{}", shown.join("\n"));
    }
}
