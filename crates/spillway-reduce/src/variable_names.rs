//! Variables that users name.

use super::NotApplied;
use spillway_ir::layout::{CellId, GroupContent};
use spillway_ir::{Entity as _, Layout, Program, VarId};
use std::collections::BTreeSet;

/// Returns the variable that a user's name denotes.
pub(super) fn variable(program: &Program, wanted: &str) -> Result<VarId, NotApplied> {
    let is_meant =
        |id: &VarId| program.variables[*id].name == wanted || variable_name(program, *id) == wanted;
    let meant: Vec<VarId> = program.variables.keys().filter(is_meant).collect();
    match meant[..] {
        [id] => Ok(id),
        [] => Err(NotApplied::NoVariable(wanted.into())),
        [id, ..] => Err(NotApplied::AmbiguousVariable {
            name: wanted.into(),
            example: variable_name(program, id),
        }),
    }
}

/// Returns the qualified name of a variable.
pub(super) fn variable_name(program: &Program, id: VarId) -> String {
    let variable = &program.variables[id];
    program.owned_name(variable.owner, &variable.name)
}

/// Returns the cells of some variables, except those with a single value.
pub(super) fn cells_of(layout: &Layout, is_meant: impl Fn(VarId) -> bool) -> Vec<CellId> {
    let groups = layout.groups.values().filter(|group| match group.part {
        GroupContent::Variable(id) => is_meant(id),
        _ => false,
    });
    let cells = groups.flat_map(|group| {
        let first = group.first.index();
        (first..first + group.cells as usize).map(CellId::from_index)
    });
    cells.filter(|cell| layout.cells[*cell].bits > 0).collect()
}

/// Returns all cells of some variables.
pub(super) fn all_cells_of(
    layout: &Layout,
    variables: impl Iterator<Item = VarId>,
) -> BTreeSet<CellId> {
    let wanted: BTreeSet<VarId> = variables.collect();
    let groups = layout.groups.values().filter(|it| match it.part {
        GroupContent::Variable(id) => wanted.contains(&id),
        GroupContent::Location(_) | GroupContent::Channel(_) => false,
    });
    let cells = groups.flat_map(|it| it.first.index()..it.first.index() + it.cells as usize);
    cells.map(CellId::from_index).collect()
}
