//! Fixed-width keys, seen as integers where they fit one.
//!
//! A key is a byte string of a width that is fixed for a whole search, ordered like `memcmp`. A
//! set of keys in memory is a flat `Vec<u8>`, key after key, ascending and without repeats; the
//! width travels beside it as a plain `usize`.
//!
//! Every operation over keys is written once, generic over a [`Shape`], and compiled for each
//! width that a machine integer holds: a big-endian load of up to 8 bytes is a `u64`
//! ([`Narrow`]), of up to 16 a `u128` ([`Medium`]), of up to 64 a few of them ([`Long`]), and
//! comparing those integers is comparing the bytes. Longer keys stay slices ([`Wide`]). The choice is made once per call of a bulk
//! operation, by `for_shape!`, never once per key.
//!
//! A width such as 10 is loaded as two *overlapping* words, bytes 0..8 and 2..10: the bytes they
//! share agree, so shifting the first into place and or-ing the second gives the key without any
//! byte loop. Stores mirror this.

pub(crate) mod hash;
mod long;
pub(crate) mod project;
mod squeeze;

pub(crate) use hash::hash;
pub use long::Long;
pub(crate) use project::Projection;
pub(crate) use squeeze::Squeeze;

use byteorder::{BigEndian, ByteOrder};
use std::fmt::Debug;

/// The longest width, in bytes, that fits a machine integer.
pub(crate) const PACKED_WIDTH_MAX: usize = 16;

/// A multiplier that mixes upwards: 2^64 over the golden ratio (Knuth, volume 3, 6.4).
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

/// One width of key, and how to compare keys of it.
pub trait Shape: Copy + Send + Sync + 'static {
    /// A key made ready to be compared; its order is the order of the bytes.
    type Key<'a>: Ord + Copy + Debug;

    /// The number of bytes in a key.
    fn width(self) -> usize;

    /// The key in the first [`width`](Shape::width) bytes of `bytes`.
    fn key(self, bytes: &[u8]) -> Self::Key<'_>;

    /// A hash of a key, whose high bits are the best; of the key of zeros it is 0.
    fn hash(self, key: Self::Key<'_>) -> u64;

    /// The `index`-th key of a flat set.
    #[inline(always)]
    fn at(self, keys: &[u8], index: usize) -> Self::Key<'_> {
        let start = index * self.width();
        self.key(&keys[start..start + self.width()])
    }

    /// Writes the `from`-th key of `source` as the `to`-th of `target`.
    #[inline(always)]
    fn copy(self, source: &[u8], from: usize, target: &mut [u8], to: usize) {
        let width = self.width();
        target[to * width..][..width].copy_from_slice(&source[from * width..][..width]);
    }

    /// Writes the `from`-th key of `keys` as the `to`-th.
    #[inline(always)]
    fn shift(self, keys: &mut [u8], from: usize, to: usize) {
        let width = self.width();
        keys.copy_within(from * width..(from + 1) * width, to * width);
    }
}

/// A shape whose keys are integers, so that they can be subtracted, shifted and stored.
pub(crate) trait Packed: for<'a> Shape<Key<'a> = Self::Int> {
    /// The integer that holds a key.
    type Int: Int;

    /// Bits of `Int` that a key occupies.
    const BITS: u32;

    /// Writes `key` to the first bytes of `bytes`.
    fn store(self, key: Self::Int, bytes: &mut [u8]);
}

/// What the two integer types of keys have in common.
pub(crate) trait Int: Copy + Ord + Debug + Default + Send + 'static {
    const BITS: u32;
    const ZERO: Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn shl(self, by: u32) -> Self;
    fn shr(self, by: u32) -> Self;
    /// The number of bits up to and including the highest that is set.
    fn length(self) -> u32;
    fn low(self) -> u64;
    /// A hash whose high bits are the best; of zero it is 0.
    fn mix(self) -> u64;
    fn from_low(low: u64) -> Self;
}

