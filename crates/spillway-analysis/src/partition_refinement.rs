//! Partition refinement (Moore 1956): numbers in blocks, which are split until all numbers of a block have the same
//! signature.

use spillway_base::budget::{AnalysisBudget, BudgetExceeded};
use std::collections::BTreeMap;

/// The work units of one number, whose signature is compared with others.
const EACH: u64 = 16;

/// A partition of the numbers below a count.
#[derive(Clone, Debug)]
pub struct BlockPartition {
    /// The block of each number.
    of: Vec<usize>,
    /// The number of blocks.
    count: usize,
}

impl BlockPartition {
    /// Puts all numbers below `count` into one block.
    pub fn single_block(count: usize) -> BlockPartition {
        BlockPartition { of: vec![0; count], count: 1 }
    }

    /// Returns the block of a number, if there is such a number.
    pub fn of(&self, number: usize) -> Option<usize> {
        self.of.get(number).copied()
    }

    /// Splits blocks by the signature of each number. Returns whether there are more blocks afterwards.
    pub fn split<T: Ord>(&mut self, seen: &[T]) -> bool {
        let mut numbers = BTreeMap::new();
        for (block, seen) in self.of.iter_mut().zip(seen) {
            let next = numbers.len();
            *block = *numbers.entry((*block, seen)).or_insert(next);
        }
        let before = std::mem::replace(&mut self.count, numbers.len());
        self.count > before
    }

    /// Splits blocks until all numbers of a block have the same signature. The signature of a number depends on the
    /// number and on the blocks of some numbers. For each number, `seen_by` has the numbers whose signatures depend
    /// on its block.
    ///
    /// Only numbers that depend on a split block are examined again, and the largest part of a block keeps the block.
    /// So each number changes its block at most a logarithmic number of times (Hopcroft 1971; Paige and Tarjan 1987).
    pub fn refine<T: Ord>(
        &mut self,
        seen: impl Fn(usize, &BlockPartition) -> T,
        seen_by: &[Vec<usize>],
        budget: &AnalysisBudget,
    ) -> Result<(), BudgetExceeded> {
        let first: Vec<T> = (0..self.of.len()).map(|it| seen(it, self)).collect();
        self.split(&first);
        drop(first);
        let mut members = BlockMembers::of(self);
        // At first all blocks are new.
        let mut open: Vec<usize> = (0..self.of.len()).collect();
        let mut is_open = vec![true; self.of.len()];
        while !open.is_empty() {
            let mut by_block: BTreeMap<usize, BTreeMap<T, Vec<usize>>> = BTreeMap::new();
            for number in open.drain(..) {
                budget.work(EACH + seen_by[number].len() as u64)?;
                is_open[number] = false;
                let sees = seen(number, self);
                by_block.entry(self.of[number]).or_default().entry(sees).or_default().push(number);
            }
            let mut moved = Vec::new();
            for (block, parts) in by_block {
                for part in members.without_largest(block, parts.into_values().collect()) {
                    part.iter().for_each(|&it| self.of[it] = self.count);
                    self.count += 1;
                    moved.extend_from_slice(&part);
                    members.add(part);
                }
            }
            for &number in moved.iter().flat_map(|&it| &seen_by[it]) {
                if !std::mem::replace(&mut is_open[number], true) {
                    open.push(number);
                }
            }
        }
        Ok(())
    }

    /// Returns whether every number has a block of its own.
    pub fn are_all_singletons(&self) -> bool {
        self.count >= self.of.len()
    }

    /// Returns, for each number, the least number of its block.
    pub fn least_members(&self) -> Vec<usize> {
        let mut least = BTreeMap::new();
        let of = self.of.iter().enumerate();
        of.map(|(number, block)| *least.entry(*block).or_insert(number)).collect()
    }
}

/// The members of each block.
struct BlockMembers {
    of: Vec<Vec<usize>>,
    /// The position of each number among the members of its block.
    at: Vec<usize>,
}

