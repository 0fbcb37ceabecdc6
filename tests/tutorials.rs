//! The documents are correct: every command in them is run, and all its output is compared.
//!
//! A page is executed from top to bottom. A tutorial of `docs/tutorials/` begins in an empty folder of its own;
//! `docs/tutorials/five-bugs.md` and the pages in the folder of that name are executed one after the other, in one
//! folder. Any other page of `docs/`, and `README.md`, begins in a folder with the models of the repository.
//!
//! - A block `LANGUAGE file=NAME` is written to that file; a block `LANGUAGE append=NAME` is appended to it. A block
//!   `diff file=NAME` has lines of a file, with `-` before removed lines and `+` before added ones. Its old lines,
//!   which must occur once, are replaced.
//! - In a block `console`, a line after `$ ` is a command for the shell, in which `spillway` is the tested command. The
//!   lines up to the next command are all its output, on both streams. `cd` applies to the commands that follow, and
//!   `echo $?` prints the exit code of the last one. It must follow a command whose exit code is neither 0 nor 1.
//! - A block `sh` is run as one script, each command of which must succeed.
//! - A block `console skip=REASON` or `sh skip=REASON` is not run. [`SKIP_REASONS`] has the reasons. No tutorial has
//!   such a block.
//! - A block `console of=TOOL` shows the output of another checker. A line `…` replaces any omitted lines, and `…` in a
//!   line replaces a part of it; spaces at the end of lines are ignored. These commands run in ignored tests, because
//!   the tools must be installed: `cargo test --test tutorials -- --ignored other_checkers`.
//! - No other block is allowed in a tutorial, so every block is tested. Other pages may have blocks of other languages
//!   and of no language, but without commands.
//!
//! Times and sizes are not compared ([`masked`]). The row `found` of a report ends in the time and the memory of the
//! search, and the row `test result` of Cargo in the time; the text after its last `; ` may differ. Outside tutorials,
//! [`mask_row`](masked_rows::mask_row) also masks the figures of other rows.
//!
//! After an intended change, `cargo test --test tutorials -- --ignored renew` writes the current output into the pages;
//! review the changes.

#[path = "tutorials/blocks.rs"]
mod blocks;
#[path = "support/masked.rs"]
mod masked;
#[path = "support/masked_rows.rs"]
mod masked_rows;
#[path = "tutorials/walk.rs"]
mod walk;

use blocks::SKIP_REASONS;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use walk::{PageKind, PageMismatch, WalkOptions};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A page, by its path from the root of the repository.
fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

const TUTORIAL: WalkOptions =
    WalkOptions { kind: PageKind::Tutorial, runs_other_checkers: false, renews: false };
const REFERENCE: WalkOptions =
    WalkOptions { kind: PageKind::Reference, runs_other_checkers: false, renews: false };

/// Walks through pages, one after the other, in one folder. Returns the number of commands.
fn follow(names: &[&str], options: WalkOptions) -> Result<usize, PageMismatch> {
    let home = tempfile::tempdir().unwrap();
    if options.kind == PageKind::Reference {
        std::os::unix::fs::symlink(root().join("models"), home.path().join("models")).unwrap();
    }
    let mut commands = 0;
    for name in names {
        let page = read(name);
        let walked = walk::walk(name, &page, home.path(), options)?;
        if options.renews && walked.page != page {
            std::fs::write(root().join(name), walked.page).unwrap();
        }
        commands += walked.commands;
    }
    Ok(commands)
}

fn follow_tutorial(names: &[&str], options: WalkOptions) {
    match follow(names, options) {
        Ok(commands) => assert!(commands > 4, "{names:?}: only {commands} commands"),
        Err(mismatch) => panic!("{mismatch}"),
    }
}

const SPIN: &str = "docs/tutorials/spin.md";
const MURPHI: &str = "docs/tutorials/murphi.md";
const TLC: &str = "docs/tutorials/tlc.md";
const RUST: &str = "docs/tutorials/rust.md";

#[test]
fn commands_of_the_spin_tutorial_have_their_output() {
    follow_tutorial(&[SPIN], TUTORIAL);
}

#[test]
fn commands_of_the_murphi_tutorial_have_their_output() {
    follow_tutorial(&[MURPHI], TUTORIAL);
}

#[test]
fn commands_of_the_tlc_tutorial_have_their_output() {
    follow_tutorial(&[TLC], TUTORIAL);
}

#[test]
fn commands_of_the_rust_tutorial_have_their_output() {
    follow_tutorial(&[RUST], TUTORIAL);
}

