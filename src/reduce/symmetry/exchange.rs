//! Where cells and their codes go when two elements of a scalarset are exchanged.

use super::incidence::{Incidence, of};
use super::{Orbits, Symmetry};
use crate::ir::layout::CellId;

/// The exchange of two elements, as vertices.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'s> {
    plan: &'s Incidence,
    one: u32,
    other: u32,
}

impl Symmetry<'_> {
    /// The exchanges of neighbouring elements of scalarsets, which together give every permutation.
    pub fn exchanges(&self) -> impl Iterator<Item = Exchange<'_>> {
        let plan = match &*self.orbits {
            Orbits::Elements(plan) => Some(plan),
            Orbits::Processes { .. } => None,
        };
        plan.into_iter().flat_map(|plan| {
            let neighbours = plan.sets.iter().flat_map(|set| set.first..set.first + set.size - 1);
            neighbours.map(move |one| Exchange { plan, one, other: one + 1 })
        })
    }
}

impl Exchange<'_> {
    /// Where a cell goes.
    pub fn cell(&self, cell: CellId) -> CellId {
        let Some(at) = self.place(cell) else { return cell };
        let indices = of(&self.plan.indices, &self.plan.cells[at].indices).iter();
        CellId(indices.fold(cell.0, |cell, index| match index.vertex {
            it if it == self.one => cell + index.stride,
            it if it == self.other => cell - index.stride,
            _ => cell,
        }))
    }

    /// What a code of a cell becomes.
    pub fn code(&self, cell: CellId, code: u32) -> u32 {
        let Some(at) = self.place(cell) else { return code };
        match self.plan.named(&self.plan.cells[at].names, code) {
            Some(it) if it == self.one => code + 1,
            Some(it) if it == self.other => code - 1,
            _ => code,
        }
    }

    fn place(&self, cell: CellId) -> Option<usize> {
        self.plan.cells.binary_search_by_key(&cell, |it| it.cell).ok()
    }
}
