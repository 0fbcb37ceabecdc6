//! `completions` and `man`: shell completions and manual pages, generated from the definition of the command line.

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::failure::{self, CommandFailure};
use super::{CommandResult, print, say};
use clap::CommandFactory;
use std::io;

/// `spillway completions`.
pub(super) fn completions(args: &CompletionsArgs) -> CommandResult {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "spillway", &mut out);
    print(&String::from_utf8_lossy(&out));
    Ok(failure::VERIFIED)
}

/// `spillway man`.
pub(super) fn man(args: &ManArgs) -> CommandResult {
    let Some(dir) = &args.out else {
        let mut out = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut out).map_err(failed("the manual"))?;
        print(&String::from_utf8_lossy(&out));
        return Ok(failure::VERIFIED);
    };
    let name = dir.display().to_string();
    std::fs::create_dir_all(dir).map_err(failed(&name))?;
    clap_mangen::generate_to(Cli::command(), dir).map_err(failed(&name))?;
    say(format!(
        "wrote a page for each command to {name}; `man -l {name}/spillway.1` shows the first"
    ));
    Ok(failure::VERIFIED)
}

fn failed(what: &str) -> impl FnOnce(io::Error) -> CommandFailure {
    move |error| CommandFailure::wrong(format!("cannot write {what}: {error}"))
}