/// An overview page, and one page for each bug.
const FIVE_BUGS: [&str; 6] = [
    "docs/tutorials/five-bugs.md",
    "docs/tutorials/five-bugs/lost_message.md",
    "docs/tutorials/five-bugs/missing_invalidation.md",
    "docs/tutorials/five-bugs/undefined_read.md",
    "docs/tutorials/five-bugs/deadlock.md",
    "docs/tutorials/five-bugs/failed_assertion.md",
];

#[test]
fn commands_of_the_five_bugs_pages_have_their_output() {
    follow_tutorial(&FIVE_BUGS, TUTORIAL);
}

#[test]
#[ignore = "needs SPIN 6.5.2, Rumur 2022.08.20 and Stateright 0.31"]
fn other_checkers_have_the_output_of_the_five_bugs_pages() {
    follow_tutorial(&FIVE_BUGS, WalkOptions { runs_other_checkers: true, ..TUTORIAL });
}

/// The long flags that a text names.
fn flags(text: &str) -> BTreeSet<&str> {
    let is_flag = |it: &char| it.is_ascii_lowercase() || *it == '-';
    let starts = text.match_indices("--").map(|(at, _)| &text[at..]);
    let flags = starts.map(|rest| rest.split(|it| !is_flag(&it)).next().unwrap_or_default());
    flags.filter(|it| it.len() > 2 && !it.starts_with("---") && !it.ends_with('-')).collect()
}

#[test]
fn flags_named_in_tutorials_exist() {
    let help: String = ["check", "resume", "status", "trace", "explain", "simulate"]
        .map(|command| {
            let mut spillway = Command::new(env!("CARGO_BIN_EXE_spillway"));
            String::from_utf8(spillway.args([command, "--help"]).output().unwrap().stdout).unwrap()
        })
        .concat();
    let mut there = flags(&help);
    assert!(there.contains("--memory") && !there.contains("--search"), "{there:?}");
    // A flag of Cargo, which the tutorial builds with.
    there.insert("--release");
    for name in [SPIN, MURPHI, TLC] {
        let page = read(name);
        // The flags of other checkers are in the first column of a table.
        let spillway_text = page.lines().map(|line| match line.strip_prefix("| ") {
            Some(row) => row.split_once(" | ").map_or(row, |(_, spillway_cell)| spillway_cell),
            None => line,
        });
        let spillway_text: Vec<&str> = spillway_text.collect();
        let spillway_text = spillway_text.join("\n");
        let named = flags(&spillway_text);
        assert!(named.contains("--dir"), "{name}: {named:?}");
        let unknown: Vec<_> = named.difference(&there).collect();
        assert!(unknown.is_empty(), "{name}: no command has {unknown:?}");
    }
}

/// The pages of `docs/` below a folder, without the tutorials.
fn reference_pages(folder: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut folders = vec![PathBuf::from("docs").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            match root().join(&path).is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|it| it == "md") => {
                    all.push(path.display().to_string());
                }
                false => {}
            }
        }
    }
    all.retain(|it| !it.starts_with("docs/tutorials/"));
    all.sort();
    all
}

/// Executes each page in its own folder. Asserts a minimum number of commands.
fn follow_each(pages: &[String], commands_min: usize) {
    let walked = pages.iter().map(|it| follow(&[it.as_str()], REFERENCE));
    match walked.sum::<Result<usize, PageMismatch>>() {
        Ok(commands) => assert!(commands >= commands_min, "only {commands} commands"),
        Err(mismatch) => panic!("{mismatch}"),
    }
}

#[test]
fn commands_of_how_to_guides_have_their_output() {
    follow_each(&reference_pages("how-to"), 25);
}

#[test]
fn commands_of_all_other_pages_have_their_output() {
    let mut pages = reference_pages("");
    pages.retain(|it| !it.starts_with("docs/how-to/"));
    pages.push("README.md".into());
    follow_each(&pages, 5);
}

#[test]
fn reasons_for_skipped_blocks_are_listed_and_used() {
    let pages: String =
        reference_pages("").iter().map(|it| read(it)).chain([read("README.md")]).collect();
    let listed = read("docs/internals/testing.md");
    for it in SKIP_REASONS {
        assert!(pages.contains(&format!(" skip={}\n", it.name)), "no block skips for {}", it.name);
        let row = format!("| `skip={}` | {} |", it.name, it.meaning);
        assert!(listed.contains(&row), "docs/internals/testing.md has no row\n{row}");
    }
}

