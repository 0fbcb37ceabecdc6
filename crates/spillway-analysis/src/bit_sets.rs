//! Bit sets. Member `i` is bit `i % 64` of word `i / 64`. Sets that are used together have the same number of words.

use std::collections::HashMap;

/// The number of bits of a word.
pub const WORD_BITS: usize = u64::BITS as usize;

/// Returns the number of words of a set with up to `members` members. It is at least one, so that sets can be
/// counted.
#[inline]
pub fn words_of(members: usize) -> usize {
    members.div_ceil(WORD_BITS).max(1)
}

/// Returns whether a set has a member.
#[inline]
pub fn has(set: &[u64], member: usize) -> bool {
    set[member / WORD_BITS] >> (member % WORD_BITS) & 1 != 0
}

/// Adds a member to a set.
#[inline]
pub fn insert(set: &mut [u64], member: usize) {
    set[member / WORD_BITS] |= 1 << (member % WORD_BITS);
}

/// Removes a member from a set.
#[inline]
pub fn remove_member(set: &mut [u64], member: usize) {
    set[member / WORD_BITS] &= !(1 << (member % WORD_BITS));
}

/// Adds all members of another set.
#[inline]
pub fn extend(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(word, &more)| *word |= more);
}

/// Removes all members of another set.
#[inline]
pub fn subtract(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(word, &less)| *word &= !less);
}

/// Returns the number of members of a set.
#[inline]
pub fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// Returns whether a set has exactly one member.
#[inline]
pub fn is_single(set: &[u64]) -> bool {
    let mut words = set.iter().filter(|&&word| word != 0);
    words.next().is_some_and(|word| word.is_power_of_two()) && words.next().is_none()
}

/// Returns whether two sets have a common member.
#[inline]
pub fn intersects(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

/// Returns whether every member of `one` is in `other`.
#[inline]
pub fn is_subset(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one & !other == 0)
}

/// Returns the members of a set, in ascending order.
#[inline]
pub fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(at, &word)| members_of_word(at, word))
}

/// Returns the least member of a set that is at least `least`.
pub fn first_from(set: &[u64], least: usize) -> Option<usize> {
    let mut words = set.iter().enumerate().skip(least / WORD_BITS);
    let (at, word) = words.next()?;
    let rest = word & (u64::MAX << (least % WORD_BITS));
    let mut all = std::iter::once((at, rest)).chain(words.map(|(at, word)| (at, *word)));
    all.find_map(|(at, word)| members_of_word(at, word).next())
}

/// Returns the members in word `at` of a set, in ascending order.
#[inline]
pub fn members_of_word(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let member = (word != 0).then(|| at * WORD_BITS + word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(member)
    })
}

/// A sequence of sets with the same range of members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitMatrix {
    words: usize,
    all: Vec<u64>,
}

impl BitMatrix {
    /// Creates empty sets of members below `members`.
    pub fn new(sets: usize, members: usize) -> BitMatrix {
        let words = words_of(members);
        BitMatrix { words, all: vec![0; sets * words] }
    }

    /// Returns an empty set of the same size, which is not part of the matrix.
    pub fn empty_set(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    /// Adds a set and returns its number.
    pub fn push(&mut self, set: &[u64]) -> usize {
        debug_assert_eq!(set.len(), self.words);
        self.all.extend_from_slice(set);
        self.all.len() / self.words - 1
    }

    /// Returns the number of words of each set.
    #[inline]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of sets.
    #[inline]
    pub fn count(&self) -> usize {
        self.all.len().checked_div(self.words).unwrap_or_default()
    }

    /// Returns set number `at`.
    #[inline]
    pub fn row(&self, at: usize) -> &[u64] {
        &self.all[at * self.words..][..self.words]
    }

    /// Returns set number `at` for changes.
    #[inline]
    pub fn row_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.all[at * self.words..][..self.words]
    }

    /// Returns whether set number `at` has a member.
    #[inline]
    pub fn contains(&self, at: usize, member: usize) -> bool {
        has(self.row(at), member)
    }
}

/// Sets that are stored once and referred to by their numbers.
#[derive(Debug)]
pub struct BitSetInterner {
    rows: BitMatrix,
    known: HashMap<Vec<u64>, usize>,
}

impl BitSetInterner {
    /// Creates an empty collection of sets of members below `members`.
    pub fn new(members: usize) -> BitSetInterner {
        BitSetInterner { rows: BitMatrix::new(0, members), known: HashMap::new() }
    }

    /// Returns the number of a set.
    pub fn intern(&mut self, set: Vec<u64>) -> usize {
        let BitSetInterner { rows, known } = self;
        *known.entry(set).or_insert_with_key(|set| rows.push(set))
    }

    /// Returns the number of sets.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Returns all sets, indexed by their numbers.
    pub fn into_rows(self) -> BitMatrix {
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_from_returns_the_least_member_from_a_number_on() {
        let mut set = vec![0; 4];
        [0, 3, 63, 64, 130, 255].into_iter().for_each(|it| insert(&mut set, it));
        for least in 0..300 {
            let expected = members(&set).find(|it| *it >= least);
            assert_eq!(first_from(&set, least), expected, "{least}");
        }
    }
}
