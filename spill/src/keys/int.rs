//! The operations that integers need to represent keys, implemented by machine integers.

use std::fmt::Debug;

/// A multiplier that mixes upwards: 2^64 divided by the golden ratio (Knuth, volume 3, 6.4).
pub(super) const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

/// An integer type of keys. Its order is the order of the key's bytes.
pub(crate) trait KeyInteger: Copy + Ord + Debug + Default + Send + 'static {
    const BITS: u32;
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn shl(self, by: u32) -> Self;
    fn shr(self, by: u32) -> Self;
    /// Returns the number of bits up to and including the highest that is set.
    fn length(self) -> u32;
    fn low(self) -> u64;
    /// Returns a hash with its best bits at the high end; the hash of zero is 0.
    fn mix(self) -> u64;
    fn from_low(low: u64) -> Self;
}

macro_rules! int {
    ($int:ty) => {
        impl KeyInteger for $int {
            const BITS: u32 = <$int>::BITS;
            const ZERO: Self = 0;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline(always)]
            fn shl(self, by: u32) -> Self {
                self << by
            }
            #[inline(always)]
            fn shr(self, by: u32) -> Self {
                self >> by
            }
            #[inline(always)]
            fn length(self) -> u32 {
                <$int>::BITS - self.leading_zeros()
            }
            #[inline(always)]
            fn low(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn mix(self) -> u64 {
                let wide = u128::from(self);
                let high = ((wide >> 64) as u64).wrapping_mul(MIXER);
                (high.rotate_left(32) ^ wide as u64).wrapping_mul(MIXER)
            }
            #[inline(always)]
            fn from_low(low: u64) -> Self {
                low.into()
            }
        }
    };
}

int!(u64);
int!(u128);
