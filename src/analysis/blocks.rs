//! Numbers in blocks, which are split until nothing more tells those of one block apart: partition refinement (Moore 1956).

use std::collections::BTreeMap;

/// The blocks of the numbers below some count.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The block of each number.
    of: Vec<usize>,
    /// How many blocks there are.
    count: usize,
}

impl Blocks {
    /// All numbers below a count in one block.
    pub fn whole(count: usize) -> Blocks {
        Blocks { of: vec![0; count], count: 1 }
    }

    /// The block that a number is in, if there is such a number.
    pub fn of(&self, number: usize) -> Option<usize> {
        self.of.get(number).copied()
    }

    /// Splits blocks by what is seen of each number, and tells whether there are more of them then.
    pub fn split<T: Ord>(&mut self, seen: &[T]) -> bool {
        let mut numbers = BTreeMap::new();
        for (block, seen) in self.of.iter_mut().zip(seen) {
            let next = numbers.len();
            *block = *numbers.entry((*block, seen)).or_insert(next);
        }
        let before = std::mem::replace(&mut self.count, numbers.len());
        self.count > before
    }

    /// Whether every number is in a block by itself.
    pub fn are_all_apart(&self) -> bool {
        self.count >= self.of.len()
    }

    /// Of each number the least in its block.
    pub fn least(&self) -> Vec<usize> {
        let mut least = BTreeMap::new();
        let of = self.of.iter().enumerate();
        of.map(|(number, block)| *least.entry(*block).or_insert(number)).collect()
    }
}
