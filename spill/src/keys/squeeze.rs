//! Squeezing: keys without their constant bits.
//!
//! The keys of a block, neighbours in a sorted set of states, agree in most of their bits: in their prefix, and in all
//! bits that the model never or rarely changes. A [`KeySqueezer`] names the bits in which a set of keys varies.
//! *Squeezing* a key extracts these bits, in order, as an integer. So keys of any width become integers of 64 or 128
//! bits, with the same order. *Unsqueezing* puts them back between the constant bits.
//!
//! In the keys `0010 0110`, `0010 0111` and `1010 0100` the first bit and the last two vary. They are squeezed to 2, 3
//! and 4, and the constant part is `-010 01--`.
//!
//! A key is accessed through *windows* of eight bytes, aligned to its end. If the width is no multiple of eight, the
//! first window is moved forward to the beginning of the key. The bytes that it shares with the second belong to the
//! second. A key of less than eight bytes has only one, shorter window.
//!
//! Extracting and depositing bits are single instructions of x86-64 with BMI2 (`pext`, `pdep`). Other processors use
//! loops over the set bits. The processor's features are tested once for each call, and the loops over keys are
//! compiled for both cases.

use super::dispatch::{for_long, for_packed};
use super::int::KeyInteger;
use super::shape::IntegerShape;
use byteorder::{BigEndian, ByteOrder};

/// The varying bits of some keys, and the values of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeySqueezer {
    /// The size of a key in bytes.
    width: usize,
    /// Windows of the whole key, from its first byte on.
    windows: Vec<SqueezeWindow>,
    /// The windows in which a bit varies, in the same order.
    active: Vec<SqueezeWindow>,
    /// A key in which the varying bits are zero.
    template: Vec<u8>,
    /// The number of varying bits; each belongs to one window.
    bits: u32,
}

/// Eight bytes of a key, or all of a shorter one, as a big-endian number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SqueezeWindow {
    /// The first byte.
    at: usize,
    /// The number of bytes: eight, except for shorter keys.
    length: usize,
    /// The varying bits that belong to this window.
    varying: u64,
    /// The bits that do not vary, or that vary but belong to the next window.
    fixed: u64,
    /// The constant bits.
    base: u64,
    /// The position of the varying bits in the squeezed key, from its least significant bit.
    shift: u32,
}

impl KeySqueezer {
    /// Creates the squeezer of the bits that vary among `keys`, which has at least one key.
    pub(crate) fn of_keys(width: usize, keys: &[u8]) -> KeySqueezer {
        for_packed!(width, shape => KeySqueezer::with_varying(shape, keys, varying(shape, keys)), else {
            for_long!(shape.0, shape => KeySqueezer::with_varying(shape, keys, varying(shape, keys)), else {
                KeySqueezer::new(&keys[..width], &varying_bytes(width, keys))
            })
        })
    }

    /// Creates the squeezer of the bits set in `varying`; the others are as in the first of `keys`.
    pub(crate) fn with_varying<P: IntegerShape>(
        shape: P,
        keys: &[u8],
        varying: P::Int,
    ) -> KeySqueezer {
        let mut mask = vec![0; shape.width()];
        shape.store(varying, &mut mask);
        KeySqueezer::new(&keys[..shape.width()], &mask)
    }

    /// Creates the squeezer of the bits set in `varying`; the others are as in `key`.
    pub(crate) fn new(key: &[u8], varying: &[u8]) -> KeySqueezer {
        let width = key.len();
        let mut squeeze =
            KeySqueezer { width, windows: vec![], active: vec![], template: key.to_vec(), bits: 0 };
        let length = width.min(8);
        // From the last window to the first: the position of a bit depends on the later ones.
        for from_end in 1..=width.div_ceil(8) {
            let at = width.saturating_sub(8 * from_end);
            // The bytes that the next window covers as well.
            let shared = (at + length + 8 * (from_end - 1)).saturating_sub(width);
            let own = u64::MAX.checked_shl(8 * shared as u32).unwrap_or(0);
            let varying_too = load(varying, at, length);
            let varying = varying_too & own;
            let base = load(key, at, length) & !varying_too;
            let fixed = !varying_too;
            // If no bit varies, any position in range will do.
            let shift = if varying == 0 { 0 } else { squeeze.bits };
            squeeze.bits += varying.count_ones();
            squeeze.windows.push(SqueezeWindow { at, length, varying, fixed, base, shift });
            store(&mut squeeze.template, at, length, base);
        }
        squeeze.windows.reverse();
        let active = squeeze.windows.iter().filter(|window| window.varying != 0);
        squeeze.active = active.copied().collect();
        squeeze
    }

