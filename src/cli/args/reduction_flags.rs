//! What the flags and the options for experts set in a configuration of reductions.

use super::expert_args::{ExpertArgs, GivenParameter};
use super::reductions::{FlagValue, ReduceArgs, ReductionFlag, as_given};
use crate::cli::failure::CommandFailure;
use crate::reduce::parameters::{ParameterKind, ParameterSpec, ParameterValue, ParameterValues};
use crate::reduce::{
    ReductionConfig, ReductionEntry, ReductionMode, ReductionSelection, SelectionError,
    find_reduction,
};

impl ReduceArgs {
    /// Sets what the flags say. A list of reductions replaces the one before.
    pub(in crate::cli) fn apply(
        &self,
        expert: &ExpertArgs,
        config: &mut ReductionConfig,
    ) -> Result<(), CommandFailure> {
        if let Some(one) =
            ["none", "auto"].iter().find(|it| self.lists(it) && self.reduce.len() > 1)
        {
            return Err(CommandFailure::wrong(format!(
                "--reduce {}: `{one}` cannot be combined with others\n  help: leave out `{one}`, or all others",
                self.list()
            )));
        }
        if let Some(first) = self.reduce.first() {
            let mode = match first.as_str() {
                "auto" => ReductionMode::Auto,
                _ => ReductionMode::Listed,
            };
            let listed = self.reduce.iter().filter(|it| find_reduction(it).is_some());
            let selection = ReductionSelection::of(listed.map(String::as_str));
            *config = ReductionConfig { mode, exclude: Vec::new(), selection };
        }
        let list = match self.reduce.is_empty() {
            true => list_of(config),
            false => self.list(),
        };
        self.flags.iter().try_for_each(|flag| choose(flag, &list, config))?;
        expert.given_parameters().try_for_each(|it| adjust(&it, &mut config.selection))?;
        config.validate().map_err(|error| selection_failure(config, &list, &error))
    }
}

/// The value of `--reduce` that lists the reductions of a configuration.
fn list_of(config: &ReductionConfig) -> String {
    let names: Vec<&str> = config.selection.iter().map(|it| it.0.name).collect();
    match names.is_empty() {
        true => "none".into(),
        false => names.join(","),
    }
}

/// Chooses the reduction of a flag, or excludes it.
fn choose(
    flag: &ReductionFlag,
    list: &str,
    config: &mut ReductionConfig,
) -> Result<(), CommandFailure> {
    let (given, name) = (flag.as_given(), flag.entry.name);
    let is_listed = config.lists(name);
    let FlagValue::Value(value) = &flag.value else {
        if is_listed {
            return Err(CommandFailure::wrong(format!(
                "{given} and --reduce {list} contradict each other\n  help: leave out one of them"
            )));
        }
        config.selection.remove(name);
        config.exclude.push(name.into());
        return Ok(());
    };
    if config.mode == ReductionMode::Listed && !is_listed {
        return Err(CommandFailure::wrong(format!(
            "{given} and --reduce {list} contradict each other: the list excludes `{name}`\n  help: leave out one of \
             them"
        )));
    }
    config.exclude.retain(|it| it != name);
    let parameters = config.selection.remove(name).unwrap_or_default();
    config.selection = std::mem::take(&mut config.selection)
        .with(name, parameters.with(flag.spec.name, value.clone()));
    Ok(())
}

/// Sets a parameter of chosen reductions.
fn adjust(
    given: &GivenParameter,
    selection: &mut ReductionSelection,
) -> Result<(), CommandFailure> {
    let mut is_set = false;
    for target in given.targets {
        if let Some(parameters) = selection.get_mut(target.entry.name) {
            parameters.set(target.spec.name, given.value.clone());
            is_set = true;
        }
    }
    match is_set {
        true => Ok(()),
        false => Err(unused_parameter(given)),
    }
}

/// Returns the error in the chosen reductions.
fn selection_failure(
    config: &ReductionConfig,
    list: &str,
    error: &SelectionError,
) -> CommandFailure {
    let flag = |reduction: &str, parameter: &str| {
        let set = SetParameter::of_selection(&config.selection);
        set.into_iter()
            .find(|it| it.entry.name == reduction && it.spec.name == parameter)
            .map(|it| it.as_given())
            .unwrap_or_default()
    };
    CommandFailure::wrong(match error {
        SelectionError::Contradiction { reason, .. } => {
            format!("--reduce {list}: {reason}\n  help: leave out one of them")
        }
        SelectionError::ContradictingParameter { reduction, parameter, needed, other, .. } => {
            let given = flag(reduction, parameter);
            format!(
                "{given} and --reduce {other} cannot be combined\n  help: leave out one of them, or use --{reduction} \
                 {needed}"
            )
        }
        SelectionError::ExclusiveParameters { reduction, one, other } => {
            let (one, other) = (flag(reduction, one), flag(reduction, other));
            format!(
                "{one} and {other}: both are provisos for postponed transitions\n  help: leave out one of them"
            )
        }
        error => error.to_string(),
    })
}

/// A parameter of a reduction that is set.
pub(in crate::cli) struct SetParameter<'s> {
    /// The reduction.
    pub entry: &'static ReductionEntry,
    /// The parameter.
    pub spec: &'static ParameterSpec,
    /// Its value.
    pub value: &'s ParameterValue,
}

impl<'s> SetParameter<'s> {
    /// Those of a selection.
    pub fn of_selection(selection: &'s ReductionSelection) -> Vec<SetParameter<'s>> {
        let with_values = |(entry, values)| SetParameter::all_of(entry, values);
        selection.iter().flat_map(with_values).collect()
    }

    /// Those of a reduction.
    pub fn all_of(
        entry: &'static ReductionEntry,
        values: &'s ParameterValues,
    ) -> impl Iterator<Item = SetParameter<'s>> {
        let of = move |spec: &'static ParameterSpec| {
            Some(SetParameter { entry, spec, value: values.get(spec.name)? })
        };
        entry.parameters.iter().filter_map(of)
    }

    /// The flag or the option that sets it so.
    pub fn as_given(&self) -> String {
        as_given(self.spec, self.value)
    }

    /// Whether its reduction preserves whole runs then.
    pub fn preserves_runs(&self) -> bool {
        match (self.spec.kind, self.value) {
            (ParameterKind::Choice(values), ParameterValue::Choice(value)) => {
                values.iter().any(|it| it.name == value && it.preserves_runs)
            }
            _ => self.entry.preserves_runs(false),
        }
    }
}

/// That no reduction is chosen that has a given parameter.
fn unused_parameter(parameter: &GivenParameter) -> CommandFailure {
    let given = &parameter.given;
    let choosing =
        |entry: &ReductionEntry| entry.parameters.iter().find_map(|it| it.control.flag());
    let flags: Vec<String> = parameter
        .targets
        .iter()
        .filter_map(|it| choosing(it.entry))
        .map(|it| format!(" or --{}", it.name))
        .collect();
    let flags = flags.concat();
    let names: Vec<&str> = parameter.targets.iter().map(|it| it.entry.name).collect();
    CommandFailure::wrong(match names.split_last() {
        Some((last, [_, ..])) => {
            let others = names[..names.len() - 1].join(", ");
            format!(
                "{given} is a parameter of {others} and {last}, and none of them is chosen\n  \
                 help: choose one with --reduce{flags}"
            )
        }
        _ => format!(
            "{given} is a parameter of {}, which is not chosen\n  help: choose it with --reduce{flags}",
            names.concat()
        ),
    })
}