macro_rules! int {
    ($int:ty) => {
        impl Int for $int {
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

/// Keys of 1 to 8 bytes, as `u64`.
#[derive(Clone, Copy, Debug)]
pub struct Narrow<const W: usize>;

impl<const W: usize> Shape for Narrow<W> {
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
    fn hash(self, key: u64) -> u64 {
        key.mix()
    }

    #[inline(always)]
    fn shift(self, keys: &mut [u8], from: usize, to: usize) {
        let key = self.at(keys, from);
        self.store(key, &mut keys[to * W..]);
    }
}

impl<const W: usize> Packed for Narrow<W> {
    type Int = u64;
    const BITS: u32 = 8 * W as u32;

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
}

/// Keys of 9 to 16 bytes, as `u128`.
#[derive(Clone, Copy, Debug)]
pub struct Medium<const W: usize>;

impl<const W: usize> Shape for Medium<W> {
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
    fn hash(self, key: u128) -> u64 {
        key.mix()
    }

    #[inline(always)]
    fn shift(self, keys: &mut [u8], from: usize, to: usize) {
        let key = self.at(keys, from);
        self.store(key, &mut keys[to * W..]);
    }
}

impl<const W: usize> Packed for Medium<W> {
    type Int = u128;
    const BITS: u32 = 8 * W as u32;

    #[inline(always)]
    fn store(self, key: u128, bytes: &mut [u8]) {
        let bytes = &mut bytes[..W];
        BigEndian::write_u64(bytes, (key >> (8 * (W - 8))) as u64);
        BigEndian::write_u64(&mut bytes[W - 8..], key as u64);
    }
}

/// Keys of any width, given at run time, as slices.
#[derive(Clone, Copy, Debug)]
pub struct Wide(pub usize);

impl Shape for Wide {
    type Key<'a> = &'a [u8];

    #[inline(always)]
    fn width(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn key(self, bytes: &[u8]) -> &[u8] {
        &bytes[..self.0]
    }

    #[inline]
    fn hash(self, key: &[u8]) -> u64 {
        let (words, rest) = key.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let rest = rest.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
        words.chain([rest]).fold(0, |hash, word| (hash ^ word).wrapping_mul(MIXER).rotate_left(29))
    }
}

/// Evaluates `$packed` with `$shape` bound to the integer shape of `$width` bytes, or, for wider
/// keys, `$wide` with `$shape` bound to [`Wide`].
macro_rules! for_packed {
    ($width:expr, $shape:ident => $packed:expr, else $wide:expr) => {{
        use $crate::keys::{Medium, Narrow, Wide};
        macro_rules! with {
            ($kind:expr) => {{
                let $shape = $kind;
                $packed
            }};
        }
        match $width {
            0 => panic!("a key has at least one byte"),
            1 => with!(Narrow::<1>),
            2 => with!(Narrow::<2>),
            3 => with!(Narrow::<3>),
            4 => with!(Narrow::<4>),
            5 => with!(Narrow::<5>),
            6 => with!(Narrow::<6>),
            7 => with!(Narrow::<7>),
            8 => with!(Narrow::<8>),
            9 => with!(Medium::<9>),
            10 => with!(Medium::<10>),
            11 => with!(Medium::<11>),
            12 => with!(Medium::<12>),
            13 => with!(Medium::<13>),
            14 => with!(Medium::<14>),
            15 => with!(Medium::<15>),
            16 => with!(Medium::<16>),
            width => {
                let $shape = Wide(width);
                $wide
            }
        }
    }};
}

/// Of keys that fit no integer, evaluates `$packed` with `$shape` bound to the shape of `$width` bytes
/// with numbers of several, or, for wider keys, `$wide`.
macro_rules! for_long {
    ($width:expr, $shape:ident => $packed:expr, else $wide:expr) => {{
        use $crate::keys::Long;
        match $width {
            width @ 17..=32 => {
                let $shape = Long::<2>(width);
                $packed
            }
            width @ 33..=64 => {
                let $shape = Long::<4>(width);
                $packed
            }
            _ => $wide,
        }
    }};
}

/// Evaluates `$body` with `$shape` bound to the [`Shape`] of `$width` bytes.
macro_rules! for_shape {
    ($width:expr, $shape:ident => $body:expr) => {
        $crate::keys::for_packed!($width, $shape => $body, else {
            $crate::keys::for_long!($width, $shape => $body, else $body)
        })
    };
}

pub(crate) use {for_long, for_packed, for_shape};

/// The number of keys of `width` bytes in a flat set.
#[inline]
pub fn count(width: usize, keys: &[u8]) -> usize {
    debug_assert_eq!(keys.len() % width, 0, "a key set is a whole number of keys");
    keys.len() / width
}

/// The number of keys in the ascending `keys` that are less than `key`.
pub fn lower_bound(width: usize, keys: &[u8], key: &[u8]) -> usize {
    for_shape!(width, shape => bound(shape, keys, 0, count(width, keys), shape.key(key)))
}

/// Like [`lower_bound`], counting only from the `from`-th key on, and fast when the answer is near
/// it: doubling steps, then a binary search, so about `2 log2(distance)` comparisons.
pub fn gallop(width: usize, keys: &[u8], from: usize, key: &[u8]) -> usize {
    for_shape!(width, shape => leap(shape, keys, from, count(width, keys), shape.key(key)))
}

/// The first index in `low..high` whose key is not less than `key`, or `high`.
#[inline]
pub(crate) fn bound<'a, S: Shape>(
    shape: S,
    keys: &'a [u8],
    mut low: usize,
    mut high: usize,
    key: S::Key<'a>,
) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if shape.at(keys, middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// [`bound`], in time logarithmic in the distance of the answer from `low`.
#[inline]
pub(crate) fn leap<'a, S: Shape>(
    shape: S,
    keys: &'a [u8],
    mut low: usize,
    high: usize,
    key: S::Key<'a>,
) -> usize {
    let mut step = 1;
    while low < high {
        let probe = (low + step - 1).min(high - 1);
        if shape.at(keys, probe) >= key {
            return bound(shape, keys, low, probe, key);
        }
        low = probe + 1;
        step *= 2;
    }
    low
}

/// Whether `keys` is a whole number of keys in strictly ascending order; for assertions.
pub(crate) fn is_ascending(width: usize, keys: &[u8]) -> bool {
    keys.len().is_multiple_of(width)
        && for_shape!(width, shape => {
            (1..keys.len() / width).all(|i| shape.at(keys, i - 1) < shape.at(keys, i))
        })
}

/// The part of the ascending `keys` that is in `low..high`, where no bound is infinite.
pub(crate) fn restrict<'a>(
    width: usize,
    keys: &'a [u8],
    low: Option<&[u8]>,
    high: Option<&[u8]>,
) -> &'a [u8] {
    for_shape!(width, shape => {
        let count = keys.len() / width;
        let start = low.map_or(0, |low| bound(shape, keys, 0, count, shape.key(low)));
        let end = high.map_or(count, |high| bound(shape, keys, start, count, shape.key(high)));
        &keys[start * width..end * width]
    })
}
