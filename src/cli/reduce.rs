//! Messages on the reductions that a search uses or does not use.

use super::args::SetParameter;
use super::command::CheckCommand;
use super::failure::CommandFailure;
use crate::model::preserves_depth;
use crate::reduce::entry::SavingMeasure;
use crate::reduce::{REDUCTIONS, ReductionConfig, ReductionKind};
use crate::session::SearchedModel;
use crate::session::config::{SearchConfig, StoreKind};

/// Returns the flag that requests a reduction that does not preserve temporal properties.
pub(super) fn liveness_unsafe_flag(config: &ReductionConfig) -> Option<String> {
    let listed = config
        .selection
        .iter()
        .find(|(entry, _)| config.lists(entry.name) && !entry.preserves_runs(false));
    let unsafe_parameter = || {
        let set = SetParameter::of_selection(&config.selection);
        set.into_iter().find(|it| !it.preserves_runs()).map(|it| it.as_given())
    };
    listed.map(|(entry, _)| format!("--reduce {}", entry.name)).or_else(unsafe_parameter)
}

/// Rejects a requested reduction that does not preserve weakly fair runs.
pub(super) fn refuse_unfair(config: &ReductionConfig) -> Result<(), CommandFailure> {
    let unfair = config.selection.iter().find(|(entry, _)| !entry.preserves_runs(true));
    let Some((entry, values)) = unfair else { return Ok(()) };
    let set = SetParameter::all_of(entry, values).next().filter(|_| !config.lists(entry.name));
    let flag = set.map_or(format!("--reduce {}", entry.name), |it| it.as_given());
    let fair = REDUCTIONS.iter().filter(|it| it.preserves_runs(true)).map(|it| it.name);
    Err(CommandFailure::wrong(format!(
        "--fair weak and {flag} cannot be combined: {} does not preserve weakly fair runs\n  \
         help: leave out one of them; --fair weak can be combined with --reduce {}",
        entry.title,
        fair.collect::<Vec<_>>().join(",")
    )))
}

/// Rejects partial order if it was requested and the storage of states has no space for its obligations.
pub(super) fn refuse_store(
    args: &CheckCommand,
    searched: &SearchedModel,
) -> Result<(), CommandFailure> {
    let model = searched.model();
    if args.config.search.store == StoreKind::Comback && model.capabilities().dominance.is_some() {
        return Err(CommandFailure::wrong(
            "--reduce dominate and --store comback cannot be combined: this store cannot compare states by \
             dominance\n  help: leave out one of them",
        ));
    }
    let chooses = !searched.stack().names(&[ReductionKind::Choice]).is_empty();
    let is_comback = args.config.search.store == StoreKind::Comback;
    let sleeps = model.capabilities().sleep_sets.is_some()
        && (is_comback || args.config.search.store == StoreKind::Huffman);
    let postpones = model.capabilities().postponing.is_some() && is_comback;
    if !chooses || !(sleeps || postpones) {
        return Ok(());
    }
    let config = &args.config.search.reductions;
    let set = SetParameter::of_selection(&config.selection);
    let mut choosing = set
        .iter()
        .filter(|it| it.entry.kind == ReductionKind::Choice && it.spec.control.flag().is_some());
    let listed = || {
        let choices = REDUCTIONS.iter().filter(|it| it.kind == ReductionKind::Choice);
        let listed = choices.rev().find(|it| config.lists(it.name));
        listed.map_or(String::new(), |it| format!("--reduce {}", it.name))
    };
    let flag = choosing.next().map_or_else(listed, SetParameter::as_given);
    if sleeps {
        let store = if is_comback { "comback" } else { "huffman" };
        return Err(CommandFailure::wrong(format!(
            "{flag} and --store {store} cannot be combined: this store has no space for sleep sets\n  help: leave out \
             one of them"
        )));
    }
    Err(CommandFailure::wrong(format!(
        "{flag} -X por-proviso=levels and --store comback cannot be combined: this store has no space for postponed \
         transitions\n  help: leave out one of them, use -X por-proviso=static with --symmetry off, or check deadlocks \
         only (--only deadlock)"
    )))
}

/// Returns messages on requested options that have no effect on this model.
pub(super) fn unused_reductions(args: &CheckCommand, searched: &SearchedModel) -> Vec<String> {
    let SearchConfig { reductions, shortest, .. } = &args.config.search;
    let stack = searched.stack();
    let is_unused = |name: &str| {
        reductions.lists(name) && stack.member(name).is_none() && stack.refusal(name).is_none()
    };
    let unused = REDUCTIONS.iter().filter(|it| is_unused(it.name));
    let mut told: Vec<String> =
        unused.map(|it| format!("{} is not applied: {}", it.name, it.nothing_found)).collect();
    if *shortest && !preserves_depth(searched.model()) {
        let merges = REDUCTIONS.iter().filter(|it| it.saving == SavingMeasure::StableStates);
        let is_merged = merges.into_iter().any(|it| stack.member(it.name).is_some());
        let why = match stack.names(&[ReductionKind::Choice]).is_empty() {
            _ if is_merged => "transitions are merged",
            true => "rules are reversed",
            false => "states are passed through",
        };
        told.push(format!("--shortest is ignored: a level is not a step where {why}"));
    }
    told
}
