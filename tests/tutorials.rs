//! The tutorials and the pages of five bugs are correct: every command is run, and all its output is compared.
//!
//! A page of `docs/tutorials/` is executed from top to bottom, in an empty folder of its own.
//! `docs/tutorials/five-bugs.md` and the pages in the folder of that name are executed one after the other, in one
//! folder:
//!
//! - A block `LANGUAGE file=NAME` is written to that file; a block `LANGUAGE append=NAME` is appended to it. A block
//!   `diff file=NAME` has lines of a file, with `-` before removed lines and `+` before added ones. Its old lines,
//!   which must occur once, are replaced.
//! - In a block `console`, a line after `$ ` is a command for the shell, in which `spillway` is the tested command. The
//!   lines up to the next command are all its output, on both streams. `cd` applies to the commands that follow, and
//!   `echo $?` prints the exit code of the last one. It must follow a command whose exit code is neither 0 nor 1.
//! - A block `console of=TOOL` shows the output of another checker. A line `…` replaces any omitted lines, and `…` in a
//!   line replaces a part of it; spaces at the end of lines are ignored. These commands run in ignored tests, because
//!   the tools must be installed: `cargo test --test tutorials -- --ignored`.
//! - No other block is allowed, so every block is tested.
//!
//! One part is not compared ([`masked`]). The row `found` of a report ends in the time and the memory of the search,
//! and the row `test result` of Cargo in the time; the text after its last `; ` may differ.

#[path = "support/masked.rs"]
mod masked;

use masked::masked;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block of a page.
struct Block<'p> {
    /// What stands behind the fence.
    info: &'p str,
    /// The lines between the fences, each with its end.
    text: String,
    /// Where it begins.
    line: usize,
}

/// The blocks of a page, in order.
fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut all = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let text = inside.flat_map(|line| [line, "\n"]).collect();
        all.push(Block { info, text, line: at + 1 });
    }
    all
}

/// What is other than a page says.
#[derive(Debug, PartialEq, Eq)]
struct PageMismatch {
    /// The page, by its path below `docs/`, without its ending.
    name: &'static str,
    line: usize,
    what: String,
}

impl fmt::Display for PageMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "docs/{}.md:{}: {}", self.name, self.line, self.what)
    }
}

/// A page that is being walked through.
struct Walk {
    /// The page, by its path below `docs/`, without its ending.
    name: &'static str,
    /// Whether other tools are run, too.
    others: bool,
    home: PathBuf,
    /// Where the next command is run.
    folder: PathBuf,
    /// How the last command ended.
    code: i32,
    /// The line of a command that ended in a way that must be told, and was not yet.
    untold: Option<usize>,
    /// How many commands were run.
    commands: usize,
}

impl Walk {
    fn new(name: &'static str, home: &Path, others: bool) -> Walk {
        let (home, folder) = (home.to_path_buf(), home.to_path_buf());
        Walk { name, others, home, folder, code: 0, untold: None, commands: 0 }
    }

    /// Does what a block says; what differs from the page, if anything does.
    fn block(&mut self, block: &Block) -> Result<(), PageMismatch> {
        let words: Vec<&str> = block.info.split(' ').collect();
        match words[..] {
            ["console"] => return self.console(block, false),
            ["console", tool] if tool.starts_with("of=") => return self.console(block, true),
            [language, target] => match (language, target.split_once('=')) {
                ("diff", Some(("file", file))) => return self.edit(block, file),
                (_, Some(("file", file))) => self.write(file, &block.text),
                (_, Some(("append", file))) => {
                    let before = std::fs::read_to_string(self.home.join(file)).unwrap();
                    self.write(file, &(before + &block.text));
                }
                _ => return Err(self.at(block.line, "a block that the test does not know")),
            },
            _ => return Err(self.at(block.line, "a block that the test does not know")),
        }
        Ok(())
    }

    fn at(&self, line: usize, what: &str) -> PageMismatch {
        PageMismatch { name: self.name, line, what: what.to_owned() }
    }

    fn write(&self, file: &str, text: &str) {
        // A program of one's own finds the library beside itself on the page, and here where it is.
        let library = format!("\"{}\"", env!("CARGO_MANIFEST_DIR"));
        let text = text.replace("\"../spillway\"", &library);
        let to = self.home.join(file);
        if to.ends_with("Cargo.toml") {
            // Without a network only the versions that we have can be had.
            let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock");
            std::fs::copy(ours, to.with_file_name("Cargo.lock")).unwrap();
        }
        std::fs::write(to, text).unwrap();
    }

