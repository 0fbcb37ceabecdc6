//! Sets as bits: rows of words, all as long.

/// Bits of a word.
const WORD_BITS: usize = u64::BITS as usize;

/// Words that a set of so many members takes: one at least.
pub(super) fn words_of(members: usize) -> usize {
    members.div_ceil(WORD_BITS).max(1)
}

/// Whether a set has a member.
#[inline]
pub(super) fn has(set: &[u64], member: usize) -> bool {
    set[member / WORD_BITS] >> (member % WORD_BITS) & 1 != 0
}

/// Adds a member to a set.
#[inline]
pub(super) fn insert(set: &mut [u64], member: usize) {
    set[member / WORD_BITS] |= 1 << (member % WORD_BITS);
}

/// How many members a set has.
pub(super) fn count(set: &[u64]) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

/// Whether two sets have a member in common.
pub(super) fn meet(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).any(|(one, other)| one & other != 0)
}

/// Whether every member of one is in the other.
pub(super) fn is_within(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one & !other == 0)
}

/// Adds all members of another set.
pub(super) fn extend(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

/// The members of a set, ascending.
pub(super) fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let rest = |&bits: &u64| Some(bits & (bits - 1)).filter(|&rest| rest != 0);
        std::iter::successors(Some(bits).filter(|&bits| bits != 0), rest)
            .map(move |bits| word * WORD_BITS + bits.trailing_zeros() as usize)
    })
}

/// Sets of the same members, one after another.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    words: usize,
    all: Vec<u64>,
}

impl Rows {
    /// No sets yet, of so many members.
    pub fn new(members: usize) -> Rows {
        Rows { words: words_of(members), all: Vec::new() }
    }

    /// So many empty sets.
    pub fn of(members: usize, count: usize) -> Rows {
        let words = words_of(members);
        Rows { words, all: vec![0; count * words] }
    }

    /// Adds a set; tells its number.
    pub fn push(&mut self, row: &[u64]) -> usize {
        debug_assert_eq!(row.len(), self.words);
        self.all.extend_from_slice(row);
        self.all.len() / self.words - 1
    }

    /// An empty set.
    pub fn none(&self) -> Vec<u64> {
        vec![0; self.words]
    }

    /// Set number `at`.
    #[inline]
    pub fn row(&self, at: usize) -> &[u64] {
        &self.all[at * self.words..][..self.words]
    }

    /// The same, to be changed.
    pub fn row_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.all[at * self.words..][..self.words]
    }
}
