//! The images of cells and codes if two elements of a scalarset are exchanged.

use super::incidence::{IncidencePlan, of};
use super::{PermutationGroup, Symmetry};
use spillway_ir::layout::CellId;

/// The exchange of two elements, as vertices.
#[derive(Clone, Copy, Debug)]
pub struct ElementExchange<'s> {
    plan: &'s IncidencePlan,
    one: u32,
    other: u32,
}

impl Symmetry<'_> {
    /// Returns the exchanges of neighbouring elements of scalarsets, which generate every permutation.
    pub fn exchanges(&self) -> impl Iterator<Item = ElementExchange<'_>> {
        let plan = match &*self.orbits {
            PermutationGroup::Elements(plan) => Some(plan),
            PermutationGroup::Processes { .. } => None,
        };
        plan.into_iter().flat_map(|plan| {
            let neighbours = plan.sets.iter().flat_map(|set| set.first..set.first + set.size - 1);
            neighbours.map(move |one| ElementExchange { plan, one, other: one + 1 })
        })
    }
}

impl ElementExchange<'_> {
    /// Returns the image of a cell.
    pub fn cell(&self, cell: CellId) -> CellId {
        let Some(at) = self.place(cell) else { return cell };
        let indices = of(&self.plan.indices, &self.plan.cells[at].indices).iter();
        CellId(indices.fold(cell.0, |cell, index| match index.vertex {
            it if it == self.one => cell + index.stride,
            it if it == self.other => cell - index.stride,
            _ => cell,
        }))
    }

    /// Returns the image of a code of a cell.
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
