//! The selection of cells for a target: the cells that the target reads, then the cells that decide on transitions
//! that write these, and so on.

use super::{AbstractionAnalysis, ViolationTarget};
use spillway_analysis::access::{ConjunctCondition, InstanceAccess};
use spillway_analysis::instances::InstanceId;
use spillway_base::budget::BudgetExceeded;
use spillway_ir::Entity as _;
use spillway_ir::layout::CellId;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Units of work to record a writer of a cell.
const EACH_WRITTEN: u64 = 8;

/// The most cells that are examined.
const CELLS_MAX: usize = 48;

impl AbstractionAnalysis<'_> {
    /// Returns the cells, the nearest to the target first.
    pub(super) fn cone(&self, target: ViolationTarget) -> Result<Vec<CellId>, BudgetExceeded> {
        let writers = self.writers()?;
        let (mut found, mut seen, mut open) = (Vec::new(), BTreeSet::new(), VecDeque::new());
        open.extend(self.target_cells(target));
        while let Some(cell) = open.pop_front() {
            if found.len() >= CELLS_MAX {
                break;
            }
            if !seen.insert(cell) {
                continue;
            }
            found.push(cell);
            for &writer in writers.get(&cell).into_iter().flatten() {
                let decide = self.decide(self.dependence.access(writer));
                self.budget.work(1 + decide.len() as u64)?;
                // Visited cells would only be skipped.
                open.extend(decide.into_iter().filter(|it| !seen.contains(it)));
            }
        }
        Ok(found)
    }

    /// Returns the writers of each cell.
    fn writers(&self) -> Result<BTreeMap<CellId, Vec<InstanceId>>, BudgetExceeded> {
        let mut writers: BTreeMap<CellId, Vec<InstanceId>> = BTreeMap::new();
        for instance in self.dependence.instances() {
            let access = self.dependence.access(instance);
            for cell in self.dependence.table().written_cells(access).iter() {
                self.budget.work(EACH_WRITTEN)?;
                writers.entry(cell).or_default().push(instance);
            }
        }
        Ok(writers)
    }

    /// Returns the cells that the target reads.
    fn target_cells(&self, target: ViolationTarget) -> Vec<CellId> {
        let all = self.dependence.instances();
        match target {
            ViolationTarget::Property(id) => {
                let access = self.dependence.table().read_by(id);
                let places = access.asks.iter().map(|it| it.0);
                places.chain(access.reads.iter().take(CELLS_MAX)).collect()
            }
            ViolationTarget::Errors => {
                let erring = all.filter(|it| self.may_err[it.index()]);
                erring.flat_map(|it| self.decide(self.dependence.access(it))).collect()
            }
            ViolationTarget::Deadlock => {
                let asked = all.map(|it| self.decide(self.dependence.access(it)));
                let (mut first, mut others) = (Vec::new(), Vec::new());
                for cells in asked {
                    first.extend(cells.first());
                    others.extend(cells.into_iter().skip(1));
                }
                first.extend(others);
                first
            }
        }
    }

    /// Returns the cells that decide whether an instance is enabled. Those that decide alone come first.
    fn decide(&self, access: &InstanceAccess<'_>) -> Vec<CellId> {
        let alone = access.guard.iter().filter_map(|it| match it.condition {
            ConjunctCondition::At(cell, _) | ConjunctCondition::Compares(cell, ..) => Some(cell),
            ConjunctCondition::Asks(..) | ConjunctCondition::Holds => None,
        });
        let others = access
            .guard
            .iter()
            .flat_map(|it| it.access.reads.iter().take(CELLS_MAX).collect::<Vec<_>>());
        alone.chain(others).collect()
    }
}
