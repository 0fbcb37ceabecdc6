//! Slots for processes that are started in loops or by recursion: as many as a short probe finds in use, and more if a
//! search needs more.

use super::command::ModelInput;
use super::failure::CommandFailure;
use super::{CommandResult, model, say};
use crate::ir::ProcessId;
use crate::report::count;
use crate::session::{SlotCounts, TextModel};

/// Runs a search, and repeats it with more slots whenever a process lacks one.
pub(super) fn retry_with_more_slots<A>(
    mut args: A,
    of_model: fn(&mut A) -> &mut ModelInput,
    search: impl Fn(&A) -> CommandResult,
) -> CommandResult {
    loop {
        let failure = match search(&args) {
            Err(failure) if failure.lacks_slots.is_some() => failure,
            ended => return ended,
        };
        let (model, _) = model::open_quietly(of_model(&mut args))?;
        of_model(&mut args).slots = more(&model, failure)?;
    }
}

/// Returns more slots for a search that ended because a process lacked one.
pub(super) fn more(
    model: &TextModel,
    failure: CommandFailure,
) -> Result<SlotCounts, CommandFailure> {
    let Some(process) = failure.lacks_slots else { return Err(failure) };
    let room = model.more_slots(process).map_err(|error| {
        let (name, slots) = named(model, process);
        let why = CommandFailure::from(error).message;
        let slots = count(slots.into(), "slot");
        CommandFailure::wrong(format!(
            "{name} needs more than {slots}, which is the maximum\n{why}"
        ))
    })?;
    let (name, slots) = named(model, process);
    let more = room.iter().find(|it| it.0 == name).map_or(slots, |it| it.1);
    let slots = count(slots.into(), "slot");
    say(format!("{name} needs more than {slots}: restarting the search with {more}"));
    Ok(room)
}

/// Returns the name of a process, and the number of its slots.
fn named(model: &TextModel, process: ProcessId) -> (String, u32) {
    let program = model.interp.program();
    let name = program.processes.get(process).map(|it| it.name.clone());
    (name.unwrap_or_default(), program.slots(process))
}
