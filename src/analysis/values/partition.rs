//! Partitions of values, refined until nothing more tells them apart.

use super::judged::Value;
use crate::source::Span;
use std::collections::BTreeMap;

/// Where a value leads: to another, or out of what can be held, or it fails.
type Leads = Result<Option<Result<i64, i64>>, (Span, String)>;

/// Values in blocks: those of a block are not told apart as yet.
pub(super) struct Partition {
    low: i64,
    /// The block of each value.
    blocks: Vec<usize>,
    count: usize,
    /// Where each value leads by what is done with it.
    ways: Vec<Vec<Leads>>,
}

impl Partition {
    /// All values from `low` to `high` in one block.
    pub fn new(low: i64, high: i64) -> Partition {
        let blocks = (low..=high).map(|_| 0).collect();
        Partition { low, blocks, count: 1, ways: Vec::new() }
    }

    fn values(&self) -> impl Iterator<Item = i64> + use<> {
        self.low..self.low + self.blocks.len() as i64
    }

    /// Tells values apart for which this is not the same.
    pub fn tell_apart(&mut self, shows: impl Fn(i64) -> Value) {
        let shown: Vec<Value> = self.values().map(shows).collect();
        self.split(&shown);
    }

    /// Tells values apart that lead to values that are told apart.
    pub fn goes_on(&mut self, leads: impl Fn(i64) -> Leads) {
        self.ways.push(self.values().map(leads).collect());
    }

    /// Splits blocks by what is seen of each value.
    fn split<T: Ord>(&mut self, seen: &[T]) {
        let mut numbers = BTreeMap::new();
        for (block, seen) in self.blocks.iter_mut().zip(seen) {
            let next = numbers.len();
            *block = *numbers.entry((*block, seen)).or_insert(next);
        }
        self.count = numbers.len();
    }

    /// The least value of each value's block, once no block can be split; nothing if no two are in one.
    pub fn refined(mut self) -> Option<Vec<i64>> {
        let ways = std::mem::take(&mut self.ways);
        loop {
            let before = self.count;
            if before == self.blocks.len() {
                return None;
            }
            for way in &ways {
                let (low, blocks) = (self.low, &self.blocks);
                let block_of = |value: i64| {
                    let at = value.checked_sub(low).and_then(|it| usize::try_from(it).ok());
                    at.and_then(|it| blocks.get(it)).copied().ok_or(value)
                };
                let led = |it: &Leads| it.clone().map(|it| it.map(|it| it.map(block_of)));
                let seen: Vec<_> = way.iter().map(led).collect();
                self.split(&seen);
            }
            if self.count == before {
                break;
            }
        }
        let mut least = BTreeMap::new();
        for (value, block) in self.values().zip(&self.blocks) {
            least.entry(*block).or_insert(value);
        }
        Some(self.blocks.iter().map(|it| least[it]).collect())
    }
}
