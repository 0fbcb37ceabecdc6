//! `check` of a specification: which flags have a meaning for it.

use super::command::CheckCommand;
use super::failure::CommandFailure;
use super::preparation::SearchPreparation;
use super::{CommandResult, model, run, warn};
use crate::reduce::ReductionConfig;
use crate::session::{Fairness, KeyOrder};

/// `spillway check` of a specification.
pub(super) fn check(command: &CheckCommand, preparation: SearchPreparation) -> CommandResult {
    reject_flags_of_programs(command)?;
    let (model, warnings) = model::open_specification(&command.model)?;
    warnings.iter().for_each(warn);
    if command.config.search.reductions != ReductionConfig::default() {
        warn(
            "warning: reductions are not applied: they are for programs, and this is a specification",
        );
    }
    run::check_specification(command, &model, &preparation)
}

/// Rejects flags that need a program.
fn reject_flags_of_programs(command: &CheckCommand) -> Result<(), CommandFailure> {
    let properties = &command.config.properties;
    let for_runs = [
        ("--ltl", !properties.ltl.is_empty()),
        ("--automaton", !properties.automata.is_empty()),
        ("--acceptance", properties.acceptance),
        ("--non-progress", properties.non_progress),
        ("--deadlock-runs", properties.finite_runs.is_some()),
        ("--fair", properties.fairness != Fairness::default()),
    ];
    if let Some((flag, _)) = for_runs.into_iter().find(|it| it.1) {
        let why = format!("{flag} is for programs, and this model is a specification");
        let help =
            "name properties in the configuration; temporal ones are reported as not checked";
        return Err(CommandFailure::wrong(format!("{why}\n  help: {help}")));
    }
    let others = [
        ("--spin-trail", command.run.spin_trail.is_some()),
        ("-X key-order", command.config.search.key_order != KeyOrder::default()),
    ];
    match others.into_iter().find(|it| it.1) {
        None => Ok(()),
        Some((flag, _)) => Err(CommandFailure::wrong(format!(
            "{flag} is for programs, and this model is a specification\n  help: leave it out"
        ))),
    }
}