impl BlockMembers {
    fn of(blocks: &BlockPartition) -> BlockMembers {
        let mut members =
            BlockMembers { of: vec![Vec::new(); blocks.count], at: vec![0; blocks.of.len()] };
        for (number, &block) in blocks.of.iter().enumerate() {
            members.at[number] = members.of[block].len();
            members.of[block].push(number);
        }
        members
    }

    fn add(&mut self, block: Vec<usize>) {
        block.iter().enumerate().for_each(|(at, &number)| self.at[number] = at);
        self.of.push(block);
    }

    fn take_out(&mut self, block: usize, number: usize) {
        let (at, members) = (self.at[number], &mut self.of[block]);
        members.swap_remove(at);
        if let Some(&other) = members.get(at) {
            self.at[other] = at;
        }
    }

    /// Keeps the largest of some parts and the rest of a block in the block, and returns the other parts. The time
    /// depends on the lengths of the parts only.
    fn without_largest(&mut self, block: usize, mut parts: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
        let rest = self.of[block].len() - parts.iter().map(Vec::len).sum::<usize>();
        let largest = (0..parts.len()).max_by_key(|&at| parts[at].len());
        let largest = largest.filter(|&at| parts[at].len() > rest);
        let kept = largest.map(|at| parts.swap_remove(at));
        for &number in parts.iter().chain(&kept).flatten() {
            self.take_out(block, number);
        }
        if let Some(kept) = kept {
            kept.iter().enumerate().for_each(|(at, &number)| self.at[number] = at);
            let rest = std::mem::replace(&mut self.of[block], kept);
            parts.extend(Some(rest).filter(|it| !it.is_empty()));
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_base::random::mix;

    /// Computes the result of `refine` by examining all numbers until nothing changes.
    fn refine_naively(
        blocks: &mut BlockPartition,
        seen: impl Fn(usize, &BlockPartition) -> Vec<Option<usize>>,
    ) {
        loop {
            let all: Vec<_> = (0..blocks.of.len()).map(|it| seen(it, blocks)).collect();
            if !blocks.split(&all) {
                return;
            }
        }
    }

    #[test]
    fn refining_changed_blocks_only_gives_the_full_refinement() {
        for round in 0..300u64 {
            let random = |at: u64, below: u64| mix(round * 7919 + at) % below;
            let count = 1 + random(0, 40) as usize;
            let successors: Vec<Vec<usize>> = (0..count as u64)
                .map(|it| {
                    let ways = random(it * 31 + 1, 4);
                    (0..ways).map(|way| random(it * 31 + 2 + way, count as u64) as usize).collect()
                })
                .collect();
            let mut predecessors = vec![Vec::new(); count];
            for (from, to) in successors.iter().enumerate() {
                to.iter().for_each(|&it| predecessors[it].push(from));
            }
            let marks: Vec<u64> = (0..count as u64).map(|it| random(it * 31 + 9, 2)).collect();
            let seen = |number: usize, blocks: &BlockPartition| {
                let mut seen: Vec<_> = successors[number].iter().map(|&it| blocks.of(it)).collect();
                seen.sort_unstable();
                seen
            };
            let (mut naive, mut refined_partition) =
                (BlockPartition::single_block(count), BlockPartition::single_block(count));
            naive.split(&marks);
            refined_partition.split(&marks);
            refine_naively(&mut naive, seen);
            refined_partition.refine(seen, &predecessors, &AnalysisBudget::largest()).unwrap();
            assert_eq!(refined_partition.least_members(), naive.least_members(), "{round}");
        }
    }

    #[test]
    fn work_for_a_chain_is_proportional_to_its_length() {
        let count = 50_000;
        let predecessors: Vec<Vec<usize>> =
            (0..count).map(|it| Vec::from_iter(usize::checked_sub(it, 1))).collect();
        let seen = |number: usize, blocks: &BlockPartition| blocks.of(number + 1);
        let refine = |units| {
            let budget = AnalysisBudget::largest().with_limits(units, 0);
            BlockPartition::single_block(count).refine(seen, &predecessors, &budget)
        };
        assert_eq!(refine(100 * count as u64), Ok(()));
        assert_eq!(refine(count as u64), Err(BudgetExceeded::Work));
    }
}