    /// Returns the size of a key in bytes.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of varying bits.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns a key in which exactly the varying bits are set.
    pub(crate) fn varying(&self) -> Vec<u8> {
        let mut key = vec![0; self.width];
        // The bits that two windows share belong to the second.
        for window in &self.active {
            let before = load(&key, window.at, window.length);
            store(&mut key, window.at, window.length, before | window.varying);
        }
        key
    }

    /// Restricts the squeezer to the first varying bits, at most `bits`.
    pub(crate) fn leading(mut self, bits: u32) -> KeySqueezer {
        let drop = self.bits.saturating_sub(bits);
        for window in &mut self.active {
            // Bits are counted from the end, so those of this window are `shift..end`.
            let end = window.shift + window.varying.count_ones();
            for _ in window.shift..end.min(drop) {
                window.varying &= window.varying - 1;
            }
            window.shift = window.shift.saturating_sub(drop);
        }
        self.active.retain(|window| window.varying != 0);
        self.bits -= drop;
        self
    }

    /// Squeezes `keys`, which must have the constant bits, and calls `each` with each.
    ///
    /// The varying bits must fit `I`.
    pub(crate) fn squeeze<I: KeyInteger>(&self, keys: &[u8], each: impl FnMut(I)) {
        debug_assert!(self.bits <= I::BITS);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has BMI2, the only requirement of the function.
            return unsafe { bmi2::squeeze(self, keys, each) };
        }
        portable::squeeze(self, keys, each);
    }

    /// Squeezes those of `keys` that have the constant bits, and calls `each` with the index and the result.
    pub(crate) fn squeeze_matching<I: KeyInteger>(&self, keys: &[u8], each: impl FnMut(usize, I)) {
        debug_assert!(self.bits <= I::BITS);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has BMI2, the only requirement of the function.
            return unsafe { bmi2::squeeze_matching(self, keys, each) };
        }
        portable::squeeze_matching(self, keys, each);
    }

    /// Appends the keys that squeeze to `values` to `keys`.
    pub(crate) fn append<I: KeyInteger>(&self, values: &[I], keys: &mut Vec<u8>) {
        let (start, length) = (keys.len(), values.len() * self.width);
        keys.reserve(length);
        keys.extend_from_slice(&self.template[..self.width.min(length)]);
        while keys.len() - start < length {
            let filled = keys.len() - start;
            keys.extend_from_within(start..start + filled.min(length - filled));
        }
        self.put(values, &mut keys[start..]);
    }

    /// Writes the keys that squeeze to `values` to `keys`, which has space for exactly these.
    pub(crate) fn unsqueeze<I: KeyInteger>(&self, values: &[I], keys: &mut [u8]) {
        if self.active.len() < self.windows.len() {
            fill(keys, &self.template);
        }
        self.put(values, keys);
    }

    /// Writes the windows with varying bits.
    fn put<I: KeyInteger>(&self, values: &[I], keys: &mut [u8]) {
        debug_assert!(self.bits <= I::BITS);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has BMI2, the only requirement of the function.
            return unsafe { bmi2::put(self, values, keys) };
        }
        portable::put(self, values, keys);
    }
}

/// Returns the bits in which any of `keys`, at least one, differ.
#[inline(always)]
pub(crate) fn varying<P: IntegerShape>(shape: P, keys: &[u8]) -> P::Int {
    let first = shape.key(keys);
    keys.chunks_exact(shape.width())
        .fold(P::Int::ZERO, |bits, key| bits.or(first.xor(shape.key(key))))
}

/// Returns the same for keys of any width, as a key.
fn varying_bytes(width: usize, keys: &[u8]) -> Vec<u8> {
    let (first, mut varying) = (&keys[..width], vec![0; width]);
    for key in keys.chunks_exact(width) {
        let bytes = varying.iter_mut().zip(key).zip(first);
        bytes.for_each(|((varying, byte), first)| *varying |= byte ^ first);
    }
    varying
}

/// Returns the number in `length` bytes, at most eight, from `at` on.
#[inline(always)]
fn load(bytes: &[u8], at: usize, length: usize) -> u64 {
    match bytes.get(at..at + 8) {
        Some(eight) => BigEndian::read_u64(eight) >> (64 - 8 * length),
        None => {
            bytes[at..at + length].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
        }
    }
}

