//! Screens: commands with all their output on both streams and their exit codes, in `tests/printed/screens/`.
//!
//! A page is executed from top to bottom in a folder of its own:
//!
//! - A block `NAME file` is written to that file.
//! - In a block `console`, a line after `$ ` is a command for the shell, in which `spillway` is the tested command.
//! - The lines up to the next command are its output, and `=> CODE` if the exit code is not 0.
//!
//! Figures of time, memory and disk are masked by [`masked`](super::masked), and in the rows of `--verbose`. The folder
//! of temporary directories is `TMP`, that of the page `HERE`, and the random part of names `*`.
//!
//! After an intended change, `cargo test --test printed -- --ignored renew` writes the current output; review the
//! changes.

use super::Folder;
use super::masked::masked;
use super::masked_rows::mask_row;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/printed/screens");
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    all.sort();
    all
}

/// Runs a command. Returns its output and exit code in the form of a page.
fn run_command(folder: &Folder, command: &str) -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_spillway")).parent().unwrap().to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = [built].into_iter().chain(std::env::split_paths(&path));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1 </dev/null\n{command}")).current_dir(&folder.0);
    shell.env("PATH", std::env::join_paths(paths).unwrap()).env("TMPDIR", folder.path("tmp"));
    let output = shell.output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let out = out.replace(&folder.path("tmp").display().to_string(), "TMP");
    let out = out.replace(&folder.0.path().display().to_string(), "HERE");
    let mut lines: Vec<String> =
        masked(&out).lines().map(|it| mask_row(&mask_temporary_names(it))).collect();
    if let Some(code @ 1..) = output.status.code() {
        lines.push(format!("=> {code}"));
    }
    lines.iter().flat_map(|it| [it, "\n"]).collect()
}

/// Masks the random part of the names of temporary directories in a line.
fn mask_temporary_names(line: &str) -> String {
    let mut parts = line.split("/spillway-");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += "/spillway-*";
        out += part.trim_start_matches(|it: char| it.is_ascii_alphanumeric());
    }
    out
}

/// Runs the commands of a page. Returns the page with their current output.
fn run_page(page: &str) -> String {
    let folder = Folder::with("nothing", "");
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(info) = line.strip_prefix("```") else { continue };
        match info.strip_suffix(" file") {
            Some(name) => {
                let text: String = lines
                    .by_ref()
                    .take_while(|it| *it != "```")
                    .flat_map(|it| [it, "\n"])
                    .collect();
                folder.write(name, &text);
                out += &format!("{text}```\n");
            }
            None => {
                while let Some(line) = lines.next_if(|it| *it != "```") {
                    if let Some(command) = line.strip_prefix("$ ") {
                        out += &format!("{line}\n{}", run_command(&folder, command));
                    }
                }
                lines.next();
                out += "```\n";
            }
        }
    }
    out
}

#[test]
fn screens_equal_current_output() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let now = run_page(&page);
        let differs = page.lines().zip(now.lines()).position(|(one, other)| one != other);
        if let Some(at) = differs {
            let from = |text: &str| text.lines().skip(at).take(12).collect::<Vec<_>>().join("\n");
            panic!(
                "{}:{}: the page says\n{}\nand now it is\n{}",
                path.display(),
                at + 1,
                from(&page),
                from(&now)
            );
        }
        assert_eq!(page, now);
        assert!(page.matches("\n$ ").count() > 4, "{}", path.display());
    }
}

#[test]
#[ignore = "writes the pages"]
fn renew() {
    for path in pages() {
        let now = run_page(&fs::read_to_string(&path).unwrap());
        fs::write(path, now).unwrap();
    }
}
