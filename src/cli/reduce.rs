//! `--reduce` and the flags of reductions: which reductions a search uses.

use super::args::{FlagValue, ReduceArgs, ReductionFlag, given_flag};
use super::command::CheckCommand;
use super::failure::CommandFailure;
use crate::exec::preserves_depth;
use crate::reduce::entry::SavingMeasure;
use crate::reduce::parameters::{ParameterKind, ParameterSpec, ParameterValue, ParameterValues};
use crate::reduce::{
    REDUCTIONS, ReductionConfig, ReductionEntry, ReductionKind, ReductionMode, ReductionSelection,
    SelectionError, find_reduction,
};
use crate::session::SearchedModel;
use crate::session::config::{SearchConfig, StoreKind};

/// Sets what the flags say. A list of reductions replaces the one before.
pub(super) fn apply_flags(
    args: &ReduceArgs,
    config: &mut ReductionConfig,
) -> Result<(), CommandFailure> {
    if let Some(one) = ["none", "auto"].iter().find(|it| args.lists(it) && args.reduce.len() > 1) {
        return Err(CommandFailure::wrong(format!(
            "--reduce {}: `{one}` stands alone\n  help: leave it out, or all others",
            args.list()
        )));
    }
    if let Some(first) = args.reduce.first() {
        let mode = match first.as_str() {
            "auto" => ReductionMode::Auto,
            _ => ReductionMode::Listed,
        };
        let listed = args.reduce.iter().filter(|it| find_reduction(it).is_some());
        let selection = ReductionSelection::of(listed.map(String::as_str));
        *config = ReductionConfig { mode, exclude: Vec::new(), selection };
    }
    let list = match args.reduce.is_empty() {
        true => list_of(config),
        false => args.list(),
    };
    let (choosing, others): (Vec<_>, Vec<_>) = args.flags.iter().partition(|it| it.spec.chooses);
    choosing.into_iter().try_for_each(|flag| choose(flag, &list, config))?;
    others.into_iter().try_for_each(|flag| adjust(flag, &mut config.selection))?;
    config.validate().map_err(|error| selection_failure(config, &list, &error))
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
    let Some((entry, spec)) = flag.targets.first() else { return Ok(()) };
    let (given, name) = (flag.as_given(), entry.name);
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
            "{given} and --reduce {list} contradict each other: that leaves `{name}` out\n  help: leave \
             out one of them"
        )));
    }
    config.exclude.retain(|it| it != name);
    let parameters = config.selection.remove(name).unwrap_or_default();
    config.selection =
        std::mem::take(&mut config.selection).with(name, parameters.with(spec.name, value.clone()));
    Ok(())
}

/// Sets a parameter of chosen reductions.
fn adjust(flag: &ReductionFlag, selection: &mut ReductionSelection) -> Result<(), CommandFailure> {
    let FlagValue::Value(value) = &flag.value else { return Ok(()) };
    let mut is_set = false;
    for (entry, spec) in &flag.targets {
        if let Some(parameters) = selection.get_mut(entry.name) {
            parameters.set(spec.name, value.clone());
            is_set = true;
        }
    }
    let names = flag.targets.iter().map(|it| it.0.name).collect::<Vec<_>>();
    match is_set {
        true => Ok(()),
        false => Err(CommandFailure::wrong(format!(
            "{}: it is a parameter of {}, which is not asked for\n  help: name it with --reduce",
            flag.as_given(),
            names.join(" or "),
        ))),
    }
}

/// What is wrong with the chosen reductions.
fn selection_failure(
    config: &ReductionConfig,
    list: &str,
    error: &SelectionError,
) -> CommandFailure {
    let flag = |reduction: &str, parameter: &str| {
        let set = parameters(&config.selection);
        set.into_iter()
            .find(|it| it.entry.name == reduction && it.spec.name == parameter)
            .and_then(|it| it.flag())
            .unwrap_or_default()
    };
    CommandFailure::wrong(match error {
        SelectionError::Contradiction { reason, .. } => {
            format!("--reduce {list}: {reason}\n  help: leave out one of them")
        }
        SelectionError::ContradictingParameter { reduction, parameter, needed, other, .. } => {
            let given = flag(reduction, parameter);
            format!(
                "{given} and --reduce {other} do not go together\n  help: leave out one of them, or choose by --{reduction} \
                 {needed}"
            )
        }
        SelectionError::ExclusiveParameters { reduction, one, other } => {
            let (one, other) = (flag(reduction, one), flag(reduction, other));
            format!(
                "{one} and {other}: both say what becomes of states that put steps off\n  help: leave out one of them"
            )
        }
        error => error.to_string(),
    })
}

/// A parameter of a reduction that is set.
struct SetParameter<'s> {
    entry: &'static ReductionEntry,
    spec: &'static ParameterSpec,
    value: &'s ParameterValue,
}

