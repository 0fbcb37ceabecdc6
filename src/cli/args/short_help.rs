//! Parses the command line. `-h` shows the flags of the first hour, on one screen; `--help` shows all.

use super::{Cli, former_flag};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;

/// By the names of their fields.
const BRIEF: [&str; 22] = [
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
    "no_claim",
    "only",
    "over",
    "reduce",
    "reductions_only",
    "seed",
    "steps",
    "strategies",
    "threads",
    "verbose",
    "walks",
];

/// Those that the short help of `sweep` leaves out, for which its screen has no room.
const NOT_OF_SWEEP: [&str; 3] = ["keep_going", "no_claim", "verbose"];

/// A command line, and the former flags that it uses.
pub struct ParsedCommandLine {
    /// The parsed command line.
    pub cli: Cli,
    /// For each former flag, the flag and the option that is used in its place.
    pub former: Vec<ReplacedFlag>,
}

/// A former flag, and the option in its place as it is to be given.
pub struct ReplacedFlag {
    /// The flag.
    pub flag: String,
    /// The option: `-X por-proviso=levels`.
    pub option: String,
}

/// Parses the command line. Former flags are replaced by the options of `-X` that mean the same.
pub fn parse() -> Result<ParsedCommandLine, clap::Error> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let mut former = Vec::new();
    loop {
        let error = match parse_words(&words) {
            Ok(cli) => return Ok(ParsedCommandLine { cli, former }),
            Err(error) => error,
        };
        let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
            return Err(error);
        };
        let own: Vec<String> =
            words.iter().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
        let found = former_flag(&own, flag).filter(|_| error.kind() == ErrorKind::UnknownArgument);
        let Some((found, replacement)) =
            found.and_then(|it| it.replacement.clone().map(|words| (it, words)))
        else {
            return Err(error);
        };
        former.push(ReplacedFlag { flag: flag.clone(), option: found.shown });
        let range = found.words.start + 1..found.words.end + 1;
        words.splice(range, replacement.map(OsString::from));
    }
}

fn parse_words(words: &[OsString]) -> Result<Cli, clap::Error> {
    let mut command = command();
    let matches = command.try_get_matches_from_mut(words);
    let matches = matches.map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => not_asked(&command).unwrap_or(error),
        _ => error,
    })?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Returns an error for a flag that only begins like the one for help or version, such as the `-h12` of another
/// checker. A script would take the exit code of help for that of a verified model.
fn not_asked(command: &clap::Command) -> Option<clap::Error> {
    let words = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    let words: Vec<String> = words.take_while(|it| it != "--").collect();
    let is_longer = |it: &&String| it.len() > 2 && (it.starts_with("-h") || it.starts_with("-V"));
    let typed = words.iter().find(is_longer)?;
    let of = words.iter().find_map(|it| command.find_subcommand(it)).unwrap_or(command);
    let mut error = clap::Error::new(ErrorKind::UnknownArgument).with_cmd(of);
    error.insert(ContextKind::InvalidArg, ContextValue::String(typed.clone()));
    Some(error)
}

fn command() -> clap::Command {
    Cli::command().mut_subcommands(|command| {
        let is_sweep = command.get_name() == "sweep";
        command.mut_args(move |arg| {
            let name = arg.get_id().as_str();
            let is_brief = BRIEF.contains(&name) && !(is_sweep && NOT_OF_SWEEP.contains(&name));
            let is_shown = arg.is_positional() || is_brief;
            arg.hide_short_help(!is_shown)
        })
    })
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
            let text = crate::cli::line_wrap::wrap_lines(&it.render_help().to_string(), 80);
            assert!(text.lines().count() <= 45, "{text}");
            assert!(text.lines().all(|it| it.chars().count() <= 80), "{text}");
        }
    }
}
