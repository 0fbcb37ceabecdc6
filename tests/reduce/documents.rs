//! The tables of reductions in the documents agree with the program.

use spillway::reduce::entry::ReductionEntry;
use spillway::reduce::{PropertyClass, REDUCTIONS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- The table of reductions: `cargo test --test reduce -- --ignored renew` writes it from `src/reduce`. -->\n";
const END: &str = "<!-- End of the table. -->";

fn document(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

/// The table as it is to be in the document.
fn table() -> String {
    let head = "| reduction | | parameters | automatic | preserves | not with | paper |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    REDUCTIONS.iter().fold(head.to_owned(), |all, it| all + &row(it))
}

fn row(entry: &ReductionEntry) -> String {
    let parameters = entry.parameters.iter().map(|it| {
        let flag = it.flag.map_or(String::new(), |it| format!(" (`--{}`)", it.name));
        format!("`{}`{flag}: {}; {}", it.name, it.kind.describe(), it.summary)
    });
    let parameters = parameters.collect::<Vec<_>>().join("<br>").replace('|', "\\|");
    let others = entry.incompatible_with.iter().map(|it| format!("`{}`", it.other));
    let others = others.collect::<Vec<_>>().join(", ");
    let (name, page, summary, paper) = (entry.name, entry.page, entry.summary, entry.paper);
    let (automatic, preserves) = (entry.automatic.describe(), entry.preserves);
    format!(
        "| [{name}](reductions/{page}.md) | {summary} | {parameters} | {automatic} | {preserves} | {others} | {paper} |\n"
    )
}

/// What is before the table in the document, the table, and what is behind it.
fn split(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    (before, table, after)
}

#[test]
fn the_table_in_the_document_is_that_of_the_program() {
    let text = std::fs::read_to_string(document("reductions.md")).unwrap();
    assert!(split(&text).1 == table(), "renew it: cargo test --test reduce -- --ignored renew");
}

#[test]
#[ignore = "writes the table into the document"]
fn renew() {
    let path = document("reductions.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, _, after) = split(&text);
    std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
}

/// What entries refer to is there, and each is told of once.
#[test]
fn entries_are_complete() {
    let names: BTreeSet<&str> = REDUCTIONS.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), REDUCTIONS.len(), "two have one name");
    let titles: BTreeSet<&str> = REDUCTIONS.iter().map(|it| it.title).collect();
    assert_eq!(titles.len(), REDUCTIONS.len(), "two have one title");
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
