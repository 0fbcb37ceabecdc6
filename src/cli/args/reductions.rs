//! Flags of reductions, made from the table of reductions.

use super::headings;
use crate::reduce::parameters::{FlagSpec, ParameterKind, ParameterSpec, ParameterValue};
use crate::reduce::{REDUCTIONS, ReductionEntry};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// The flag that lists reductions.
const REDUCE: &str = "reduce";

/// The value of a flag that excludes its reduction.
const OFF: &str = "off";

/// The flags of reductions as they are given.
#[derive(Clone, Debug, Default)]
pub struct ReduceArgs {
    /// The values of `--reduce`: `none`, `auto`, or names of reductions.
    pub reduce: Vec<String>,
    /// The flags of parameters, in the order of the table.
    pub flags: Vec<ReductionFlag>,
}

/// A flag of a parameter, as it is given.
#[derive(Clone, Debug)]
pub struct ReductionFlag {
    /// The reductions that the flag is for, each with the parameter that it sets.
    pub targets: Vec<FlagTarget>,
    /// How the table specifies it.
    pub spec: FlagSpec,
    /// The value.
    pub value: FlagValue,
}

/// A reduction, and a parameter of it that a flag sets.
pub type FlagTarget = (&'static ReductionEntry, &'static ParameterSpec);

/// The value of a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// The reduction is not to be used.
    Off,
    /// The parameter has this value.
    Value(ParameterValue),
}

impl ReductionFlag {
    /// As it is given: `--symmetry exact`. A list is left out.
    pub fn as_given(&self) -> String {
        match &self.value {
            FlagValue::Off => format!("--{} {OFF}", self.spec.name),
            FlagValue::Value(value) => given_flag(&self.spec, value),
        }
    }
}

/// A flag with a value: `--symmetry exact`. A list is left out.
pub fn given_flag(flag: &FlagSpec, value: &ParameterValue) -> String {
    match value {
        ParameterValue::Choice(value) => format!("--{} {value}", flag.name),
        _ => format!("--{}", flag.name),
    }
}

impl ReduceArgs {
    /// Whether `--reduce` lists a reduction.
    pub fn lists(&self, name: &str) -> bool {
        self.reduce.iter().any(|it| it == name)
    }

    /// The values of `--reduce`, as they are given.
    pub fn list(&self) -> String {
        self.reduce.join(",")
    }
}

/// The flags of the table, each with the reductions that it is for.
fn flags() -> Vec<(FlagSpec, Vec<FlagTarget>)> {
    let mut all: Vec<(FlagSpec, Vec<FlagTarget>)> = Vec::new();
    for entry in REDUCTIONS {
        for spec in entry.parameters {
            let Some(flag) = spec.flag else { continue };
            match all.iter_mut().find(|it| it.0.name == flag.name) {
                Some((_, targets)) => targets.push((entry, spec)),
                None => all.push((flag, vec![(entry, spec)])),
            }
        }
    }
    all
}

/// The argument of a flag.
fn argument(flag: FlagSpec, spec: &ParameterSpec) -> Arg {
    let arg =
        Arg::new(flag.name).long(flag.name).help_heading(headings::REDUCTIONS).help(flag.help);
    match spec.kind {
        ParameterKind::Switch => arg.action(ArgAction::SetTrue),
        ParameterKind::Choice(values) => {
            let values = values.iter().map(|it| PossibleValue::new(it.name).help(it.summary));
            let off = flag.off.map(|help| PossibleValue::new(OFF).help(help));
            let parser = PossibleValuesParser::new(values.chain(off));
            arg.value_name(flag.value_name).value_parser(parser)
        }
        ParameterKind::Names { form, is_valid } => {
            let read = move |text: &str| match is_valid(text.trim()) {
                true => Ok(text.trim().to_owned()),
                false => Err(format!("expected {form}")),
            };
            let arg = arg
                .value_name(flag.value_name)
                .value_delimiter(',')
                .value_parser(read)
                .action(ArgAction::Append);
            if flag.bare { arg.num_args(0..).require_equals(true) } else { arg }
        }
    }
}

impl Args for ReduceArgs {
    fn augment_args(command: Command) -> Command {
        let alone = [
            PossibleValue::new("none").help("No reduction: every state is visited"),
            PossibleValue::new("auto").help("Those that save states in the first levels"),
        ];
        let named = REDUCTIONS.iter().map(|it| PossibleValue::new(it.name).help(it.summary));
        let reduce = Arg::new(REDUCE)
            .long(REDUCE)
            .value_name("LIST")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_parser(PossibleValuesParser::new(alone.into_iter().chain(named)))
            .help_heading(headings::REDUCTIONS)
            .help("The reductions: none, auto, or a list of names [default: auto; with --keep-going symmetry]");
        let others = flags().into_iter().map(|(flag, targets)| argument(flag, targets[0].1));
        command.arg(reduce).args(others)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ReduceArgs::augment_args(command)
    }
}

impl FromArgMatches for ReduceArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ReduceArgs, clap::Error> {
        let many = |name: &str| -> Vec<String> {
            matches.get_many(name).map(|all| all.cloned().collect()).unwrap_or_default()
        };
        let value = |name: &str, kind: ParameterKind| match kind {
            ParameterKind::Switch => {
                matches.get_flag(name).then_some(FlagValue::Value(true.into()))
            }
            ParameterKind::Choice(_) => {
                matches.get_one::<String>(name).map(|it| match it.as_str() {
                    OFF => FlagValue::Off,
                    value => FlagValue::Value(value.into()),
                })
            }
            ParameterKind::Names { .. } => {
                matches.contains_id(name).then(|| FlagValue::Value(many(name).into()))
            }
        };
        let given = flags().into_iter().filter_map(|(spec, targets)| {
            let value = value(spec.name, targets[0].1.kind)?;
            Some(ReductionFlag { targets, spec, value })
        });
        Ok(ReduceArgs { reduce: many(REDUCE), flags: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ReduceArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
