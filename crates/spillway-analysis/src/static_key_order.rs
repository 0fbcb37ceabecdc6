//! A key order from the program alone.
//!
//! Sorted states are stored as differences between neighbours. So the store is small if the fields that vary most
//! between neighbours come last, after the fields on which they depend. The location and the variables of a process
//! depend on one another the most, so they stay together in the order of declaration. A process has few locations for
//! given values of its variables, so its location follows its variables. Fields of no process come first.

use spillway_ir::layout::{GroupContent, GroupId};
use spillway_ir::{Layout, Owner, ProcessId, Program};

/// Returns the groups of `layout`, a layout of `program`: shared groups first, then, for each process, its variables
/// and its location.
pub fn static_order(program: &Program, layout: &Layout) -> Vec<GroupId> {
    let mut order: Vec<GroupId> = layout.groups.keys().collect();
    order.sort_by_key(|&id| {
        let group = &layout.groups[id];
        let is_location = matches!(group.part, GroupContent::Location(_));
        (owner(program, group.part).map(|process| (process, group.slot, is_location)), id)
    });
    order
}

/// Returns the owner of a part, if it belongs to a process.
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
