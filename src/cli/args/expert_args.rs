//! `-X NAME=VALUE`: the flag for options that few checks need, as `-C` of rustc and `-f` of GCC.
//!
//! A command has one such flag, with the options of the [table](super::expert_options) that the command has.

use super::expert_options::{self, ExpertOption, ExpertOptionError, ParameterTarget};
use super::headings;
use crate::escape;
use crate::reduce::ParameterValue;
use crate::session::CheckConfig;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsStr;
use std::fmt::Write;
use std::ops::Range;

/// The name of the flag in matches.
pub const EXPERT: &str = "expert";

/// The value of the flag that prints the list.
const HELP: &str = "help";

/// The options for experts that a command line sets.
#[derive(Clone, Debug, Default)]
pub struct ExpertArgs {
    /// The settings in the order of the command line. A later one of the same option replaces an earlier one.
    settings: Vec<ExpertSetting>,
}

/// An option with its value.
#[derive(Clone, Debug)]
struct ExpertSetting {
    option: ExpertOption,
    value: String,
}

/// Parameters of reductions with the value that a command line sets.
pub struct GivenParameter<'a> {
    /// The reductions that have the parameter, each with its specification.
    pub targets: &'a [ParameterTarget],
    /// The value.
    pub value: ParameterValue,
    /// The option as it is given: `-X por-proviso=levels`.
    pub given: String,
}

impl ExpertArgs {
    /// Sets the keys of a configuration. [`given_parameters`](ExpertArgs::given_parameters) has those of reductions.
    pub fn apply(&self, config: &mut CheckConfig) {
        for it in &self.settings {
            // Parsing has tried the same value.
            let _ = it.option.set(&it.value, config);
        }
    }

    /// Returns the parameters of reductions that are set.
    pub fn given_parameters(&self) -> impl Iterator<Item = GivenParameter<'_>> {
        self.settings.iter().filter_map(|it| {
            let (targets, value) = it.option.parameter(&it.value)?;
            Some(GivenParameter { targets, value, given: it.option.as_given(&it.value) })
        })
    }
}

/// Returns the text that a request for help prints: the list of options for `-X help`, otherwise clap's text.
pub fn requested_text(request: &clap::Error) -> String {
    match request.get(ContextKind::Custom) {
        Some(ContextValue::String(list)) => list.clone(),
        _ => request.render().to_string(),
    }
}

/// Parses `NAME=VALUE`, with the options of a command.
#[derive(Clone)]
struct ExpertParser {
    options: Vec<ExpertOption>,
}

impl ExpertParser {
    fn read(&self, text: &str) -> Result<ExpertSetting, ExpertOptionError> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let option = self.options.iter().find(|it| it.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.options.iter().map(|it| it.name).collect();
            ExpertOptionError::Unknown { name: name.to_owned(), known: known.join(", ") }
        })?;
        Ok(ExpertSetting { option: option.clone(), value: option.value(value)? })
    }
}

impl TypedValueParser for ExpertParser {
    type Value = ExpertSetting;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ExpertSetting, clap::Error> {
        if value == HELP {
            // Help is printed although other arguments are missing, as with `--help`.
            let mut list = clap::Error::new(ErrorKind::DisplayHelp);
            list.insert(ContextKind::Custom, ContextValue::String(list_of(&self.options)));
            return Err(list);
        }
        let parser = self.clone();
        let read = move |text: &str| parser.read(text);
        TypedValueParser::parse_ref(&read, command, arg, value)
    }

    /// The values for shell completions. An option whose values are not listed ends in `=`.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let of_option = |it: &ExpertOption| -> Vec<PossibleValue> {
            if it.values.is_empty() {
                return vec![PossibleValue::new(format!("{}=", it.name)).help(it.help.clone())];
            }
            let value = |name: &str| format!("{}={name}", it.name);
            it.values
                .iter()
                .map(|value_of| PossibleValue::new(value(value_of.name)).help(value_of.meaning))
                .collect()
        };
        let list = PossibleValue::new(HELP).help("Print the options with their values");
        Some(Box::new(self.options.iter().flat_map(of_option).chain([list])))
    }
}

