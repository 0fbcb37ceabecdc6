//! Keys of more than 16 bytes as numbers of several integers.
//!
//! Most keys that are wider than an integer are only slightly wider. As two or four integers, they are compared, moved
//! and sorted at half the cost of slices, whose every comparison is a call.
//!
//! A key of 20 bytes, numbered 0 to 19, is the two limbs 0..16 and 4..20.

use super::int::KeyInteger;
use super::shape::{IntegerShape, KeyShape};
use byteorder::{BigEndian, ByteOrder};

/// Keys of more than 16 and at most `16 * N` bytes, for a power of two `N`.
#[derive(Clone, Copy, Debug)]
pub struct LongShape<const N: usize>(pub usize);

/// A key as big-endian integers of 16 bytes each, the *limbs* of one number. The last limb is the end of the key;
/// where it overlaps earlier limbs, the bits agree. So numbers differ exactly if the keys differ, and they have the
/// same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyLimbs<const N: usize>([u128; N]);

impl<const N: usize> Default for KeyLimbs<N> {
    fn default() -> Self {
        KeyLimbs([0; N])
    }
}

impl<const N: usize> KeyLimbs<N> {
    #[inline(always)]
    fn zip_limbs(mut self, other: Self, join: impl Fn(u128, u128) -> u128) -> Self {
        // Loops: the closures of `array::map` are not always inlined.
        for i in 0..N {
            self.0[i] = join(self.0[i], other.0[i]);
        }
        self
    }

    /// Returns the 128 bits that end `by` bits before the number's end.
    #[inline(always)]
    fn bits_before(self, by: u32) -> u128 {
        let (limbs, by) = (by as usize / 128, by % 128);
        let limb = |from_end: usize| match N.checked_sub(from_end + 1) {
            Some(at) => self.0[at],
            None => 0,
        };
        limb(limbs) >> by | limb(limbs + 1).checked_shl(128 - by).unwrap_or(0)
    }
}

impl<const N: usize> KeyInteger for KeyLimbs<N> {
    const BITS: u32 = 128 * N as u32;
    const ZERO: Self = KeyLimbs([0; N]);

    /// Adds two numbers; one is within the low 64 bits, and the other has none of these bits.
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.or(other)
    }

    /// Subtracts bits that are set.
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.xor(other)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip_limbs(other, |one, other| one | other)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip_limbs(other, |one, other| one ^ other)
    }

    #[inline(always)]
    fn shl(self, by: u32) -> Self {
        let limbs = (by / 128) as usize;
        let limb = |at: usize| self.0.get(at).copied().unwrap_or(0);
        let mut shifted = [0; N];
        for (i, shifted) in shifted.iter_mut().enumerate() {
            let low = limb(i + limbs + 1).checked_shr(128 - by % 128).unwrap_or(0);
            *shifted = limb(i + limbs) << (by % 128) | low;
        }
        KeyLimbs(shifted)
    }

    #[inline(always)]
    fn shr(self, by: u32) -> Self {
        let mut shifted = [0; N];
        for (shifted, from_end) in shifted.iter_mut().rev().zip(0..) {
            *shifted = self.bits_before(by + 128 * from_end);
        }
        KeyLimbs(shifted)
    }

    #[inline(always)]
    fn length(self) -> u32 {
        let first = self.0.iter().position(|&limb| limb != 0);
        first.map_or(0, |at| 128 * (N - at) as u32 - self.0[at].leading_zeros())
    }

    #[inline(always)]
    fn low(self) -> u64 {
        self.0[N - 1] as u64
    }

    #[inline(always)]
    fn mix(self) -> u64 {
        let mut hash = 0;
        for limb in self.0 {
            hash = (limb ^ u128::from(hash)).mix();
        }
        hash
    }

    #[inline(always)]
    fn from_low(low: u64) -> Self {
        let mut limbs = [0; N];
        limbs[N - 1] = low.into();
        KeyLimbs(limbs)
    }
}

impl<const N: usize> LongShape<N> {
    /// Returns the position of a limb in a key.
    #[inline(always)]
    fn place(self, limb: usize) -> usize {
        (16 * limb).min(self.0 - 16)
    }
}

impl<const N: usize> KeyShape for LongShape<N> {
    type Key<'a> = KeyLimbs<N>;

    #[inline(always)]
    fn width(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn key(self, bytes: &[u8]) -> KeyLimbs<N> {
        let bytes = &bytes[..self.0];
        let mut limbs = [0; N];
        for (i, limb) in limbs.iter_mut().enumerate() {
            *limb = BigEndian::read_u128(&bytes[self.place(i)..][..16]);
        }
        KeyLimbs(limbs)
    }

    #[inline(always)]
    fn store(self, key: KeyLimbs<N>, bytes: &mut [u8]) {
        let bytes = &mut bytes[..self.0];
        for i in 0..N {
            BigEndian::write_u128(&mut bytes[self.place(i)..][..16], key.0[i]);
        }
    }

    #[inline(always)]
    fn hash(self, key: KeyLimbs<N>) -> u64 {
        key.mix()
    }

    #[inline(always)]
    fn copy_key(self, keys: &mut [u8], from: usize, to: usize) {
        let key = self.key_at(keys, from);
        self.store_at(key, keys, to);
    }
}

impl<const N: usize> IntegerShape for LongShape<N> {
    type Int = KeyLimbs<N>;
    const BITS: u32 = 128 * N as u32;
}