#[test]
#[ignore = "writes the pages"]
fn renew() {
    let renews = true;
    for names in [&[SPIN][..], &[MURPHI], &[TLC], &[RUST], &FIVE_BUGS] {
        follow(names, WalkOptions { renews, ..TUTORIAL }).unwrap_or_else(|it| panic!("{it}"));
    }
    for page in reference_pages("").iter().map(String::as_str).chain(["README.md"]) {
        follow(&[page], WalkOptions { renews, ..REFERENCE }).unwrap_or_else(|it| panic!("{it}"));
    }
}

/// Walks through a page made by a test.
fn walk_planted(page: &str, options: WalkOptions) -> Result<walk::WalkResult, PageMismatch> {
    walk::walk("planted", page, tempfile::tempdir().unwrap().path(), options)
}

#[test]
fn reference_pages_may_have_other_blocks() {
    let right = "```json\n{}\n```\n```\n->\n```\n```sh\ntrue\ntrue\n```\n```console skip=long\n$ sleep 1000\n```\n\
        ```console\n$ echo '  took     7 s'\n  took     8 s\n```\n";
    assert_eq!(walk_planted(right, REFERENCE).map(|it| it.commands), Ok(2));
    assert!(walk_planted(right, TUTORIAL).is_err());
    for wrong in [
        "```sh\nexit 1\n```\n",
        "```sh\nfalse\ntrue\n```\n",
        "```console skip=because\n$ true\n```\n",
        "```json skip=long\n{}\n```\n",
        "```text\n$ spillway check\n```\n",
        "```console\n$ echo one\ntwo\n```\n",
    ] {
        assert!(walk_planted(wrong, REFERENCE).is_err(), "{wrong}");
    }
}

#[test]
fn renew_replaces_only_changed_output() {
    let page = "```console\n$ echo one\ntwo\nthree\n$ echo four\nfour\n```\nfive\n```console\n$ printf '  found    1 state; 2 s\\nsix\\n'\n  found    1 state; 1 s\n```\n";
    let renewed = "```console\n$ echo one\none\n$ echo four\nfour\n```\nfive\n```console\n$ printf '  found    1 state; 2 s\\nsix\\n'\n  found    1 state; 1 s\nsix\n```\n";
    let walked = walk_planted(page, WalkOptions { renews: true, ..TUTORIAL });
    assert_eq!(walked.map(|it| it.page).as_deref(), Ok(renewed));
}

#[test]
fn differences_from_a_page_are_detected() {
    let wrong = BTreeMap::from([
        ("output of a command", "```console\n$ echo one\ntwo\n```\n"),
        ("missing output", "```console\n$ echo one\n```\n"),
        ("output on standard error", "```console\n$ echo one >&2\n```\n"),
        ("exit code", "```console\n$ (exit 3)\n$ echo $?\n0\n```\n"),
        ("exit code that is not told", "```console\n$ (exit 3)\n```\n"),
        ("the same, with more behind it", "```console\n$ (exit 2)\n$ echo\n\n$ echo $?\n0\n```\n"),
        ("a change that does not fit", "```c file=a\none\n```\n```diff file=a\n-two\n```\n"),
        ("a block of no known kind", "```text\none\n```\n"),
        ("no command", "```console\none\n```\n"),
        (
            "counts",
            "```console\n$ echo '  found    1 state; 0.1 s'\n  found    2 states; 0.1 s\n```\n",
        ),
    ]);
    let walk = |page| walk_planted(page, TUTORIAL);
    for (what, page) in wrong {
        assert!(walk(page).is_err(), "{what}");
    }
    let right = "```c file=a\none\ntwo\n```\n```diff file=a\n-one\n+three\n two\n```\n```c append=a\nfour\n```\n\
        ```console\n$ cat a\nthree\ntwo\nfour\n$ (exit 3)\n$ echo $?\n3\n\
        $ echo '  found    1 state; 0.1 s, 2MiB'\n  found    1 state; 0.2 s,\n           3MiB\n```\n";
    assert_eq!(walk(right).map(|it| it.commands), Ok(4));
}

#[test]
fn ellipses_match_omitted_output_of_other_checkers() {
    let page = "```console of=else\n$ printf 'one \\ntwo at 7\\nthree\\n'\none\ntwo at …\n…\n```\n";
    let walk = |page: &str, runs_other_checkers| {
        walk_planted(page, WalkOptions { runs_other_checkers, ..TUTORIAL })
    };
    assert_eq!(walk(page, true).map(|it| it.commands), Ok(1));
    assert_eq!(walk(page, false).map(|it| it.commands), Ok(0));
    for (right, wrong) in [("one\n", "four\n"), ("two at …", "two on …"), ("…\n`", "…\nfour\n`")]
    {
        let page = page.replacen(right, wrong, 1);
        assert!(walk(&page, true).is_err(), "{page}");
    }
}
