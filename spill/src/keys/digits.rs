//! Digits of keys: the first bits in which some keys vary.
//!
//! Sorting distributes keys by their digits. If all bits of a digit vary, keys spread as well as possible, wherever
//! the bits are. For the keys `0010 0110`, `0010 0111` and `1010 0100` the digits of two bits are 1, 1 and 2.
//!
//! A digit lies within 64 bits from the first varying bit on, so that one instruction of x86-64 with BMI2 (`pext`)
//! extracts it. It is shorter if too few of these bits vary. Other processors use a loop over its bits.

use super::int::KeyInteger;
use super::shape::IntegerShape;

/// The bits of a key that form its digit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyDigits {
    /// The number of bits after the word that contains them.
    shift: u32,
    /// Their positions in the word.
    mask: u64,
}

impl KeyDigits {
    /// Returns the first bits set in `varying`, at most `most`.
    pub(crate) fn leading<I: KeyInteger>(varying: I, most: u32) -> KeyDigits {
        let shift = varying.length().saturating_sub(u64::BITS);
        let mut mask = varying.shr(shift).low();
        for _ in most..mask.count_ones() {
            mask &= mask - 1;
        }
        KeyDigits { shift, mask }
    }

    /// Calls `each` with the digit of each of `keys`, and the key.
    #[inline]
    pub(crate) fn for_each_digit<P: IntegerShape>(
        self,
        shape: P,
        keys: &[u8],
        each: impl FnMut(u64, P::Int),
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has BMI2, the only requirement of the function.
            return unsafe { bmi2::each(self, shape, keys, each) };
        }
        portable::each(self, shape, keys, each);
    }
}

/// The loop over keys, for a given way to extract bits of a word.
macro_rules! looped {
    ($name:ident, $extract:path $(, $feature:literal)?) => {
        mod $name {
            use super::KeyDigits;
            use crate::keys::{KeyInteger, IntegerShape};

            $(#[target_feature(enable = $feature)])?
            pub(super) fn each<P: IntegerShape>(
                digits: KeyDigits,
                shape: P,
                keys: &[u8],
                mut each: impl FnMut(u64, P::Int),
            ) {
                for bytes in keys.chunks_exact(shape.width()) {
                    let key = shape.key(bytes);
                    each($extract(key.shr(digits.shift).low(), digits.mask), key);
                }
            }
        }
    };
}

looped!(portable, crate::keys::bits::extract);
#[cfg(target_arch = "x86_64")]
looped!(bmi2, std::arch::x86_64::_pext_u64, "bmi2");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{MediumShape, NarrowShape, varying};
    use proptest::prelude::*;

    fn digits<P: IntegerShape>(shape: P, keys: &[u8], most: u32) -> Vec<u64> {
        let by = KeyDigits::leading(varying(shape, keys), most);
        let mut digits = Vec::new();
        by.for_each_digit(shape, keys, |digit, _| digits.push(digit));
        let mut others = Vec::new();
        portable::each(by, shape, keys, |digit, _| others.push(digit));
        assert_eq!(digits, others);
        digits
    }

    #[test]
    fn the_documented_example_holds() {
        assert_eq!(
            digits(NarrowShape::<1>, &[0b0010_0110, 0b0010_0111, 0b1010_0100], 2),
            [1, 1, 2]
        );
    }

    proptest! {
        #[test]
        fn digits_have_the_order_of_their_keys(
            keys in prop::collection::vec(any::<u128>(), 2..20),
            masks in any::<[u128; 2]>(),
            most in 1u32..20,
        ) {
            let mut keys: Vec<u128> = keys.iter().map(|key| key & masks[0] & masks[1]).collect();
            keys.sort_unstable();
            let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_be_bytes()).collect();
            let digits = digits(MediumShape::<16>, &bytes, most);
            prop_assert!(digits.is_sorted());
            prop_assert!(digits.iter().all(|digit| *digit < 1 << most));
            prop_assert_eq!(keys[0] == keys[keys.len() - 1], digits[0] == digits[keys.len() - 1]);
        }
    }
}