    fn edit(&self, block: &Block, file: &str) -> Result<(), PageMismatch> {
        let side = |other: char| -> String {
            let lines = block.text.lines().filter(|line| !line.starts_with(other));
            lines.flat_map(|line| [line.get(1..).unwrap_or_default(), "\n"]).collect()
        };
        let (old, new) = (side('+'), side('-'));
        let text = std::fs::read_to_string(self.home.join(file)).unwrap();
        match text.matches(&old).count() {
            1 => self.write(file, &text.replace(&old, &new)),
            many => {
                return Err(self.at(block.line, &format!("these lines are {many} times in {file}")));
            }
        }
        Ok(())
    }

    fn console(&mut self, block: &Block, of_other: bool) -> Result<(), PageMismatch> {
        let mut lines = block.text.lines().enumerate().peekable();
        while let Some((at, line)) = lines.next() {
            let at = block.line + at + 1;
            let Some(command) = line.strip_prefix("$ ") else {
                return Err(self.at(at, "output of no command"));
            };
            let mut told = String::new();
            while let Some((_, line)) = lines.next_if(|(_, line)| !line.starts_with("$ ")) {
                told += line;
                told += "\n";
            }
            if !of_other {
                self.command(at, command, &told, |printed, told| masked(printed) == masked(told))?;
            } else if self.others {
                self.command(at, command, &told, fits)?;
            }
        }
        Ok(())
    }

    /// Runs a command; what differs from the page, by what is `same`, if anything does.
    fn command(
        &mut self,
        at: usize,
        command: &str,
        told: &str,
        same: fn(&str, &str) -> bool,
    ) -> Result<(), PageMismatch> {
        self.commands += 1;
        if command == "echo $?" {
            self.untold = None;
        }
        if let Some(line) = self.untold {
            let message = format!("ends with {}, which the page does not tell", self.code);
            return Err(self.at(line, &message));
        }
        if let Some(folder) = command.strip_prefix("cd ") {
            self.folder.push(folder);
            return Ok(());
        }
        let printed = self.run(command);
        if !matches!(self.code, 0 | 1) {
            self.untold = Some(at);
        }
        if same(&printed, told) {
            return Ok(());
        }
        let what = format!("`{command}` prints\n{printed}\nand the page says\n{told}");
        Err(self.at(at, &what))
    }

