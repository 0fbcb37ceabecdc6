//! Extraction and deposit of bits of a word, as the BMI2 instructions `pext` and `pdep` of x86-64 do it, for
//! processors without them: with the mask `0110 1010`, `1101 0011` becomes `1001`.

/// Returns the bits of `word` where `mask` is set, packed at the low end.
#[inline]
pub(super) fn extract(word: u64, mut mask: u64) -> u64 {
    let (mut bits, mut at) = (0, 0);
    while mask != 0 {
        bits |= (word >> mask.trailing_zeros() & 1) << at;
        mask &= mask - 1;
        at += 1;
    }
    bits
}

/// Returns the low bits of `bits`, moved to the positions where `mask` is set.
#[inline]
pub(super) fn deposit(bits: u64, mut mask: u64) -> u64 {
    let (mut word, mut at) = (0, 0);
    while mask != 0 {
        word |= (bits >> at & 1) << mask.trailing_zeros();
        mask &= mask - 1;
        at += 1;
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_documented_example_holds() {
        assert_eq!(extract(0b1101_0011, 0b0110_1010), 0b1001);
    }

    proptest! {
        #[test]
        fn deposit_reverses_extract(word in any::<u64>(), mask in any::<u64>()) {
            prop_assert_eq!(deposit(extract(word, mask), mask), word & mask);
            prop_assert!(mask == u64::MAX || extract(word, mask) >> mask.count_ones() == 0);
        }
    }
}
