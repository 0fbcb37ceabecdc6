//! The tutorials do what they say: every command is run, and all that it prints compared.
//!
//! A page of `docs/tutorials/` is walked from top to bottom, in a folder of its own that begins empty:
//!
//! - A block `LANGUAGE file=NAME` is written to that file; `LANGUAGE append=NAME` goes to its end. A block
//!   `diff file=NAME` has lines of a file, those to take out after `-`, those to put in after `+`: what is in the file of
//!   these lines, once, is replaced.
//! - In a block `console` a line after `$ ` is a command for the shell, in which `spillway` is the one that was built;
//!   what follows, up to the next, is all that it prints, on both streams. `cd` holds for the commands that follow, and
//!   `echo $?` tells how the last one ended. Who ends otherwise than with 0 or 1 must be followed by it.
//! - No other block is allowed, so that nothing is shown that nobody looks at.
//!
//! One thing is not compared ([`masked`]): the row `found` of a report ends in the time and the memory that a search took, and
//! the row `test result` of Cargo in the time; what stands behind its last `; ` may differ.

#[path = "support/masked.rs"]
mod masked;

use masked::masked;
use std::collections::{BTreeMap, BTreeSet};
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

/// A page that is being walked through.
struct Walk {
    name: &'static str,
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
    fn new(name: &'static str, home: &Path) -> Walk {
        let (home, folder) = (home.to_path_buf(), home.to_path_buf());
        Walk { name, home, folder, code: 0, untold: None, commands: 0 }
    }

    /// Does what a block says; what differs from the page, if anything does.
    fn block(&mut self, block: &Block) -> Result<(), String> {
        let words: Vec<&str> = block.info.split(' ').collect();
        match words[..] {
            ["console"] => return self.console(block),
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

    fn at(&self, line: usize, what: &str) -> String {
        format!("docs/tutorials/{}.md:{line}: {what}", self.name)
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

    fn edit(&self, block: &Block, file: &str) -> Result<(), String> {
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

    fn console(&mut self, block: &Block) -> Result<(), String> {
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
            self.command(at, command, &told)?;
        }
        Ok(())
    }

    fn command(&mut self, at: usize, command: &str, told: &str) -> Result<(), String> {
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
        if masked(&printed) == masked(told) {
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
        let ran = shell.output().unwrap();
        self.code = ran.status.code().unwrap_or(-1);
        String::from_utf8(ran.stdout).unwrap()
    }
}

/// Walks through a page; how many commands it has, or what differs.
fn walk(name: &'static str, page: &str) -> Result<usize, String> {
    let home = tempfile::tempdir().unwrap();
    let mut walk = Walk::new(name, home.path());
    for block in blocks(page) {
        walk.block(&block)?;
    }
    match walk.untold {
        Some(line) => Err(walk.at(line, "ends in a way that the page does not tell")),
        None => Ok(walk.commands),
    }
}

fn read(name: &str) -> String {
    let file = format!("{}/docs/tutorials/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).unwrap()
}

fn follow(name: &'static str) {
    match walk(name, &read(name)) {
        Ok(commands) => assert!(commands > 4, "{name}: only {commands} commands"),
        Err(message) => panic!("{message}"),
    }
}

#[test]
fn the_tutorial_for_users_of_spin_does_what_it_says() {
    follow("spin");
}

#[test]
fn the_tutorial_for_users_of_murphi_does_what_it_says() {
    follow("murphi");
}

#[test]
fn the_tutorial_for_rust_programmers_does_what_it_says() {
    follow("rust");
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
    for name in ["spin", "murphi"] {
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
    for (what, page) in wrong {
        assert!(walk("planted", page).is_err(), "{what}");
    }
    let right = "```c file=a\none\ntwo\n```\n```diff file=a\n-one\n+three\n two\n```\n```c append=a\nfour\n```\n\
        ```console\n$ cat a\nthree\ntwo\nfour\n$ (exit 3)\n$ echo $?\n3\n\
        $ echo '  found    1 state; 0.1 s, 2MiB'\n  found    1 state; 0.2 s,\n           3MiB\n```\n";
    assert_eq!(walk("planted", right), Ok(4));
}
