//! The table of contents of the book names each page of `docs/` once.

use super::{files_below, read};

/// The pages that a table of contents links to, in order.
fn pages(summary: &str) -> Vec<String> {
    let links = summary.lines().filter_map(|line| line.split_once("]("));
    links.filter_map(|(_, link)| Some(link.split_once(')')?.0.to_string())).collect()
}

#[test]
fn the_book_contains_every_page() {
    let mut found: Vec<String> = files_below("docs", "md").into_iter().map(|it| it.0).collect();
    found.retain(|name| name != "docs/SUMMARY.md");
    let summary = read("docs/SUMMARY.md");
    let mut named: Vec<String> = pages(&summary).iter().map(|it| format!("docs/{it}")).collect();
    named.sort();
    assert_eq!(named, found, "pages that docs/SUMMARY.md names, and those of docs/");
}

#[test]
fn pages_of_every_level_are_found() {
    let summary =
        "# Summary\n\n[First](first.md)\n\n- [Second](a/second.md)\n  - [Third](third.md)\n";
    assert_eq!(pages(summary), ["first.md", "a/second.md", "third.md"]);
}
