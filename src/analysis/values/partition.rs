//! Partitions of values, refined until nothing more tells them apart.

use super::judged::Value;
use crate::analysis::blocks::Blocks;
use crate::source::Span;

/// Where a value leads: to another, or out of what can be held, or it fails.
type Leads = Result<Option<Result<i64, i64>>, (Span, String)>;

/// The same, with the block instead of a value that is in one.
type Led = Result<Option<Result<Result<usize, i64>, i64>>, (Span, String)>;

/// Values in blocks: those of a block are not told apart as yet.
pub(super) struct Partition {
    low: i64,
    high: i64,
    /// The block of each value, the least being number 0.
    blocks: Blocks,
    /// Where each value leads by what is done with it.
    ways: Vec<Vec<Leads>>,
}

impl Partition {
    /// All values from `low` to `high` in one block.
    pub fn new(low: i64, high: i64) -> Partition {
        let blocks = Blocks::whole((low..=high).count());
        Partition { low, high, blocks, ways: Vec::new() }
    }

    fn values(&self) -> impl Iterator<Item = i64> + use<> {
        self.low..=self.high
    }

    /// Tells values apart for which this is not the same.
    pub fn tell_apart(&mut self, shows: impl Fn(i64) -> Value) {
        let shown: Vec<Value> = self.values().map(shows).collect();
        self.blocks.split(&shown);
    }

    /// Tells values apart that lead to values that are told apart.
    pub fn goes_on(&mut self, leads: impl Fn(i64) -> Leads) {
        self.ways.push(self.values().map(leads).collect());
    }

    /// The least value of each value's block, once no block can be split; nothing if no two are in one.
    pub fn refined(mut self) -> Option<Vec<i64>> {
        let ways = std::mem::take(&mut self.ways);
        loop {
            if self.blocks.are_all_apart() {
                return None;
            }
            let mut is_split = false;
            for way in &ways {
                let seen: Vec<_> = way.iter().map(|it| self.led(it)).collect();
                is_split |= self.blocks.split(&seen);
            }
            if !is_split {
                break;
            }
        }
        Some(self.blocks.least().into_iter().map(|it| self.low + it as i64).collect())
    }

    /// Where a value leads, as far as that is told apart.
    fn led(&self, leads: &Leads) -> Led {
        let block_of = |value: i64| {
            let at = value.checked_sub(self.low).and_then(|it| usize::try_from(it).ok());
            at.and_then(|it| self.blocks.of(it)).ok_or(value)
        };
        leads.clone().map(|it| it.map(|it| it.map(block_of)))
    }
}
