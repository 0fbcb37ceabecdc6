//! `--reduce` and the flags of reductions: which reductions a search uses.

use super::args::{CheckArgs, FlagValue, ReduceArgs, ReductionFlag, StoreArg};
use super::failure::CommandFailure;
use crate::exec::preserves_depth;
use crate::reduce::entry::SavingMeasure;
use crate::reduce::parameters::{ParameterKind, ParameterValue};
use crate::reduce::{
    REDUCTIONS, ReductionConfig, ReductionKind, ReductionMode, ReductionSelection, SelectionError,
    find_reduction,
};
use crate::session::SearchedModel;

/// What the flags ask for.
pub(super) fn requested_reductions(args: &ReduceArgs) -> Result<ReductionConfig, CommandFailure> {
    if let Some(one) = ["none", "auto"].iter().find(|it| args.lists(it) && args.reduce.len() > 1) {
        return Err(CommandFailure::wrong(format!(
            "--reduce {}: `{one}` stands alone\n  help: leave it out, or all others",
            args.list()
        )));
    }
    let mode = match args.reduce.first().map(String::as_str) {
        None => ReductionMode::Default,
        Some("auto") => ReductionMode::Auto,
        Some(_) => ReductionMode::Listed,
    };
    let listed = args.reduce.iter().filter(|it| find_reduction(it).is_some());
    let selection = ReductionSelection::of(listed.map(String::as_str));
    let mut config = ReductionConfig { mode, exclude: Vec::new(), selection };
    let (choosing, others): (Vec<_>, Vec<_>) = args.flags.iter().partition(|it| it.spec.chooses);
    choosing.into_iter().try_for_each(|flag| choose(args, flag, &mut config))?;
    others.into_iter().try_for_each(|flag| adjust(flag, &mut config.selection))?;
    config.validate().map_err(|error| selection_failure(args, &error))?;
    Ok(config)
}

/// Chooses the reduction of a flag, or excludes it.
fn choose(
    args: &ReduceArgs,
    flag: &ReductionFlag,
    config: &mut ReductionConfig,
) -> Result<(), CommandFailure> {
    let Some((entry, spec)) = flag.targets.first() else { return Ok(()) };
    let (given, list, name) = (flag.as_given(), args.list(), entry.name);
    let is_listed = args.lists(name);
    let FlagValue::Value(value) = &flag.value else {
        if is_listed {
            return Err(CommandFailure::wrong(format!(
                "{given} and --reduce {list} contradict each other\n  help: leave out one of them"
            )));
        }
        config.exclude.push(name.into());
        return Ok(());
    };
    if config.mode == ReductionMode::Listed && !is_listed {
        return Err(CommandFailure::wrong(format!(
            "{given} and --reduce {list} contradict each other: that leaves `{name}` out\n  help: leave \
             out one of them"
        )));
    }
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

/// What is wrong with what the flags choose.
fn selection_failure(args: &ReduceArgs, error: &SelectionError) -> CommandFailure {
    let flag = |reduction: &str, parameter: &str| {
        let of = |it: &&ReductionFlag| {
            it.targets.iter().any(|it| it.0.name == reduction && it.1.name == parameter)
        };
        args.flags.iter().find(of).map(ReductionFlag::as_given).unwrap_or_default()
    };
    CommandFailure::wrong(match error {
        SelectionError::Contradiction { reason, .. } => {
            format!("--reduce {}: {reason}\n  help: leave out one of them", args.list())
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

/// A flag that is given and asks for a reduction that does not preserve whole runs.
pub(super) fn liveness_unsafe_flag(args: &ReduceArgs) -> Option<String> {
    let listed =
        args.reduce.iter().find(|it| find_reduction(it).is_some_and(|it| !it.preserves_runs));
    let is_unsafe = |flag: &&ReductionFlag| {
        let FlagValue::Value(value) = &flag.value else { return false };
        let preserves = flag.targets.iter().all(|(entry, spec)| match (spec.kind, value) {
            (ParameterKind::Choice(values), ParameterValue::Choice(value)) => {
                values.iter().any(|it| it.name == value && it.preserves_runs)
            }
            _ => entry.preserves_runs,
        });
        !preserves
    };
    let flag = || args.flags.iter().find(is_unsafe).map(ReductionFlag::as_given);
    listed.map(|it| format!("--reduce {it}")).or_else(flag)
}

/// Refuses partial order where it was asked for and how states are stored has no room for it.
pub(super) fn refuse_store(
    args: &CheckArgs,
    searched: &SearchedModel,
) -> Result<(), CommandFailure> {
    let model = searched.model();
    if args.store == StoreArg::Comback && model.dominance().is_some() {
        return Err(CommandFailure::wrong(
            "--reduce dominate and --store comback do not go together: there are no states in order to find what dominates \
             one\n  help: leave out one of them",
        ));
    }
    let chooses = !searched.stack().names(&[ReductionKind::Choice]).is_empty();
    let is_comback = args.store == StoreArg::Comback;
    let sleeps = model.as_sleep_set().is_some() && (is_comback || args.store == StoreArg::Huffman);
    let postpones = model.as_postponing().is_some() && is_comback;
    if !chooses || !(sleeps || postpones) {
        return Ok(());
    }
    let given = args.reductions.flags.iter().find(|it| {
        it.spec.chooses && it.targets.iter().any(|it| it.0.kind == ReductionKind::Choice)
    });
    let listed = || {
        let listed = |it: &&&crate::reduce::ReductionEntry| args.reductions.lists(it.name);
        let choices = REDUCTIONS.iter().filter(|it| it.kind == ReductionKind::Choice);
        choices.rev().find(listed).map_or(String::new(), |it| format!("--reduce {}", it.name))
    };
    let flag = given.map_or_else(listed, ReductionFlag::as_given);
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
pub(super) fn unused_reductions(args: &CheckArgs, searched: &SearchedModel) -> Vec<String> {
    let CheckArgs { reductions: args, shortest, .. } = args;
    let stack = searched.stack();
    let is_unused = |name: &str| {
        args.lists(name) && stack.member(name).is_none() && stack.refusal(name).is_none()
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
