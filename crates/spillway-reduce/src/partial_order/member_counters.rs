//! A small counter for each member, as bits: one operation changes the counters of 64 members.

use spillway_analysis::bit_sets::{WORD_BITS, words_of};

/// The counters of all members. Bit `i` of the counters of a word of members is in its plane `i`.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberCounters {
    planes: usize,
    /// The planes of the first word of members, then those of the second, and so on.
    words: Vec<u64>,
}

impl MemberCounters {
    /// Creates counters up to `most`. All are zero.
    pub fn new(members: usize, most: usize) -> MemberCounters {
        let planes = (usize::BITS - most.leading_zeros()) as usize;
        MemberCounters { planes, words: vec![0; planes * words_of(members)] }
    }

    /// Sets a counter.
    pub fn set(&mut self, member: usize, count: u32) {
        let bit = 1 << (member % WORD_BITS);
        let planes = &mut self.words[member / WORD_BITS * self.planes..][..self.planes];
        for (at, plane) in planes.iter_mut().enumerate() {
            *plane = if count >> at & 1 == 1 { *plane | bit } else { *plane & !bit };
        }
    }

    /// Decrements the counters of some members in a word. Returns those whose counters were zero, and stay so.
    #[inline]
    pub fn decrement(&mut self, word: usize, members: u64) -> u64 {
        let planes = &mut self.words[word * self.planes..][..self.planes];
        let positive = planes.iter().fold(0, |any, plane| any | plane);
        let mut borrow = members & positive;
        for plane in planes {
            let before = *plane;
            *plane ^= borrow;
            borrow &= !before;
        }
        members & !positive
    }

    /// Copies all counters of another set of the same members.
    pub fn copy_from(&mut self, other: &MemberCounters) {
        self.planes = other.planes;
        self.words.clone_from(&other.words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_decremented_independently() {
        let mut counters = MemberCounters::new(130, 9);
        let mut expected: Vec<u32> = (0..130).map(|it| it * 7 % 10).collect();
        (0..130).for_each(|it| counters.set(it, 9 - expected[it]));
        (0..130).for_each(|it| counters.set(it, expected[it]));
        for round in 0..40u64 {
            for word in 0..3 {
                let all = if word == 2 { 3 } else { u64::MAX };
                let members =
                    all & 0x9e37_79b9_7f4a_7c15u64.rotate_left((round * 11) as u32 + word as u32);
                let mut zero = 0;
                for bit in (0..64).filter(|bit| members >> bit & 1 == 1) {
                    let count = &mut expected[word * 64 + bit];
                    zero |= u64::from(*count == 0) << bit;
                    *count = count.saturating_sub(1);
                }
                assert_eq!(counters.decrement(word, members), zero);
            }
        }
        assert!(expected.contains(&0));
    }
}
