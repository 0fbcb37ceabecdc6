//! The tables of reductions in the documents agree with the program.

use spillway::reduce::entry::ReductionEntry;
use spillway::reduce::parameters::ParameterControl;
use spillway::reduce::{PropertyClass, REDUCTIONS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- The tables of reductions: `cargo test --test reduce -- --ignored renew` writes them from `crates/spillway-reduce/src`. -->\n";
const END: &str = "<!-- End of the tables. -->";

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

/// Returns the expected tables: summaries, parameters and papers. One table of all columns would be too wide.
fn table() -> String {
    let rows =
        |of: fn(&ReductionEntry) -> String| REDUCTIONS.iter().map(|it| of(it)).collect::<String>();
    let head = |columns: &str| {
        format!("{columns}\n{}\n", "| --- ".repeat(columns.matches('|').count() - 1) + "|")
    };
    [
        head("| reduction | | automatic | preserves | not with |") + &rows(row),
        head("| reduction | parameter | values | meaning |") + &rows(parameter_rows),
        head("| reduction | paper |") + &rows(paper_row),
    ]
    .join("\n")
}

fn row(entry: &ReductionEntry) -> String {
    let others = entry.incompatible_with.iter().map(|it| format!("`{}`", it.other));
    let others = others.collect::<Vec<_>>().join(", ");
    let (name, page, summary) = (entry.name, entry.page, entry.summary);
    let (automatic, preserves) = (entry.automatic.describe(), entry.preserves);
    format!(
        "| [{name}](reductions/{page}.md) | {summary} | {automatic} | {preserves} | {others} |\n"
    )
}

fn parameter_rows(entry: &ReductionEntry) -> String {
    let rows = entry.parameters.iter().map(|it| {
        let flag = match it.control {
            ParameterControl::Flag(flag) => format!(" (`--{}`)", flag.name),
            ParameterControl::Expert(option) => format!(" (`-X {}`)", option.name),
            ParameterControl::Configuration => String::new(),
        };
        let values = it.kind.describe().replace('|', "\\|");
        format!("| `{}` | `{}`{flag} | {values} | {} |\n", entry.name, it.name, it.summary)
    });
    rows.collect()
}

fn paper_row(entry: &ReductionEntry) -> String {
    format!("| `{}` | {} |\n", entry.name, entry.paper)
}

/// Splits the document into the text before the table, the table, and the text after it.
fn split(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    (before, table, after)
}

#[test]
fn the_document_has_the_tables_of_the_program() {
    let text = std::fs::read_to_string(document("reductions.md")).unwrap();
    assert!(split(&text).1 == table(), "renew it: cargo test --test reduce -- --ignored renew");
}

#[test]
#[ignore = "writes the tables into the document"]
fn renew() {
    let path = document("reductions.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, _, after) = split(&text);
    std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
}

/// Every reference in an entry resolves, and names and titles are unique.
#[test]
fn entries_are_complete() {
    let names: BTreeSet<&str> = REDUCTIONS.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), REDUCTIONS.len(), "two reductions have the same name");
    let titles: BTreeSet<&str> = REDUCTIONS.iter().map(|it| it.title).collect();
    assert_eq!(titles.len(), REDUCTIONS.len(), "two reductions have the same title");
    for (number, entry) in REDUCTIONS.iter().enumerate() {
        let page = document(&format!("reductions/{}.md", entry.page));
        assert!(page.is_file(), "{} has no page", entry.name);
        for it in entry.incompatible_with {
            let other = REDUCTIONS.iter().position(|entry| entry.name == it.other);
            assert!(other.is_some_and(|it| it != number), "{}: {}", entry.name, it.other);
        }
        let parameters: BTreeSet<&str> = entry.parameters.iter().map(|it| it.name).collect();
        assert_eq!(parameters.len(), entry.parameters.len(), "{}", entry.name);
        let excluded = entry.parameters.iter().filter_map(|it| it.excludes);
        excluded.for_each(|it| assert!(parameters.contains(it), "{}: {it}", entry.name));
        if entry.preserves.has(PropertyClass::StutterInvariant) {
            assert!(entry.preserves.has(PropertyClass::StutteringClaims), "{}", entry.name);
        }
    }
}
