//! The lengths of files and functions are within the limits of `CONTRIBUTING.md`.

use super::{all_sources, read};
use std::collections::BTreeSet;

/// The maximum number of lines of a file.
const FILE_LINES: usize = 700;

/// The maximum number of lines of a function.
const FUNCTION_LINES: usize = 60;

/// The names of the functions of a file that are longer.
fn long_functions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut long = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let words = line.split_whitespace();
        let mut words = words.skip_while(|word| {
            ["pub", "const", "unsafe", "extern", "\"C\""].contains(word) || word.starts_with("pub(")
        });
        let (Some("fn"), Some(rest)) = (words.next(), words.next()) else { continue };
        let name = rest.split(['(', '<']).next().unwrap_or_default();
        let end = format!("{}}}", " ".repeat(indent));
        let length = lines[at..].iter().position(|line| *line == end).map_or(0, |end| end + 1);
        // A function without a body, or on one line, ends before the next one.
        let own = lines[at + 1..].iter().position(|line| {
            line.len() - line.trim_start().len() <= indent && line.contains("fn ")
        });
        if own.is_none_or(|own| own + 1 >= length) && length > FUNCTION_LINES {
            long.push(name.to_string());
        }
    }
    long
}

/// The longer functions that `CONTRIBUTING.md` lists, as file and name.
fn listed_functions() -> BTreeSet<String> {
    let text = read("CONTRIBUTING.md");
    let rule = text.split("\n- ").find(|rule| rule.starts_with("**Files**")).unwrap();
    let words = rule.split('`').skip(1).step_by(2).filter(|word| word.contains("::"));
    words.map(str::to_string).collect()
}

#[test]
fn lengths_of_files_and_functions_are_within_the_limits() {
    let text = read("CONTRIBUTING.md");
    let limits = format!("at most {FILE_LINES} lines, functions at most {FUNCTION_LINES}");
    assert!(text.contains(&limits), "CONTRIBUTING.md does not say `{limits}`");
    let mut found = BTreeSet::new();
    for (file, text) in all_sources() {
        assert!(text.lines().count() <= FILE_LINES, "{file} is longer than {FILE_LINES} lines");
        let short = file.trim_start_matches("src/").trim_start_matches("crates/");
        let short = short.replacen("/src/", "/", 1).trim_end_matches(".rs").to_string();
        found.extend(long_functions(&text).into_iter().map(|name| format!("{short}::{name}")));
    }
    assert_eq!(
        found,
        listed_functions(),
        "longer functions, and those that CONTRIBUTING.md tells of"
    );
}

#[test]
fn a_planted_long_function_is_detected() {
    let body = |lines: usize| "    x();\n".repeat(lines);
    let text = format!(
        "trait T {{\n    fn none(&self);\n}}\n\nfn short() {{\n{}}}\n\npub(super) unsafe fn long<T>() {{\n{}}}\n",
        body(FUNCTION_LINES - 2),
        body(FUNCTION_LINES - 1),
    );
    assert_eq!(long_functions(&text), ["long"]);
}
