//! Shapes: for each width of key, the type as which it is compared.

use super::int::{KeyInteger, MIXER};
use byteorder::{BigEndian, ByteOrder};
use std::fmt::Debug;

/// The maximum width, in bytes, that fits a machine integer.
pub(crate) const PACKED_WIDTH_MAX: usize = 16;

/// A width of keys, with their comparison.
pub trait KeyShape: Copy + Send + Sync + 'static {
    /// A key in the form for comparisons; its order is the order of the bytes.
    type Key<'a>: Ord + Copy + Debug;

    /// Returns the number of bytes in a key.
    fn width(self) -> usize;

    /// Returns the key in the first [`width`](KeyShape::width) bytes of `bytes`.
    fn key(self, bytes: &[u8]) -> Self::Key<'_>;

    /// Returns a hash of a key with its best bits at the high end; the hash of the key of zeros is 0.
    fn hash(self, key: Self::Key<'_>) -> u64;

    /// Returns the `index`-th key of a flat set.
    #[inline(always)]
    fn key_at(self, keys: &[u8], index: usize) -> Self::Key<'_> {
        let start = index * self.width();
        self.key(&keys[start..start + self.width()])
    }

    /// Writes `key` to the first [`width`](KeyShape::width) bytes of `bytes`.
    fn store(self, key: Self::Key<'_>, bytes: &mut [u8]);

    /// Writes `key` as the `to`-th of `keys`.
    #[inline(always)]
    fn store_at(self, key: Self::Key<'_>, keys: &mut [u8], to: usize) {
        self.store(key, &mut keys[to * self.width()..]);
    }

    /// Writes the `from`-th key of `keys` as the `to`-th.
    #[inline(always)]
    fn copy_key(self, keys: &mut [u8], from: usize, to: usize) {
        let width = self.width();
        keys.copy_within(from * width..(from + 1) * width, to * width);
    }
}

/// A shape whose keys are integers, so that they can be subtracted and shifted.
pub(crate) trait IntegerShape: for<'a> KeyShape<Key<'a> = Self::Int> {
    /// The integer that holds a key.
    type Int: KeyInteger;

    /// The number of bits of the integer that a key occupies.
    const BITS: u32;
}

/// Keys of 1 to 8 bytes, as `u64`.
#[derive(Clone, Copy, Debug)]
pub struct NarrowShape<const W: usize>;

impl<const W: usize> KeyShape for NarrowShape<W> {
    type Key<'a> = u64;

    #[inline(always)]
    fn width(self) -> usize {
        W
    }

    #[inline(always)]
    fn key(self, bytes: &[u8]) -> u64 {
        let bytes = &bytes[..W];
        match W {
            1 => bytes[0].into(),
            2 | 3 => {
                let (head, tail) =
                    (BigEndian::read_u16(bytes), BigEndian::read_u16(&bytes[W - 2..]));
                u64::from(head) << (8 * (W - 2)) | u64::from(tail)
            }
            4..=7 => {
                let (head, tail) =
                    (BigEndian::read_u32(bytes), BigEndian::read_u32(&bytes[W - 4..]));
                u64::from(head) << (8 * (W - 4)) | u64::from(tail)
            }
            8 => BigEndian::read_u64(bytes),
            _ => unreachable!("a narrow key has 1 to 8 bytes"),
        }
    }

    #[inline(always)]
    fn store(self, key: u64, bytes: &mut [u8]) {
        let bytes = &mut bytes[..W];
        match W {
            1 => bytes[0] = key as u8,
            2 | 3 => {
                BigEndian::write_u16(bytes, (key >> (8 * (W - 2))) as u16);
                BigEndian::write_u16(&mut bytes[W - 2..], key as u16);
            }
            4..=7 => {
                BigEndian::write_u32(bytes, (key >> (8 * (W - 4))) as u32);
                BigEndian::write_u32(&mut bytes[W - 4..], key as u32);
            }
            8 => BigEndian::write_u64(bytes, key),
            _ => unreachable!("a narrow key has 1 to 8 bytes"),
        }
    }

    #[inline(always)]
    fn hash(self, key: u64) -> u64 {
        key.mix()
    }

    #[inline(always)]
    fn copy_key(self, keys: &mut [u8], from: usize, to: usize) {
        let key = self.key_at(keys, from);
        self.store_at(key, keys, to);
    }
}

impl<const W: usize> IntegerShape for NarrowShape<W> {
    type Int = u64;
    const BITS: u32 = 8 * W as u32;
}

/// Keys of 9 to 16 bytes, as `u128`.
#[derive(Clone, Copy, Debug)]
pub struct MediumShape<const W: usize>;

impl<const W: usize> KeyShape for MediumShape<W> {
    type Key<'a> = u128;

    #[inline(always)]
    fn width(self) -> usize {
        W
    }

    #[inline(always)]
    fn key(self, bytes: &[u8]) -> u128 {
        let bytes = &bytes[..W];
        let (head, tail) = (BigEndian::read_u64(bytes), BigEndian::read_u64(&bytes[W - 8..]));
        u128::from(head) << (8 * (W - 8)) | u128::from(tail)
    }

    #[inline(always)]
    fn store(self, key: u128, bytes: &mut [u8]) {
        let bytes = &mut bytes[..W];
        BigEndian::write_u64(bytes, (key >> (8 * (W - 8))) as u64);
        BigEndian::write_u64(&mut bytes[W - 8..], key as u64);
    }

    #[inline(always)]
    fn hash(self, key: u128) -> u64 {
        key.mix()
    }

    #[inline(always)]
    fn copy_key(self, keys: &mut [u8], from: usize, to: usize) {
        let key = self.key_at(keys, from);
        self.store_at(key, keys, to);
    }
}

impl<const W: usize> IntegerShape for MediumShape<W> {
    type Int = u128;
    const BITS: u32 = 8 * W as u32;
}

/// The number of independent multiplications of the hash of a wide key.
const HASH_LANES: usize = 8;

/// Keys of any width, given at run time, as slices.
#[derive(Clone, Copy, Debug)]
pub struct WideShape(pub usize);

impl KeyShape for WideShape {
    type Key<'a> = &'a [u8];

    #[inline(always)]
    fn width(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn key(self, bytes: &[u8]) -> &[u8] {
        &bytes[..self.0]
    }

    #[inline(always)]
    fn store(self, key: &[u8], bytes: &mut [u8]) {
        bytes[..self.0].copy_from_slice(key);
    }

    #[inline]
    fn hash(self, key: &[u8]) -> u64 {
        let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(MIXER).rotate_left(29);
        // Multiplications of several lanes overlap.
        let (rows, rest) = key.as_chunks::<{ 8 * HASH_LANES }>();
        let mut lanes = [0; HASH_LANES];
        for row in rows {
            let (words, _) = row.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = mix(*lane, u64::from_le_bytes(*word));
            }
        }
        let (words, rest) = rest.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let rest = rest.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        lanes.into_iter().chain(words).chain([rest]).fold(0, mix)
    }
}
