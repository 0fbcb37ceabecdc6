//! Whether each step depends on at most one of the rules that were taken before it (Ip and Dill 1996,
//! Definition 5), so that it is enough to look at a progenitor and its immediate successors.

use super::cases::Case;
use crate::analysis::access::{Cells, InstanceAccess, Table};
use crate::analysis::instances::InstanceId;
use crate::exec::Interp;
use crate::exec::interp::{MultisetCells, multisets};
use crate::ir::PropertyKind;

/// What a case looks at, and what it changes.
struct Footprint {
    all: Cells,
    changed: Cells,
}

impl Footprint {
    fn new(case: &Case, multisets: &[MultisetCells]) -> Footprint {
        let (mut all, mut changed) = (Cells::default(), Cells::default());
        for held in &case.held {
            let cell = held.cell.0..held.cell.0 + 1;
            all.insert(cell.clone());
            if held.changes() {
                changed.insert(cell);
            }
        }
        for counted in &case.counted {
            let cells = multisets[counted.bag].cells();
            all.insert(cells.clone());
            if counted.added.is_some() {
                changed.insert(cells);
            }
        }
        Footprint { all, changed }
    }

    /// Whether the order of two makes no difference, and neither matters to whether the other holds.
    fn is_apart(&self, other: &Footprint) -> bool {
        !(self.changed.meets(&other.all) || other.changed.meets(&self.all))
    }
}

/// What the cases of a program mean to its steps.
pub(super) struct Singular<'a> {
    table: Table<'a>,
    cases: &'a [Case],
    footprints: Vec<Footprint>,
}

impl<'a> Singular<'a> {
    pub(super) fn new(interp: &'a Interp, cases: &'a [Case]) -> Option<Singular<'a>> {
        let (program, layout) = (interp.program(), interp.layout());
        let multisets = multisets(program, layout);
        let footprints = cases.iter().map(|it| Footprint::new(it, &multisets)).collect();
        Some(Singular { table: Table::new(program, layout).ok()?, cases, footprints })
    }

    /// Whether no step depends on two cases of which one can follow the other.
    pub(super) fn holds(&self) -> bool {
        let chains = self.chains();
        let instances = (0..self.table.instances().count()).map(InstanceId);
        let mut steps = instances.map(|it| self.table.access(it));
        steps.all(|access| {
            let depends = self.dependent(&access);
            chains.iter().all(|&(first, then)| match (depends[first], depends[then]) {
                (_, false) => true,
                (true, true) => false,
                (false, true) => self.footprints[first].is_apart(&self.footprints[then]),
            })
        })
    }

    /// Whether no property of single states looks at what cases change.
    pub(super) fn is_unseen(&self) -> bool {
        let properties = self.table.program().properties.values();
        let conditions = properties.filter_map(|it| match &it.kind {
            PropertyKind::Invariant(it)
            | PropertyKind::Cover(it)
            | PropertyKind::AssertionAt { condition: it, .. } => Some(it),
            _ => None,
        });
        let mut seen = Cells::default();
        for condition in conditions {
            let effect = self.table.expression(condition);
            seen.extend(&self.table.read_cells(&InstanceAccess { guard: Vec::new(), effect }));
        }
        let at_locations = self.table.program().properties.values();
        let is_at = |kind: &PropertyKind| matches!(kind, PropertyKind::AssertionAt { .. });
        !at_locations.map(|it| &it.kind).any(is_at)
            && !self.footprints.iter().any(|it| it.changed.meets(&seen))
    }

    /// The cases that a step depends on.
    fn dependent(&self, access: &InstanceAccess) -> Vec<bool> {
        let (reads, writes) = (self.table.read_cells(access), self.table.written_cells(access));
        let depends = |it: &Footprint| writes.meets(&it.all) || reads.meets(&it.changed);
        self.footprints.iter().map(depends).collect()
    }

    /// Which cases can be taken right after which.
    fn chains(&self) -> Vec<(usize, usize)> {
        let count = self.cases.len();
        let pairs = (0..count).flat_map(|first| (0..count).map(move |then| (first, then)));
        pairs.filter(|&(first, then)| follows(&self.cases[first], &self.cases[then])).collect()
    }
}

/// Whether there may be a state after `first` in which `then` can be taken.
fn follows(first: &Case, then: &Case) -> bool {
    let agrees =
        |it: &super::cases::Held| then.of(it.cell).is_none_or(|theirs| theirs.before == it.after);
    let sizes = |it: &super::cases::Counted| {
        then.of_bag(it.bag).is_none_or(|theirs| theirs.sizes & it.sizes_after() != 0)
    };
    first.held.iter().all(agrees) && first.counted.iter().all(sizes)
}
