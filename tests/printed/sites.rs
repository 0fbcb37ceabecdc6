//! Each text that the command line prints is in some test, word for word.
//!
//! The texts are the string literals of `src/cli/` and `src/report/` of at least two words, split at their
//! placeholders. The test searches the tests, their screens and the tutorials for them.

use std::fs;
use std::path::Path;

/// Texts that no test has word for word, each with a reason.
const UNSEEN: [(&str, &str); 61] = [
    ("this build serves no editors", FEATURES),
    ("this build serves no pages", FEATURES),
    ("this build writes no JUnit files", FEATURES),
    ("This build draws no plots.", FEATURES),
    ("directories cannot be locked here:", MACHINE),
    ("a file system in memory: its files are lost when the machine stops", MACHINE),
    ("a network file system: searches are as fast as the network", MACHINE),
    ("unlimited open files", MACHINE),
    ("size unknown", MACHINE),
    ("there was no time to look at all states", TIME),
    ("; at most", MACHINE),
    ("machine code is not supported on this machine: models are interpreted", MACHINE),
    ("a search cannot write here:", MACHINE),
    ("this page cannot be rendered; this is a bug in spillway", FAULT),
    ("this is a bug in spillway, please report it", FAULT),
    ("the server at", FAULT),
    ("cannot serve pages:", SYSTEM),
    ("the counterexample cannot be replayed:", FAULT),
    ("cannot write the trail:", FAULT),
    ("has stopped:", FAULT),
    ("files of at most", MACHINE),
    ("resume it with the version of spillway", FORMAT),
    ("resume it with that version", FORMAT),
    ("is in use by a running search", RUNNING),
    ("stopped before all states were read", RUNNING),
    ("` shows its progress", RUNNING),
    ("a search is running in it", RUNNING),
    ("searching for a shorter counterexample:", RUNNING),
    ("the search stopped at its last checkpoint help", DISK),
    ("once the disk works again", DISK),
    ("once there is more space", DISK),
    ("help: choose a directory with more space", DISK),
    ("with a higher limit on the size of files", DISK),
    ("with fewer --threads", SYSTEM),
    ("with more memory allowed", SYSTEM),
    ("error: out of memory", SYSTEM),
    (
        "paths of this length mostly come from an unbounded counter",
        "a search of thousands of millions of levels",
    ),
    ("check the model again with another --store", "a search of thousands of millions of states"),
    ("; after a crash `spillway resume", TERMINAL),
    ("searching for a shorter run", TERMINAL),
    ("searching for a violating run", TERMINAL),
    ("compiling the model", TERMINAL),
    ("evaluating formulas of branching time", TERMINAL),
    ("continues the search for a shorter one", TIME),
    ("the search for a shorter counterexample failed", DISK),
    ("stopped before the counterexample was found", TIME),
    ("` finds it", TIME),
    ("found one of", "a search for something shorter that finds it and has no room for all"),
    ("one round of the cycle is shown", "a loop that comes back after more than a thousand states"),
    (": a sample takes", SAMPLE),
    ("% of its size in the declared order", SAMPLE),
    ("counting processes that run at one time", TERMINAL),
    ("restarts the search with more slots", "a search in tasks of thousands of levels"),
    ("at the number of transitions", "a hunt within a check, whose end no command prints"),
    ("the values of states take all of the memory", "a specification with very many values"),
    ("the configuration cannot be written:", PROCESS),
    ("the program of this process cannot be found:", PROCESS),
    ("a row cannot be checked:", PROCESS),
    ("the check of the row ended without a result (", PROCESS),
    (
        "`spillway check` checks a specification",
        "a command for programs that reads a model before it asks for its language",
    ),
    ("interpreted", "a model with much more code than a test should have"),
];

const PROCESS: &str = "the process of a row of a sweep has to fail to start, or to be killed";
const FAULT: &str = "a page, or the server of pages, has to panic";
const MACHINE: &str = "a machine or a disk of another kind";
const FEATURES: &str = "only builds without some features print it";
const SAMPLE: &str = "a model with many states that another order stores in much less";
const FORMAT: &str =
    "a directory of another format version: tests/cli.rs and tests/running look for parts of it";
const RUNNING: &str =
    "another process has to run meanwhile: tests/cli.rs and tests/running look for parts of it";
const DISK: &str = "a disk has to fail or to be full: tests/environment looks for parts of it";
const SYSTEM: &str =
    "the system has to refuse memory or threads: tests/environment looks for parts of it";
