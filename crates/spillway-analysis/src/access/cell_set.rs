//! Sets of cells.

use spillway_ir::layout::CellId;
use std::ops::Range;

/// A set of cells of a state: ascending ranges with gaps between them. `{2, 3, 7}` is `[2..4, 7..8]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CellSet {
    ranges: Vec<Range<u32>>,
}

impl CellSet {
    /// Returns the set of the first `count` cells.
    pub fn all(count: u32) -> CellSet {
        let mut cells = CellSet::default();
        cells.insert(0..count);
        cells
    }

    /// Adds the cells of a range.
    pub fn insert(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        // Joins the ranges that overlap or touch the new one.
        let first = self.ranges.partition_point(|it| it.end < range.start);
        let last = self.ranges.partition_point(|it| it.start <= range.end);
        let joined = match first < last {
            true => {
                let (low, high) = (self.ranges[first].start, self.ranges[last - 1].end);
                low.min(range.start)..high.max(range.end)
            }
            false => range,
        };
        self.ranges.splice(first..last, [joined]);
    }

    /// Adds all cells of another set.
    pub fn extend(&mut self, other: &CellSet) {
        other.ranges.iter().for_each(|range| self.insert(range.clone()));
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns whether the set contains a cell.
    pub fn contains(&self, cell: CellId) -> bool {
        let after = self.ranges.partition_point(|it| it.end <= cell.0);
        self.ranges.get(after).is_some_and(|it| it.start <= cell.0)
    }

    /// Returns whether two sets have a common cell.
    pub fn intersects(&self, other: &CellSet) -> bool {
        let (mut one, mut two) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(left), Some(right)) = (one.peek(), two.peek()) {
            if left.start < right.end && right.start < left.end {
                return true;
            }
            let behind = if left.end <= right.end { &mut one } else { &mut two };
            behind.next();
        }
        false
    }

    /// Returns the ranges, ascending, with gaps between them.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.ranges
    }

    /// Returns the cells in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CellId> {
        self.ranges.iter().cloned().flatten().map(CellId)
    }

    /// Returns the cell of a set with one cell.
    pub fn single(&self) -> Option<CellId> {
        match self.ranges.as_slice() {
            [range] if range.len() == 1 => Some(CellId(range.start)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(ranges: &[Range<u32>]) -> (CellSet, BTreeSet<u32>) {
        let mut cells = CellSet::default();
        ranges.iter().for_each(|range| cells.insert(range.clone()));
        (cells, ranges.iter().cloned().flatten().collect())
    }

    fn ranges() -> impl Strategy<Value = Vec<Range<u32>>> {
        let range = (0u32..40, 0u32..5).prop_map(|(start, length)| start..start + length);
        prop::collection::vec(range, 0..8)
    }

    proptest! {
        #[test]
        fn cell_sets_agree_with_sets(one in ranges(), other in ranges()) {
            let ((mut cells, mut expected), (more, known)) = (set(&one), set(&other));
            prop_assert_eq!(cells.intersects(&more), !expected.is_disjoint(&known));
            prop_assert_eq!(more.intersects(&cells), !expected.is_disjoint(&known));
            cells.extend(&more);
            expected.extend(known);
            prop_assert!(cells.iter().map(|it| it.0).eq(expected.iter().copied()));
            prop_assert!((0..50).all(|at| cells.contains(CellId(at)) == expected.contains(&at)));
            prop_assert!(cells.ranges.windows(2).all(|it| it[0].end < it[1].start));
            prop_assert_eq!(cells.single().is_some(), expected.len() == 1);
        }
    }
}
