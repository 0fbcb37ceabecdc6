//! Partitions of values, which are refined to a fixed point.

use super::evaluation::EvaluationResult;
use crate::partition_refinement::BlockPartition;
use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use spillway_base::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The result of a computation with a value: another value of the class, a value outside its range, undefined, or a
/// failure.
type ValueTarget = Result<Option<Result<i64, i64>>, (Span, String)>;

/// A partition of values. Values of one block are not yet distinguished.
pub(super) struct ValuePartition {
    low: i64,
    high: i64,
    /// The block of each value. The least value has number 0.
    blocks: BlockPartition,
    /// The targets of all values by each computation. A target is the number of a value, or a larger number for each
    /// other result. Equal computations, such as those of the transitions of a Petri net, are stored once.
    ways: BTreeSet<Vec<usize>>,
    /// The numbers of the other results.
    out: BTreeMap<ValueTarget, usize>,
}

impl ValuePartition {
    /// Puts all values from `low` to `high` into one block.
    pub fn new(low: i64, high: i64) -> ValuePartition {
        let blocks = BlockPartition::single_block((low..=high).count());
        ValuePartition { low, high, blocks, ways: BTreeSet::new(), out: BTreeMap::new() }
    }

    fn values(&self) -> impl Iterator<Item = i64> + use<> {
        self.low..=self.high
    }

    /// Distinguishes values with different results.
    pub fn distinguish(&mut self, shows: impl Fn(i64) -> EvaluationResult) {
        let shown: Vec<EvaluationResult> = self.values().map(shows).collect();
        self.blocks.split(&shown);
    }

    /// Distinguishes values whose targets are distinguished.
    pub fn split_by_target(&mut self, leads: impl Fn(i64) -> ValueTarget) {
        let (low, count) = (self.low, self.values().count());
        let number = |value: i64| {
            let number = value.checked_sub(low).and_then(|it| usize::try_from(it).ok());
            number.filter(|it| *it < count)
        };
        let way = self.values().map(|value| {
            let leads = leads(value);
            let inside = match leads {
                Ok(Some(Ok(to))) => number(to),
                _ => None,
            };
            inside.unwrap_or_else(|| {
                let next = count + self.out.len();
                *self.out.entry(leads).or_insert(next)
            })
        });
        let way = way.collect();
        self.ways.insert(way);
    }

    /// Refines to a fixed point. Returns the least value of each value's block, or `None` if each block has one
    /// value.
    pub fn refined(mut self, budget: &AnalysisBudget) -> Result<Option<Vec<i64>>, BudgetExceeded> {
        let count = self.values().count();
        let mut seen_by = vec![Vec::new(); count];
        for way in &self.ways {
            budget.work(count as u64)?;
            for (from, &to) in way.iter().enumerate() {
                if let Some(of) = seen_by.get_mut(to) {
                    of.push(from);
                }
            }
        }
        for of in &mut seen_by {
            of.sort_unstable();
            of.dedup();
        }
        let ways = &self.ways;
        let seen = |number: usize, blocks: &BlockPartition| {
            let led = ways.iter().map(|way| blocks.of(way[number]).ok_or(way[number]));
            led.collect::<Vec<Result<usize, usize>>>()
        };
        if !self.blocks.are_all_singletons() {
            self.blocks.refine(seen, &seen_by, budget)?;
        }
        if self.blocks.are_all_singletons() {
            return Ok(None);
        }
        Ok(Some(self.blocks.least_members().into_iter().map(|it| self.low + it as i64).collect()))
    }
}