const TERMINAL: &str = "on a terminal, after a second: tests/running looks for parts of it";
const TIME: &str = "a signal or a limit has to come just then";

/// Collects the texts of all files below a folder with this ending, except `NO_SITES`.
fn collect_files(folder: &str, ending: &str, out: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap() {
        let name = format!("{folder}/{}", entry.unwrap().file_name().into_string().unwrap());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name);
        if path.is_dir() {
            collect_files(&name, ending, out);
        } else if name.ends_with(ending) && !NO_SITES.iter().any(|it| name.ends_with(it)) {
            out.push((name, fs::read_to_string(path).unwrap()));
        }
    }
}

/// Files whose texts are not printed: separate test modules, and this file.
const NO_SITES: [&str; 2] = ["/tests.rs", "tests/printed/sites.rs"];

/// The string literals of a source text, without those of tests, comments and unreachable code.
fn literals(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    let mut all = Vec::new();
    let code = text.lines().filter(|it| !it.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    let mut rest = code.as_str();
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, quoted) = rest.split_at(at);
        // A quotation mark as a character does not open a string.
        if let Some(behind) =
            ["'\"'", "'\\''", "'\\\"'"].iter().find_map(|it| quoted.strip_prefix(it))
        {
            rest = behind;
            continue;
        }
        if let Some(behind) = quoted.strip_prefix('\'') {
            rest = behind;
            continue;
        }
        let (mut literal, mut escaped, mut end) = (String::new(), false, quoted.len());
        for (place, it) in quoted.char_indices().skip(1) {
            match it {
                '"' if !escaped => {
                    end = place + 1;
                    break;
                }
                '\\' if !escaped => escaped = true,
                // An escaped line break is no more than a space.
                '\n' if escaped => (escaped, _) = (false, literal.push(' ')),
                'n' if escaped => (escaped, _) = (false, literal.push(' ')),
                _ => (escaped, _) = (false, literal.push(it)),
            }
        }
        if !before.ends_with("unreachable!(") {
            all.push(literal);
        }
        rest = &quoted[end..];
    }
    all
}

/// The text with single spaces.
fn normalize_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The texts between the placeholders of a literal, if they have at least two words.
fn fragments(literal: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for part in literal.split('{') {
        parts.push(normalize_spaces(part.split_once('}').map_or(part, |(_, rest)| rest)));
    }
    let words = |it: &str| {
        it.split(' ').filter(|it| it.chars().filter(char::is_ascii_alphabetic).count() > 1).count()
    };
    parts.into_iter().filter(|it| words(it) > 1).collect()
}

/// The texts that tests show, with the literals of the printed texts.
fn tested_texts() -> String {
    let (mut code, mut pages) = (Vec::new(), Vec::new());
    collect_files("tests", ".rs", &mut code);
    collect_files("tests/printed/screens", ".md", &mut pages);
    collect_files("tests/editors/sessions", ".session", &mut pages);
    collect_files("docs/tutorials", ".md", &mut pages);
    let literals = code.iter().flat_map(|(_, text)| literals(text));
    let literals: Vec<String> = literals.map(|it| normalize_spaces(&it)).collect();
    let pages: Vec<String> = pages.iter().map(|(_, text)| normalize_spaces(text)).collect();
    literals.join("\n") + &pages.join("\n")
}

#[test]
fn each_printed_text_is_in_a_test() {
    let tested_texts = tested_texts();
    let mut sources = Vec::new();
    collect_files("src/cli", ".rs", &mut sources);
    collect_files("src/report", ".rs", &mut sources);
    let (mut all, mut missing) = (0, Vec::new());
    for (name, text) in &sources {
        for fragment in literals(text).iter().flat_map(|it| fragments(it)) {
            all += 1;
            let is_unseen = UNSEEN.iter().any(|(text, _)| fragment.contains(text));
            if tested_texts.contains(&fragment) == is_unseen {
                missing.push(format!("{name}: {fragment}"));
            }
        }
    }
    assert!(all > 250, "only {all} texts were found");
    assert!(missing.is_empty(), "in no test, or in one and called unseen: {missing:#?}");
}

#[test]
fn literals_are_found() {
    let text = "// \"no\"\nlet a = \"one \\\n  two {x} and \\\"three\\\" more\"; unreachable!(\"never so\"); let c = '\"'; f(\"x y\")";
    assert_eq!(literals(text), ["one    two {x} and \"three\" more", "x y"]);
    assert_eq!(fragments("one    two {x} and \"three\" more"), ["one two", "and \"three\" more"]);
}
