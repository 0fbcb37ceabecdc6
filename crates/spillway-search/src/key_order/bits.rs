//! Access to bits of states, a word at a time.

use std::ops::{BitAnd, BitOr, Range, Shl, Shr};

/// The number of bits that a word contains at any offset in its first byte.
const RUN_MAX: u32 = 57;

/// An integer of a fixed number of bits.
pub(super) trait BitWord:
    Copy
    + Ord
    + From<u64>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Returns the integer whose lowest `bits` bits, at least one, are set.
    fn ones(bits: u32) -> Self;
    /// Returns its lowest 64 bits.
    fn low(self) -> u64;
}

impl BitWord for u64 {
    fn ones(bits: u32) -> u64 {
        u64::MAX >> (u64::BITS - bits)
    }
    fn low(self) -> u64 {
        self
    }
}

impl BitWord for u128 {
    fn ones(bits: u32) -> u128 {
        u128::MAX >> (u128::BITS - bits)
    }
    fn low(self) -> u64 {
        self as u64
    }
}

/// An integer of 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WideInteger {
    high: u128,
    low: u128,
}

impl WideInteger {
    pub(super) const BITS: u32 = 2 * u128::BITS;
}

impl BitWord for WideInteger {
    fn ones(bits: u32) -> WideInteger {
        WideInteger { high: u128::MAX, low: u128::MAX } >> (WideInteger::BITS - bits)
    }
    fn low(self) -> u64 {
        self.low as u64
    }
}

impl From<u64> for WideInteger {
    fn from(value: u64) -> WideInteger {
        WideInteger { high: 0, low: value.into() }
    }
}

impl BitAnd for WideInteger {
    type Output = WideInteger;
    fn bitand(self, other: WideInteger) -> WideInteger {
        WideInteger { high: self.high & other.high, low: self.low & other.low }
    }
}

impl BitOr for WideInteger {
    type Output = WideInteger;
    fn bitor(self, other: WideInteger) -> WideInteger {
        WideInteger { high: self.high | other.high, low: self.low | other.low }
    }
}

impl Shl<u32> for WideInteger {
    type Output = WideInteger;
    fn shl(self, bits: u32) -> WideInteger {
        match bits {
            0 => self,
            1..128 => {
                let carried = self.low >> (u128::BITS - bits);
                WideInteger { high: self.high << bits | carried, low: self.low << bits }
            }
            _ => WideInteger { high: self.low << (bits - u128::BITS), low: 0 },
        }
    }
}

impl Shr<u32> for WideInteger {
    type Output = WideInteger;
    fn shr(self, bits: u32) -> WideInteger {
        match bits {
            0 => self,
            1..128 => {
                let carried = self.high << (u128::BITS - bits);
                WideInteger { high: self.high >> bits, low: self.low >> bits | carried }
            }
            _ => WideInteger { high: 0, low: self.high >> (bits - u128::BITS) },
        }
    }
}

/// Returns the runs of consecutive numbers among ascending numbers, each of at most `RUN_MAX` numbers.
pub(super) fn runs(numbers: impl Iterator<Item = u32>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for at in numbers {
        match runs.last_mut() {
            Some(run) if run.end == at && run.end - run.start < RUN_MAX => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Reads the `bits` bits from bit `at` of `state`, which is followed by a word.
pub(super) fn read_bits(state: &[u8], at: u32, bits: u32) -> u64 {
    word_at(state, at) << (at % 8) >> (u64::BITS - bits)
}

/// Sets the `bits` bits from bit `at` of `state` to the lowest bits of `value`. They must be 0 before, and a word must
/// follow the state.
pub(super) fn or_bits(state: &mut [u8], at: u32, bits: u32, value: u64) {
    let word = word_at(state, at) | value << (u64::BITS - bits) >> (at % 8);
    let first = (at / 8) as usize;
    state[first..first + 8].copy_from_slice(&word.to_be_bytes());
}

/// Returns the word that begins with the byte of bit `at`.
fn word_at(state: &[u8], at: u32) -> u64 {
    let first = (at / 8) as usize;
    let mut word = [0; 8];
    word.copy_from_slice(&state[first..first + 8]);
    u64::from_be_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_back() {
        for at in 0..24 {
            for bits in 1..=RUN_MAX {
                let mut state = [0; 20];
                or_bits(&mut state, at, bits, u64::MAX);
                assert_eq!(read_bits(&state, at, bits), u64::ones(bits));
                let set: u32 = state.iter().map(|byte| byte.count_ones()).sum();
                assert_eq!(set, bits);
            }
        }
    }

    #[test]
    fn wide_integers_shift_like_one_number() {
        let word = WideInteger { high: u128::MAX / 7, low: u128::MAX / 11 };
        for bits in 0..WideInteger::BITS {
            assert_eq!(word << bits >> bits, word & WideInteger::ones(WideInteger::BITS - bits));
            let mut step_by_step = word;
            (0..bits).for_each(|_| step_by_step = step_by_step << 1);
            assert_eq!(word << bits, step_by_step);
        }
    }

    #[test]
    fn runs_consist_of_neighbours_up_to_a_length() {
        assert_eq!(runs([1, 2, 5].into_iter()), [1..3, 5..6]);
        assert_eq!(runs(0..60), [0..RUN_MAX, RUN_MAX..60]);
    }
}
