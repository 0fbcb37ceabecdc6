//! Which flags `-h` shows: those of the first hour, on one screen. `--help` shows all.

use super::Cli;
use clap::{Arg, CommandFactory, FromArgMatches};

/// By the names of their fields.
const BRIEF: [&str; 21] = [
    "all",
    "defines",
    "dir",
    "from",
    "interactive",
    "json",
    "keep_going",
    "last",
    "ltl",
    "max_time",
    "memory",
    "msc",
    "no_claim",
    "no_trace",
    "only",
    "reduce",
    "reductions_only",
    "seed",
    "steps",
    "threads",
    "verbose",
];

/// What the command line asks for.
pub fn parse() -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

fn command() -> clap::Command {
    let told = |arg: Arg| {
        let is_shown = arg.is_positional() || BRIEF.contains(&arg.get_id().as_str());
        arg.hide_short_help(!is_shown)
    };
    Cli::command().mut_subcommands(|it| it.mut_args(told))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_flags_of_short_help_are_flags() {
        command().debug_assert();
        let command = command();
        let of = |it: &clap::Command| -> Vec<String> {
            it.get_arguments().map(|it| it.get_id().to_string()).collect()
        };
        let all: BTreeSet<String> = command.get_subcommands().flat_map(of).collect();
        let unknown: Vec<_> = BRIEF.iter().filter(|&&it| !all.contains(it)).collect();
        assert!(unknown.is_empty(), "{unknown:?} of {all:?}");
    }

    #[test]
    fn short_help_fits_a_screen() {
        for it in command().get_subcommands_mut() {
            let text = crate::cli::fold::folded(&it.render_help().to_string(), 80);
            assert!(text.lines().count() <= 45, "{text}");
            assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
        }
    }
}
