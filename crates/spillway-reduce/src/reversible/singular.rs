//! Whether each transition depends on at most one of the rules taken before it (Ip and Dill 1996, Definition 5). Then
//! it is enough to expand a progenitor and its immediate successors.

use super::cases::ReversibleCase;
use spillway_analysis::access::{AccessTable, CellSet, InstanceAccess};
use spillway_analysis::bit_sets::{self, BitMatrix};
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_exec::Interp;
use spillway_exec::interp::{MultisetCells, multisets};
use spillway_ir::PropertyKind;

/// Units of work to compute the accesses of an action instance.
const EACH_INSTANCE: u64 = 256;

/// Units of work to compare two cases.
const EACH_PAIR: u64 = 8;

/// The cells that a case reads or changes, and those that it changes.
struct CaseFootprint {
    all: CellSet,
    changed: CellSet,
}

impl CaseFootprint {
    fn new(case: &ReversibleCase, multisets: &[MultisetCells]) -> CaseFootprint {
        let (mut all, mut changed) = (CellSet::default(), CellSet::default());
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
        CaseFootprint { all, changed }
    }

    /// Whether two cases commute, and neither decides whether the other applies.
    fn is_apart(&self, other: &CaseFootprint) -> bool {
        !(self.changed.intersects(&other.all) || other.changed.intersects(&self.all))
    }
}

/// The dependence of a program's transitions on cases.
pub(super) struct SingularityCheck<'a> {
    table: AccessTable<'a>,
    cases: &'a [ReversibleCase],
    footprints: Vec<CaseFootprint>,
}

impl<'a> SingularityCheck<'a> {
    pub(super) fn new(
        interp: &'a Interp,
        cases: &'a [ReversibleCase],
    ) -> Option<SingularityCheck<'a>> {
        let (program, layout) = (interp.program(), interp.layout());
        let multisets = multisets(program, layout);
        let footprints = cases.iter().map(|it| CaseFootprint::new(it, &multisets)).collect();
        Some(SingularityCheck { table: AccessTable::new(program, layout).ok()?, cases, footprints })
    }

    /// Whether no transition depends on two cases that can follow each other.
    pub(super) fn holds(&self, budget: &AnalysisBudget) -> Result<bool, BudgetExceeded> {
        let CasePredecessors { by, depending } = self.followed(budget)?;
        for number in (0..self.table.instances().count()).map(InstanceId) {
            budget.work(EACH_INSTANCE + EACH_PAIR * self.cases.len() as u64)?;
            let dependent = self.dependent(&self.table.access(number));
            // A predecessor that matters to the case matters to the transition, even if the transition does not
            // depend on it.
            for then in bit_sets::members(&dependent) {
                budget.work(dependent.len() as u64)?;
                if depending[then] || bit_sets::intersects(by.row(then), &dependent) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Whether no property of single states reads what cases change.
    pub(super) fn is_invisible(&self) -> bool {
        let properties = self.table.program().properties.values();
        let conditions = properties.filter_map(|it| match &it.kind {
            PropertyKind::Invariant(it)
            | PropertyKind::Cover(it)
            | PropertyKind::AssertionAt { condition: it, .. } => Some(it),
            _ => None,
        });
        let mut seen = CellSet::default();
        for condition in conditions {
            let effect = self.table.expression(condition);
            seen.extend(&self.table.read_cells(&InstanceAccess { guard: Vec::new(), effect }));
        }
        let at_locations = self.table.program().properties.values();
        let is_at = |kind: &PropertyKind| matches!(kind, PropertyKind::AssertionAt { .. });
        !at_locations.map(|it| &it.kind).any(is_at)
            && !self.footprints.iter().any(|it| it.changed.intersects(&seen))
    }

    /// Returns the set of cases that a transition depends on.
    fn dependent(&self, access: &InstanceAccess) -> Vec<u64> {
        let (reads, writes) = (self.table.read_cells(access), self.table.written_cells(access));
        let depends =
            |it: &CaseFootprint| writes.intersects(&it.all) || reads.intersects(&it.changed);
        let mut found = vec![0; bit_sets::words_of(self.cases.len())];
        for (at, _) in self.footprints.iter().enumerate().filter(|(_, it)| depends(it)) {
            bit_sets::insert(&mut found, at);
        }
        found
    }

    /// Computes which cases can directly follow which.
    fn followed(&self, budget: &AnalysisBudget) -> Result<CasePredecessors, BudgetExceeded> {
        let count = self.cases.len();
        budget.hold(count * bit_sets::words_of(count) * size_of::<u64>())?;
        let mut found =
            CasePredecessors { by: BitMatrix::new(count, count), depending: vec![false; count] };
        for then in 0..count {
            budget.work(EACH_PAIR * count as u64)?;
            for first in 0..count {
                if follows(&self.cases[first], &self.cases[then]) {
                    bit_sets::insert(found.by.row_mut(then), first);
                    found.depending[then] |=
                        !self.footprints[first].is_apart(&self.footprints[then]);
                }
            }
        }
        Ok(found)
    }
}

/// The cases that can directly precede each case.
struct CasePredecessors {
    by: BitMatrix,
    /// Whether a case depends on one of its predecessors.
    depending: Vec<bool>,
}

/// Whether `then` may apply in a state after `first`.
fn follows(first: &ReversibleCase, then: &ReversibleCase) -> bool {
    let agrees = |it: &super::cases::CaseCell| {
        then.of(it.cell).is_none_or(|theirs| theirs.before == it.after)
    };
    let sizes = |it: &super::cases::CaseMultiset| {
        then.of_bag(it.bag).is_none_or(|theirs| theirs.sizes & it.sizes_after() != 0)
    };
    first.held.iter().all(agrees) && first.counted.iter().all(sizes)
}
