//! Flags of reductions, made from the table of reductions.

use super::headings;
use crate::reduce::parameters::{
    FlagSpec, ParameterControl, ParameterKind, ParameterSpec, ParameterValue,
};
use crate::reduce::{REDUCTIONS, ReductionEntry};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// The flag that lists reductions.
const REDUCE: &str = "reduce";

/// The value of a flag that excludes its reduction.
const OFF: &str = "off";

/// The flags that select reductions, as they are given.
#[derive(Clone, Debug, Default)]
pub struct ReduceArgs {
    /// The values of `--reduce`: `none`, `auto`, or names of reductions.
    pub reduce: Vec<String>,
    /// The flags of parameters that select their reduction, in the order of the table.
    pub flags: Vec<ReductionFlag>,
}

/// A flag of a parameter, as it is given.
#[derive(Clone, Debug)]
pub struct ReductionFlag {
    /// The reduction.
    pub entry: &'static ReductionEntry,
    /// The parameter.
    pub spec: &'static ParameterSpec,
    /// The value.
    pub value: FlagValue,
}

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
            FlagValue::Off => {
                let flag = self.spec.control.flag();
                flag.map_or(String::new(), |it| format!("--{} {OFF}", it.name))
            }
            FlagValue::Value(value) => as_given(self.spec, value),
        }
    }
}

/// A parameter with a value as the command line sets it: `--symmetry exact`, `-X por-proviso=levels`. A list is left
/// out. Empty if only a configuration sets it.
pub fn as_given(spec: &ParameterSpec, value: &ParameterValue) -> String {
    match (spec.control, value) {
        (ParameterControl::Flag(flag), ParameterValue::Choice(value)) => {
            format!("--{} {value}", flag.name)
        }
        (ParameterControl::Flag(flag), _) => format!("--{}", flag.name),
        (ParameterControl::Expert(option), ParameterValue::Choice(value)) => {
            format!("-X {}={value}", option.name)
        }
        (ParameterControl::Expert(option), ParameterValue::Switch(false)) => {
            format!("-X {}=false", option.name)
        }
        (ParameterControl::Expert(option), _) => format!("-X {}", option.name),
        (ParameterControl::Configuration, _) => String::new(),
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

/// A flag of the table, with its reduction and the parameter that it sets.
struct TableFlag {
    flag: FlagSpec,
    entry: &'static ReductionEntry,
    spec: &'static ParameterSpec,
}

/// The flags of the table.
fn flags() -> impl Iterator<Item = TableFlag> {
    REDUCTIONS.iter().flat_map(|entry| {
        let with_flag = move |spec: &'static ParameterSpec| {
            Some(TableFlag { flag: *spec.control.flag()?, entry, spec })
        };
        entry.parameters.iter().filter_map(with_flag)
    })
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
            .help("The reductions: none, auto, or a list of names [default: auto]");
        let others = flags().map(|it| argument(it.flag, it.spec));
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
        let given = flags().filter_map(|TableFlag { flag, entry, spec }| {
            Some(ReductionFlag { entry, spec, value: value(flag.name, spec.kind)? })
        });
        Ok(ReduceArgs { reduce: many(REDUCE), flags: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = ReduceArgs::from_arg_matches(matches)?;
        Ok(())
    }
}
