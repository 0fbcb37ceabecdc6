//! Sets of action instances as rows of one table: bit `i % 64` of word `i / 64` is instance `i`.

use crate::analysis::instances::InstanceId;

/// Sets of instances below one number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    words_each: usize,
    words: Vec<u64>,
}

impl Rows {
    /// No sets yet, of so many instances.
    pub fn new(instances: usize) -> Rows {
        Rows { words_each: instances.div_ceil(64), words: Vec::new() }
    }

    /// So many empty sets.
    pub fn empty(sets: usize, instances: usize) -> Rows {
        let words_each = instances.div_ceil(64);
        Rows { words_each, words: vec![0; sets * words_each] }
    }

    /// Words of a set.
    pub fn words_each(&self) -> usize {
        self.words_each
    }

    /// A set.
    pub fn row(&self, set: usize) -> &[u64] {
        &self.words[set * self.words_each..][..self.words_each]
    }

    /// The same, to be changed.
    pub fn row_mut(&mut self, set: usize) -> &mut [u64] {
        &mut self.words[set * self.words_each..][..self.words_each]
    }

    /// Adds a set. Gives its number.
    pub fn push(&mut self, row: &[u64]) -> usize {
        self.words.extend_from_slice(row);
        self.words.len() / self.words_each.max(1) - 1
    }

    /// Whether an instance is in a set.
    pub fn contains(&self, set: usize, instance: InstanceId) -> bool {
        has(self.row(set), instance)
    }
}

/// Whether an instance is in a set.
pub fn has(row: &[u64], instance: InstanceId) -> bool {
    row[instance.0 as usize / 64] >> (instance.0 % 64) & 1 != 0
}

/// Adds an instance to a set.
pub fn insert(row: &mut [u64], instance: InstanceId) {
    row[instance.0 as usize / 64] |= 1 << (instance.0 % 64);
}

/// Takes an instance out of a set.
pub fn take_out(row: &mut [u64], instance: InstanceId) {
    row[instance.0 as usize / 64] &= !(1 << (instance.0 % 64));
}

/// Adds all of another set.
pub fn extend(row: &mut [u64], other: &[u64]) {
    row.iter_mut().zip(other).for_each(|(word, &more)| *word |= more);
}

/// Takes out all of another set.
pub fn remove(row: &mut [u64], other: &[u64]) {
    row.iter_mut().zip(other).for_each(|(word, &less)| *word &= !less);
}

/// The instances in a set, ascending.
pub fn members(row: &[u64]) -> impl Iterator<Item = InstanceId> {
    let words = row.iter().enumerate();
    words.flat_map(|(at, &word)| {
        let bits = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
        let bits = bits.take_while(|&rest| rest != 0);
        bits.map(move |rest| InstanceId(at as u32 * 64 + rest.trailing_zeros()))
    })
}
