//! Partitions of values, refined until nothing more tells them apart.

use super::evaluation::EvaluationResult;
use crate::analysis::partition_refinement::BlockPartition;
use crate::budget::{AnalysisBudget, BudgetExceeded};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Where a value leads: to another, or out of what can be held, or it fails.
type ValueTarget = Result<Option<Result<i64, i64>>, (Span, String)>;

/// Values in blocks: those of a block are not told apart as yet.
pub(super) struct ValuePartition {
    low: i64,
    high: i64,
    /// The block of each value, the least being number 0.
    blocks: BlockPartition,
    /// Where each value leads by each thing that is done with it: the number of a value, or a larger number for each
    /// way out. Most transitions of a net do the same, which is kept once.
    ways: BTreeSet<Vec<usize>>,
    /// The numbers of ways out.
    out: BTreeMap<ValueTarget, usize>,
}

impl ValuePartition {
    /// All values from `low` to `high` in one block.
    pub fn new(low: i64, high: i64) -> ValuePartition {
        let blocks = BlockPartition::single_block((low..=high).count());
        ValuePartition { low, high, blocks, ways: BTreeSet::new(), out: BTreeMap::new() }
    }

    fn values(&self) -> impl Iterator<Item = i64> + use<> {
        self.low..=self.high
    }

    /// Tells values apart for which this is not the same.
    pub fn distinguish(&mut self, shows: impl Fn(i64) -> EvaluationResult) {
        let shown: Vec<EvaluationResult> = self.values().map(shows).collect();
        self.blocks.split(&shown);
    }

    /// Tells values apart that lead to values that are told apart.
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

    /// The least value of each value's block, once no block can be split; nothing if no two are in one.
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
