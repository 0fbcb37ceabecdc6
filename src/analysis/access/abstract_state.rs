//! What is known of a state at one point of the code that runs in it.

use super::cell_set::CellSet;
use crate::ir::interval::{Interval, hull, is_none};
use crate::ir::layout::CellId;
use std::collections::{BTreeMap, BTreeSet};

/// What is known at one point. Knowing nothing is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AbstractState {
    /// Whether the code never gets here.
    is_never: bool,
    /// The values that a cell may have. It has one: it is not undefined.
    values: BTreeMap<u32, Interval>,
    /// Multisets, by their first cells, and positions at which they have an element.
    elements: BTreeSet<(u32, i64)>,
}

impl AbstractState {
    /// A point that is never reached.
    pub fn unreachable() -> AbstractState {
        AbstractState { is_never: true, ..AbstractState::default() }
    }

    /// Whether it is never reached.
    pub fn is_unreachable(&self) -> bool {
        self.is_never
    }

    /// What is in a cell, if that is known.
    pub fn get(&self, cell: u32) -> Option<Interval> {
        self.values.get(&cell).copied()
    }

    /// Notes what is in a cell; the point is never reached if no value is.
    pub fn set(&mut self, cell: u32, values: Interval) {
        match is_none(values) {
            true => *self = AbstractState::unreachable(),
            false => drop(self.values.insert(cell, values)),
        }
    }

    /// Notes that a cell may have any value of its own, or none.
    pub fn forget(&mut self, cell: u32) {
        self.values.remove(&cell);
    }

    /// Notes that cells may have any values, and multisets any elements.
    pub fn forget_all(&mut self, cells: &CellSet) {
        self.values.retain(|cell, _| !cells.contains(CellId(*cell)));
        self.forget_elements(cells);
    }

    /// Notes that multisets may have lost elements.
    pub fn forget_elements(&mut self, cells: &CellSet) {
        self.elements.retain(|(cell, _)| !cells.contains(CellId(*cell)));
    }

    /// Notes that one of these cells may have got one of these values.
    pub fn widen(&mut self, cells: &CellSet, values: Interval) {
        let held = self.values.iter_mut().filter(|(cell, _)| cells.contains(CellId(**cell)));
        held.for_each(|(_, known)| *known = hull(*known, values));
    }

    /// Notes that there is an element.
    pub fn contains(&mut self, multiset: u32, position: i64) {
        self.elements.insert((multiset, position));
    }

    /// Whether there surely is an element.
    pub fn surely_contains(&self, multiset: u32, position: i64) -> bool {
        self.elements.contains(&(multiset, position))
    }

    /// What is known at a point that is reached from this one or from the other.
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

    /// Only what is known of cells below this one.
    pub fn below(mut self, end: u32) -> AbstractState {
        self.values.retain(|cell, _| *cell < end);
        self.elements.retain(|(cell, _)| *cell < end);
        self
    }
}
