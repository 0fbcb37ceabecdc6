//! A key order from the program alone.
//!
//! Sorted states are kept as the differences between neighbours, so the store is small where the
//! parts that vary most between neighbours come last, and what they depend on comes before them.
//! A process's location and what it owns depend on one another more than on anything else, so they
//! stay together, as declared. But a process is at few locations while its variables are as they
//! are: the location goes behind the variables. What belongs to nobody stays in front.

use crate::ir::layout::{GroupContent, GroupId};
use crate::ir::{Layout, Owner, ProcessId, Program};

/// The groups of `program`, which `layout` is of: shared ones first, then process after process
/// what it owns and then where it is.
pub fn static_order(program: &Program, layout: &Layout) -> Vec<GroupId> {
    let mut order: Vec<GroupId> = layout.groups.keys().collect();
    order.sort_by_key(|&id| {
        let group = &layout.groups[id];
        let is_location = matches!(group.part, GroupContent::Location(_));
        (owner(program, group.part).map(|process| (process, group.slot, is_location)), id)
    });
    order
}

/// Whose a part is, if it is anybody's.
fn owner(program: &Program, part: GroupContent) -> Option<ProcessId> {
    let owner = match part {
        GroupContent::Location(process) => Owner::Process(process),
        GroupContent::Variable(variable) => program.variables[variable].owner,
        GroupContent::Channel(channel) => program.channels[channel].owner,
    };
    match owner {
        Owner::Program => None,
        Owner::Process(process) => Some(process),
    }
}
