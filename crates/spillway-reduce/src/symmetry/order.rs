//! The order in which the cells of images are compared.

use spillway_analysis::automorphisms::{Automorphism, CellImage, CodeMap};
use spillway_ir::Layout;
use spillway_ir::layout::{CellId, GroupContent};
use std::collections::HashSet;

/// Returns the cells that any automorphism moves or changes, location cells first.
pub(super) fn comparison_order(found: &[Automorphism], layout: &Layout) -> Vec<CellId> {
    let moves = |cell: CellId, it: &Automorphism| {
        let CellImage { to, codes, .. } = &it.cells[cell.0 as usize];
        *to != cell || *codes != CodeMap::Same
    };
    let all = (0..layout.state_cells).map(CellId);
    let mut cells: Vec<_> = all.filter(|&cell| found.iter().any(|it| moves(cell, it))).collect();
    let places = places(layout);
    cells.sort_by_key(|cell| (!places.contains(cell), *cell));
    cells
}

/// Returns the location cells of processes.
pub(super) fn places(layout: &Layout) -> HashSet<CellId> {
    let places = layout.groups.values().filter(|it| matches!(it.part, GroupContent::Location(_)));
    places.map(|it| it.first).collect()
}
