//! Facts about the state at one point of the code.

use super::cell_set::CellSet;
use spillway_ir::interval::{Interval, hull, is_none};
use spillway_ir::layout::CellId;
use std::collections::{BTreeMap, BTreeSet};

/// The facts at one point. The default contains no facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AbstractState {
    /// Whether the point is unreachable.
    is_never: bool,
    /// The possible values of a cell. A cell with an entry is defined.
    values: BTreeMap<u32, Interval>,
    /// Multisets, by their first cells, with positions that surely contain an element.
    elements: BTreeSet<(u32, i64)>,
}

impl AbstractState {
    /// Returns the facts at an unreachable point.
    pub fn unreachable() -> AbstractState {
        AbstractState { is_never: true, ..AbstractState::default() }
    }

    /// Returns whether the point is unreachable.
    pub fn is_unreachable(&self) -> bool {
        self.is_never
    }

    /// Returns the possible values of a cell, if they are known.
    pub fn get(&self, cell: u32) -> Option<Interval> {
        self.values.get(&cell).copied()
    }

    /// Sets the possible values of a cell. The point becomes unreachable if there are none.
    pub fn set(&mut self, cell: u32, values: Interval) {
        match is_none(values) {
            true => *self = AbstractState::unreachable(),
            false => drop(self.values.insert(cell, values)),
        }
    }

    /// Removes the facts about a cell: it may have any value or be undefined.
    pub fn forget(&mut self, cell: u32) {
        self.values.remove(&cell);
    }

    /// Removes the facts about cells and about the elements of multisets.
    pub fn forget_all(&mut self, cells: &CellSet) {
        self.values.retain(|cell, _| !cells.contains(CellId(*cell)));
        self.forget_elements(cells);
    }

    /// Removes the facts about the elements of multisets.
    pub fn forget_elements(&mut self, cells: &CellSet) {
        self.elements.retain(|(cell, _)| !cells.contains(CellId(*cell)));
    }

    /// Adds values to those that one of some cells may have.
    pub fn widen(&mut self, cells: &CellSet, values: Interval) {
        let held = self.values.iter_mut().filter(|(cell, _)| cells.contains(CellId(**cell)));
        held.for_each(|(_, known)| *known = hull(*known, values));
    }

    /// Records that a multiset contains an element at a position.
    pub fn contains(&mut self, multiset: u32, position: i64) {
        self.elements.insert((multiset, position));
    }

    /// Returns whether a multiset surely contains an element at a position.
    pub fn surely_contains(&self, multiset: u32, position: i64) -> bool {
        self.elements.contains(&(multiset, position))
    }

    /// Keeps the facts that hold in both states.
    pub fn join(&mut self, other: AbstractState) {
        if other.is_never {
            return;
        }
        if self.is_never {
            *self = other;
            return;
        }
        self.elements.retain(|it| other.elements.contains(it));
        self.values.retain(|cell, _| other.values.contains_key(cell));
        for (cell, known) in &mut self.values {
            *known = hull(*known, other.values[cell]);
        }
    }

    /// Keeps only the facts about cells below a cell.
    pub fn below(mut self, end: u32) -> AbstractState {
        self.values.retain(|cell, _| *cell < end);
        self.elements.retain(|(cell, _)| *cell < end);
        self
    }
}