/// Writes a number to `length` bytes from `at` on, and arbitrary bytes up to eight in total.
#[inline(always)]
fn store(bytes: &mut [u8], at: usize, length: usize, number: u64) {
    match bytes.get_mut(at..at + 8) {
        Some(eight) => BigEndian::write_u64(eight, number << (64 - 8 * length)),
        None => BigEndian::write_uint(&mut bytes[at..at + length], number, length),
    }
}

/// Fills `keys` with copies of `key`.
fn fill(keys: &mut [u8], key: &[u8]) {
    let mut filled = key.len().min(keys.len());
    keys[..filled].copy_from_slice(&key[..filled]);
    while filled < keys.len() {
        let more = filled.min(keys.len() - filled);
        keys.copy_within(..more, filled);
        filled += more;
    }
}

/// Evaluates `$body` with `$some` bound to the windows. Usually these are few, and a loop over an array of known
/// length is unrolled.
macro_rules! by_count {
    ($windows:expr, $some:ident => $body:expr) => {{
        macro_rules! with {
            ($few:expr) => {{
                let $some = $few;
                $body
            }};
        }
        match *$windows.as_slice() {
            [a] => with!([a]),
            [a, b] => with!([a, b]),
            [a, b, c] => with!([a, b, c]),
            ref many => with!(many),
        }
    }};
}