impl<'s> SetParameter<'s> {
    fn all_of(
        entry: &'static ReductionEntry,
        values: &'s ParameterValues,
    ) -> impl Iterator<Item = SetParameter<'s>> {
        let of = move |spec: &'static ParameterSpec| {
            Some(SetParameter { entry, spec, value: values.get(spec.name)? })
        };
        entry.parameters.iter().filter_map(of)
    }

    /// The flag that sets it so.
    fn flag(&self) -> Option<String> {
        Some(given_flag(&self.spec.flag?, self.value))
    }

    /// Whether its reduction preserves whole runs then.
    fn preserves_runs(&self) -> bool {
        match (self.spec.kind, self.value) {
            (ParameterKind::Choice(values), ParameterValue::Choice(value)) => {
                values.iter().any(|it| it.name == value && it.preserves_runs)
            }
            _ => self.entry.preserves_runs,
        }
    }
}

/// The parameters that are set.
fn parameters(selection: &ReductionSelection) -> Vec<SetParameter<'_>> {
    let with_values = |(entry, values)| SetParameter::all_of(entry, values);
    selection.iter().flat_map(with_values).collect()
}

/// The flag that asks for a reduction that does not preserve whole runs.
pub(super) fn liveness_unsafe_flag(config: &ReductionConfig) -> Option<String> {
    let listed = config
        .selection
        .iter()
        .find(|(entry, _)| config.lists(entry.name) && !entry.preserves_runs);
    let unsafe_parameter = || {
        let set = parameters(&config.selection);
        set.into_iter().filter(|it| !it.preserves_runs()).find_map(|it| it.flag())
    };
    listed.map(|(entry, _)| format!("--reduce {}", entry.name)).or_else(unsafe_parameter)
}

/// Refuses partial order where it was asked for and how states are stored has no room for it.
pub(super) fn refuse_store(
    args: &CheckCommand,
    searched: &SearchedModel,
) -> Result<(), CommandFailure> {
    let model = searched.model();
    if args.config.search.store == StoreKind::Comback && model.dominance().is_some() {
        return Err(CommandFailure::wrong(
            "--reduce dominate and --store comback do not go together: there are no states in order to find what dominates \
             one\n  help: leave out one of them",
        ));
    }
    let chooses = !searched.stack().names(&[ReductionKind::Choice]).is_empty();
    let is_comback = args.config.search.store == StoreKind::Comback;
    let sleeps = model.as_sleep_set().is_some()
        && (is_comback || args.config.search.store == StoreKind::Huffman);
    let postpones = model.as_postponing().is_some() && is_comback;
    if !chooses || !(sleeps || postpones) {
        return Ok(());
    }
    let config = &args.config.search.reductions;
    let set = parameters(&config.selection);
    let choosing = set.iter().filter(|it| {
        it.entry.kind == ReductionKind::Choice && it.spec.flag.is_some_and(|it| it.chooses)
    });
    let listed = || {
        let choices = REDUCTIONS.iter().filter(|it| it.kind == ReductionKind::Choice);
        let listed = choices.rev().find(|it| config.lists(it.name));
        listed.map_or(String::new(), |it| format!("--reduce {}", it.name))
    };
    let flag = choosing.into_iter().find_map(SetParameter::flag).unwrap_or_else(listed);
    if sleeps {
        let store = if is_comback { "comback" } else { "huffman" };
        return Err(CommandFailure::wrong(format!(
            "{flag} and --store {store} do not go together: it has no room for which steps are asleep\n  \
             help: leave out one of them"
        )));
    }
    Err(CommandFailure::wrong(format!(
        "{flag} --por-proviso levels and --store comback do not go together: it cannot find out which steps were put \
         off for ever\n  help: leave out one of them, choose by --por-proviso static, with --symmetry off, or \
         look for deadlocks alone (--only deadlock)"
    )))
}

/// What was asked for and does nothing for this model.
pub(super) fn unused_reductions(args: &CheckCommand, searched: &SearchedModel) -> Vec<String> {
    let SearchConfig { reductions, shortest, .. } = &args.config.search;
    let stack = searched.stack();
    let is_unused = |name: &str| {
        reductions.lists(name) && stack.member(name).is_none() && stack.refusal(name).is_none()
    };
    let unused = REDUCTIONS.iter().filter(|it| is_unused(it.name));
    let mut told: Vec<String> =
        unused.map(|it| format!("{} is left out: {}", it.name, it.nothing_found)).collect();
    if *shortest && !preserves_depth(searched.model()) {
        let merges = REDUCTIONS.iter().filter(|it| it.saving == SavingMeasure::StableStates);
        let is_merged = merges.into_iter().any(|it| stack.member(it.name).is_some());
        let why = match stack.names(&[ReductionKind::Choice]).is_empty() {
            _ if is_merged => "steps are merged",
            true => "rules are undone",
            false => "states are run through",
        };
        told.push(format!("--shortest is left out: levels tell no steps where {why}"));
    }
    told
}