    /// What a command prints.
    fn run(&mut self, command: &str) -> String {
        let built = Path::new(env!("CARGO_BIN_EXE_spillway")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = [built.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec 2>&1\n(exit {})\n{command}", self.code));
        shell.current_dir(&self.folder).env("PATH", std::env::join_paths(paths).unwrap());
        shell.env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorials"));
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never");
        shell.env("RUST_BACKTRACE", "0");
        let ran = shell.output().unwrap();
        self.code = ran.status.code().unwrap_or(-1);
        String::from_utf8(ran.stdout).unwrap()
    }
}

/// Whether what was printed is what is told of it, in which `…` stands for what is left out.
fn fits(printed: &str, told: &str) -> bool {
    fn lines_fit(printed: &[&str], told: &[&str]) -> bool {
        match told {
            [] => printed.is_empty(),
            ["…", rest @ ..] => (0..=printed.len()).any(|left| lines_fit(&printed[left..], rest)),
            [line, rest @ ..] => match printed {
                [] => false,
                [first, others @ ..] => line_fits(first, line) && lines_fit(others, rest),
            },
        }
    }
    fn line_fits(printed: &str, told: &str) -> bool {
        let Some((start, rest)) = told.split_once('…') else { return printed == told };
        let Some(tail) = printed.strip_prefix(start) else { return false };
        let mut ends = tail.char_indices().map(|(at, _)| at).chain([tail.len()]);
        ends.any(|at| line_fits(&tail[at..], rest))
    }
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let told: Vec<&str> = told.lines().collect();
    lines_fit(&printed, &told)
}

/// Walks through a page in a folder; how many commands it has, or what differs.
fn walk(name: &'static str, page: &str, home: &Path, others: bool) -> Result<usize, PageMismatch> {
    let mut walk = Walk::new(name, home, others);
    for block in blocks(page) {
        walk.block(&block)?;
    }
    match walk.untold {
        Some(line) => Err(walk.at(line, "ends in a way that the page does not tell")),
        None => Ok(walk.commands),
    }
}

/// A page, by its path below `docs/`, without its ending.
fn read(name: &str) -> String {
    let file = format!("{}/docs/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).unwrap()
}

/// Walks through pages, one after the other, in one folder.
fn follow(names: &[&'static str], others: bool) {
    let home = tempfile::tempdir().unwrap();
    let walked = names.iter().map(|name| walk(name, &read(name), home.path(), others));
    match walked.sum::<Result<usize, PageMismatch>>() {
        Ok(commands) => assert!(commands > 4, "{names:?}: only {commands} commands"),
        Err(mismatch) => panic!("{mismatch}"),
    }
}

#[test]
fn the_tutorial_for_users_of_spin_does_what_it_says() {
    follow(&["tutorials/spin"], false);
}

#[test]
fn the_tutorial_for_users_of_murphi_does_what_it_says() {
    follow(&["tutorials/murphi"], false);
}

#[test]
fn the_tutorial_for_users_of_tlc_does_what_it_says() {
    follow(&["tutorials/tlc"], false);
}

#[test]
fn the_tutorial_for_rust_programmers_does_what_it_says() {
    follow(&["tutorials/rust"], false);
}

/// A page that says what the others are for, and one for each bug.
const FIVE_BUGS: [&str; 6] = [
    "tutorials/five-bugs",
    "tutorials/five-bugs/lost_message",
    "tutorials/five-bugs/missing_invalidation",
    "tutorials/five-bugs/undefined_read",
    "tutorials/five-bugs/deadlock",
    "tutorials/five-bugs/failed_assertion",
];

#[test]
fn five_bugs_are_told_as_the_pages_say() {
    follow(&FIVE_BUGS, false);
}

#[test]
#[ignore = "needs SPIN 6.5.2, Rumur 2022.08.20 and Stateright 0.31"]
fn others_tell_the_five_bugs_as_the_pages_say() {
    follow(&FIVE_BUGS, true);
}

/// The flags that a text names, with two dashes.
fn flags(text: &str) -> BTreeSet<&str> {
    let is_flag = |it: &char| it.is_ascii_lowercase() || *it == '-';
    let starts = text.match_indices("--").map(|(at, _)| &text[at..]);
    let flags = starts.map(|rest| rest.split(|it| !is_flag(&it)).next().unwrap_or_default());
    flags.filter(|it| it.len() > 2 && !it.starts_with("---") && !it.ends_with('-')).collect()
}

#[test]
fn flags_that_the_tutorials_name_are_there() {
    let help: String = ["check", "resume", "status", "trace", "explain", "simulate"]
        .map(|command| {
            let mut spillway = Command::new(env!("CARGO_BIN_EXE_spillway"));
            String::from_utf8(spillway.args([command, "--help"]).output().unwrap().stdout).unwrap()
        })
        .concat();
    let mut there = flags(&help);
    assert!(there.contains("--memory") && !there.contains("--search"), "{there:?}");
    // Cargo's, to build it.
    there.insert("--release");
    for name in ["tutorials/spin", "tutorials/murphi"] {
        let page = read(name);
        // What others' commands are called stands in the first column of a table.
        let ours = page.lines().map(|line| match line.strip_prefix("| ") {
            Some(row) => row.split_once(" | ").map_or(row, |(_, ours)| ours),
            None => line,
        });
        let ours: Vec<&str> = ours.collect();
        let ours = ours.join("\n");
        let named = flags(&ours);
        assert!(named.contains("--dir"), "{name}: {named:?}");
        let unknown: Vec<_> = named.difference(&there).collect();
        assert!(unknown.is_empty(), "{name}: no command has {unknown:?}");
    }
}

#[test]
fn what_differs_from_a_page_is_found() {
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
    let walk = |page| walk("planted", page, tempfile::tempdir().unwrap().path(), false);
    for (what, page) in wrong {
        assert!(walk(page).is_err(), "{what}");
    }
    let right = "```c file=a\none\ntwo\n```\n```diff file=a\n-one\n+three\n two\n```\n```c append=a\nfour\n```\n\
        ```console\n$ cat a\nthree\ntwo\nfour\n$ (exit 3)\n$ echo $?\n3\n\
        $ echo '  found    1 state; 0.1 s, 2MiB'\n  found    1 state; 0.2 s,\n           3MiB\n```\n";
    assert_eq!(walk(right), Ok(4));
}

#[test]
fn what_others_print_is_compared_but_for_what_is_left_out() {
    let page = "```console of=else\n$ printf 'one \\ntwo at 7\\nthree\\n'\none\ntwo at …\n…\n```\n";
    let walk =
        |page: &str, others| walk("planted", page, tempfile::tempdir().unwrap().path(), others);
    assert_eq!(walk(page, true), Ok(1));
    assert_eq!(walk(page, false), Ok(0));
    for (right, wrong) in [("one\n", "four\n"), ("two at …", "two on …"), ("…\n`", "…\nfour\n`")]
    {
        let page = page.replacen(right, wrong, 1);
        assert!(walk(&page, true).is_err(), "{page}");
    }
}