/// The loops over keys, for given ways to extract and deposit bits of a word.
macro_rules! loops {
    ($name:ident, $extract:path, $deposit:path $(, $feature:literal)?) => {
        mod $name {
            use super::{KeySqueezer, SqueezeWindow, load, store};
            use crate::keys::KeyInteger;

            $(#[target_feature(enable = $feature)])?
            pub(super) fn squeeze<I: KeyInteger>(squeeze: &KeySqueezer, keys: &[u8], each: impl FnMut(I)) {
                by_count!(squeeze.active, some => squeeze_by(squeeze.width, some, keys, each))
            }

            $(#[target_feature(enable = $feature)])?
            fn squeeze_by<I: KeyInteger>(
                width: usize,
                windows: impl AsRef<[SqueezeWindow]>,
                keys: &[u8],
                mut each: impl FnMut(I),
            ) {
                for start in (0..keys.len()).step_by(width) {
                    let mut value = I::ZERO;
                    for window in windows.as_ref() {
                        let word = load(keys, start + window.at, window.length);
                        let bits = $extract(word, window.varying);
                        value = value.or(I::from_low(bits).shl(window.shift));
                    }
                    each(value);
                }
            }

            $(#[target_feature(enable = $feature)])?
            pub(super) fn squeeze_matching<I: KeyInteger>(
                squeeze: &KeySqueezer,
                keys: &[u8],
                each: impl FnMut(usize, I),
            ) {
                by_count!(squeeze.windows, some => matching_by(squeeze.width, some, keys, each))
            }

            $(#[target_feature(enable = $feature)])?
            fn matching_by<I: KeyInteger>(
                width: usize,
                windows: impl AsRef<[SqueezeWindow]>,
                keys: &[u8],
                mut each: impl FnMut(usize, I),
            ) {
                for (index, start) in (0..keys.len()).step_by(width).enumerate() {
                    let (mut value, mut differing) = (I::ZERO, 0);
                    for window in windows.as_ref() {
                        let word = load(keys, start + window.at, window.length);
                        differing |= (word ^ window.base) & window.fixed;
                        let bits = $extract(word, window.varying);
                        value = value.or(I::from_low(bits).shl(window.shift));
                    }
                    if differing == 0 {
                        each(index, value);
                    }
                }
            }

            $(#[target_feature(enable = $feature)])?
            pub(super) fn put<I: KeyInteger>(squeeze: &KeySqueezer, values: &[I], keys: &mut [u8]) {
                let width = squeeze.width;
                // Ascending, so that the next window overwrites the bits of its own that this one writes. If the next
                // window is not active, all its bits are constant, in both.
                for &SqueezeWindow { at, length, varying, base, shift, .. } in &squeeze.active {
                    for (value, start) in values.iter().zip((at..).step_by(width)) {
                        let bits = $deposit(value.shr(shift).low(), varying);
                        store(keys, start, length, base | bits);
                    }
                }
            }
        }
    };
}

loops!(portable, crate::keys::bits::extract, crate::keys::bits::deposit);
#[cfg(target_arch = "x86_64")]
loops!(bmi2, std::arch::x86_64::_pext_u64, std::arch::x86_64::_pdep_u64, "bmi2");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys that differ from one of them within a mask.
    fn related() -> impl Strategy<Value = (usize, Vec<u8>)> {
        (1usize..50).prop_flat_map(|width| {
            let bytes = || prop::collection::vec(any::<u8>(), width);
            let sparse = (bytes(), bytes(), bytes()).prop_map(|(a, b, c)| {
                a.iter().zip(b).zip(c).map(|((a, b), c)| a & b & c).collect::<Vec<u8>>()
            });
            let rows = prop::collection::vec(bytes(), 1..20);
            (Just(width), bytes(), sparse, rows).prop_map(|(width, key, mask, rows)| {
                let within = |row: &Vec<u8>| -> Vec<u8> {
                    (0..width).map(|i| key[i] ^ row[i] & mask[i]).collect()
                };
                (width, rows.iter().flat_map(within).collect())
            })
        })
    }

    fn values<I: KeyInteger>(squeeze: &KeySqueezer, keys: &[u8]) -> Vec<I> {
        let mut values = Vec::new();
        squeeze.squeeze(keys, |value| values.push(value));
        values
    }

    fn check<I: KeyInteger>(width: usize, keys: &[u8]) -> Result<(), TestCaseError> {
        let squeeze = KeySqueezer::of_keys(width, keys);
        let squeezed: Vec<I> = values(&squeeze, keys);
        let rows: Vec<&[u8]> = keys.chunks(width).collect();
        for (a, x) in rows.iter().zip(&squeezed) {
            for (b, y) in rows.iter().zip(&squeezed) {
                prop_assert_eq!(a.cmp(b), x.cmp(y));
            }
        }
        let mut back = vec![0x55; keys.len()];
        squeeze.unsqueeze(&squeezed, &mut back);
        prop_assert_eq!(&back, keys);
        let mut portable = Vec::new();
        portable::squeeze(&squeeze, keys, |value: I| portable.push(value));
        prop_assert_eq!(&portable, &squeezed);
        let mut back = vec![0xaa; 3];
        squeeze.append(&squeezed, &mut back);
        prop_assert_eq!(&back[3..], keys);
        portable::put(&squeeze, &squeezed, &mut back[3..]);
        prop_assert_eq!(&back[3..], keys);
        prop_assert_eq!(
            KeySqueezer::new(rows[rows.len() - 1], &squeeze.varying()),
            squeeze.clone()
        );

        let mut leading = Vec::new();
        squeeze.clone().leading(5).squeeze(keys, |value: I| leading.push(value));
        let drop = squeeze.bits().saturating_sub(5);
        prop_assert_eq!(leading, squeezed.iter().map(|it| it.shr(drop)).collect::<Vec<_>>());

        // Every key has the constant bits; with one of them flipped it does not.
        let mut found = Vec::new();
        squeeze.squeeze_matching(keys, |index, value: I| found.push((index, value)));
        prop_assert_eq!(found, squeezed.into_iter().enumerate().collect::<Vec<_>>());
        let varying = squeeze.varying();
        for bit in 0..8 * width {
            let mut key = rows[0].to_vec();
            key[bit / 8] ^= 1 << (bit % 8);
            let mut count = 0;
            squeeze.squeeze_matching(&key, |_, _: I| count += 1);
            prop_assert_eq!(count, usize::from(varying[bit / 8] >> (bit % 8) & 1));
        }
        Ok(())
    }

    #[test]
    fn the_documented_example_holds() {
        let keys = [0b0010_0110, 0b0010_0111, 0b1010_0100];
        let squeeze = KeySqueezer::of_keys(1, &keys);
        assert_eq!(squeeze.varying(), [0b1000_0011]);
        assert_eq!(values::<u64>(&squeeze, &keys), [2, 3, 4]);
    }

    proptest! {
        #[test]
        fn squeezing_keeps_the_order_and_is_reversible((width, keys) in related()) {
            match KeySqueezer::of_keys(width, &keys).bits() {
                0..=64 => {
                    check::<u64>(width, &keys)?;
                    check::<u128>(width, &keys)?;
                }
                65..=128 => check::<u128>(width, &keys)?,
                _ => {}
            }
        }
    }
}