/// Returns the list of options that `-X help` prints.
fn list_of(options: &[ExpertOption]) -> String {
    let mut out = String::from("Options for experts, each given as -X NAME=VALUE:\n");
    for option in options {
        let _ = write!(out, "\n  -X {}\n          {}\n", option.form(), option.help);
        let width = option.values.iter().map(|it| it.name.len() + 1).max().unwrap_or_default();
        if !option.is_switch() && width > 0 {
            out += "\n          Possible values:\n";
            for it in &option.values {
                let name = format!("{}:", it.name);
                let _ = writeln!(out, "          - {name:width$} {}", it.meaning);
            }
        }
    }
    out
}

/// Returns the help of the flag: the names of the options.
fn long_help(options: &[ExpertOption]) -> String {
    let width = options.iter().map(|it| it.name.len() + 1).max().unwrap_or_default();
    let mut out = String::from(
        "Set one of these options for experts (repeatable; `-X help` prints their values):",
    );
    for it in options {
        let name = format!("{}:", it.name);
        let _ = write!(out, "\n- {name:width$} {}", it.help);
    }
    out
}

impl Args for ExpertArgs {
    fn augment_args(command: Command) -> Command {
        let options = expert_options::of_command(command.get_name());
        let long_help = long_help(&options);
        let flag = Arg::new(EXPERT)
            .short('X')
            .value_name("NAME=VALUE")
            .action(ArgAction::Append)
            .value_parser(ExpertParser { options })
            .hide_possible_values(true)
            .help_heading(headings::EXPERT)
            .help("Set an option for experts; `-X help` prints them")
            .long_help(long_help);
        command.arg(flag)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ExpertArgs::augment_args(command)
    }
}

impl FromArgMatches for ExpertArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ExpertArgs, clap::Error> {
        let settings = matches.get_many::<ExpertSetting>(EXPERT);
        Ok(ExpertArgs { settings: settings.into_iter().flatten().cloned().collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ExpertArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A flag of earlier versions, which an option of `-X` has replaced.
pub struct FormerFlag {
    /// The flag and its value, as positions among the words.
    pub words: Range<usize>,
    /// The option as it is to be given: `-X por-proviso=levels`. Without a value of the flag it names the kind of value.
    pub shown: String,
    /// The words that mean the same. `None` if the flag lacks its value.
    pub replacement: Option<[String; 2]>,
}

/// Finds the option that has replaced a flag of a command line. `words` are the words after the name of the program,
/// `flag` begins one of them.
pub fn former_flag(words: &[String], flag: &str) -> Option<FormerFlag> {
    let options_of_word = |it: &String| {
        let options = expert_options::of_command(it);
        (!options.is_empty()).then_some(options)
    };
    let name = flag.strip_prefix("--")?;
    let options = words.iter().find_map(options_of_word)?;
    let option = options.into_iter().find(|it| it.name == name)?;
    let at = words.iter().position(|it| it.split('=').next() == Some(flag))?;
    let joined = words[at].split_once('=').map(|it| it.1);
    let next = words.get(at + 1).filter(|it| !option.is_switch() && !it.starts_with('-'));
    let next = next.filter(|_| joined.is_none());
    let end = at + 1 + usize::from(next.is_some());
    let switch = option.is_switch().then_some("true");
    let value = joined.or(next.map(String::as_str)).or(switch);
    Some(FormerFlag {
        words: at..end,
        shown: match value {
            Some(value) => option.as_given(&escape::shell(value)),
            None => format!("-X {}", option.form()),
        },
        replacement: value.map(|it| ["-X".to_owned(), format!("{}={it}", option.name)]),
    })
}
