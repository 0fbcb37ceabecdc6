//! Projection: keys of a search without the bits that are constant in all of them.
//!
//! A layout has bits for every value of every variable and for every message of a channel; the reachable states use a
//! part of them. Keys of two thousand bits are expensive to sort, compare and move, even if only four hundred bits
//! vary. A [`Projection`] names the bits that vary among the keys so far. *Projecting* a key extracts these bits, in
//! order, as a shorter key. *Lifting* puts them back between the constant bits. The order of keys stays the same.
//!
//! Projection is exact because every key is compared with the constant bits. A key that differs there is an
//! *exception*: it is kept whole, and a projection that includes its bits replaces this one. On disk, keys are always
//! whole, so a projection can change without a change of files.
//!
//! In `06 81` and `05 81` the last two bits of the first byte vary. They are projected to `02` and `01`; `04 81` would
//! be `00`, and `06 80` is an exception.

use byteorder::{BigEndian, ByteOrder};
use rkyv::{Archive, Deserialize, Serialize};

/// The bits of keys that are kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Projection {
    /// A whole key in which the kept bits are zero.
    constants: Vec<u8>,
    /// A whole key in which exactly the kept bits are set.
    varying: Vec<u8>,
    /// The positions of the kept bits, from the end of the key to its beginning; each bit is in one window.
    windows: Vec<ProjectionWindow>,
    /// The size of a projected key in bytes.
    width: usize,
}

/// A projection in the form that manifests store.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct SavedProjection {
    /// A whole key with the constant bits.
    pub key: Vec<u8>,
    /// The kept bits.
    pub varying: Vec<u8>,
}

/// Eight bytes of a whole key, as a big-endian number; of a shorter key all bytes, as the first of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProjectionWindow {
    /// The first byte.
    at: usize,
    /// The kept bits that are in no later window.
    bits: u64,
    /// The number of these bits.
    count: u32,
}

impl Projection {
    /// Keeps the bits set in `varying`; in the other bits, whole keys must equal `key`.
    ///
    /// # Panics
    ///
    /// If `key` and `varying` are not of the same length.
    pub fn new(key: &[u8], varying: &[u8]) -> Projection {
        assert_eq!(key.len(), varying.len(), "a bit of a key varies or not");
        let constants = key.iter().zip(varying).map(|(byte, bits)| byte & !bits).collect();
        let (mut windows, mut before) = (Vec::new(), varying.to_vec());
        while let Some(last) = before.iter().rposition(|&bits| bits != 0) {
            let at = last.saturating_sub(7);
            let bits = load(&before, at);
            windows.push(ProjectionWindow { at, bits, count: bits.count_ones() });
            before[at..=last].fill(0);
        }
        let bits: u32 = windows.iter().map(|window| window.count).sum();
        let width = (bits as usize).div_ceil(8).max(1);
        Projection { constants, varying: varying.to_vec(), windows, width }
    }

    /// Keeps the bits in which `keys` of `whole` bytes differ. There is at least one key.
    pub fn of_keys(whole: usize, keys: &[u8]) -> Projection {
        let first = Projection::new(&keys[..whole], &vec![0; whole]);
        first.with_bits(&first.exceptional_bits(keys))
    }

    /// Keeps the bits set in `more` as well.
    pub fn with_bits(&self, more: &[u8]) -> Projection {
        let both: Vec<u8> = self.varying.iter().zip(more).map(|(one, other)| one | other).collect();
        Projection::new(&self.constants, &both)
    }

    /// Keeps all bits of the last `bytes` bytes as well. These are the values of pairs, so projected pairs end with
    /// them, too.
    pub fn with_value(&self, bytes: usize) -> Projection {
        let key = self.whole_width() - bytes;
        self.with_bits(&[vec![0; key], vec![0xff; bytes]].concat())
    }

    /// Returns whether all bits of the last `bytes` bytes are kept, and also a bit of some earlier byte.
    pub fn keeps_value(&self, bytes: usize) -> bool {
        let value = &self.varying[self.whole_width().saturating_sub(bytes)..];
        value.len() == bytes && value.iter().all(|&bits| bits == 0xff) && self.width > bytes
    }

    /// Returns the constant bits in which some of the whole `keys` differ from the projection.
    pub fn exceptional_bits(&self, keys: &[u8]) -> Vec<u8> {
        let mut exceptional = vec![0; self.whole_width()];
        for key in keys.chunks_exact(exceptional.len()) {
            let bits = key.iter().zip(&self.constants).zip(&self.varying);
            for (exceptional, ((byte, constant), varying)) in exceptional.iter_mut().zip(bits) {
                *exceptional |= (byte ^ constant) & !varying;
            }
        }
        exceptional
    }

    /// Returns the size of a projected key in bytes, at least 1.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the size of a whole key in bytes.
    pub fn whole_width(&self) -> usize {
        self.varying.len()
    }

    /// Returns a whole key with the constant bits, and the kept bits: the arguments of [`new`](Projection::new).
    pub fn key_and_mask(&self) -> (&[u8], &[u8]) {
        (&self.constants, &self.varying)
    }

    /// Returns the form for a manifest.
    pub fn saved(&self) -> SavedProjection {
        SavedProjection { key: self.constants.clone(), varying: self.varying.clone() }
    }

    /// Returns the saved projection, for keys of `whole` bytes; `None` if it is invalid.
    pub fn restore(saved: &SavedProjection, whole: usize) -> Option<Projection> {
        let SavedProjection { key, varying } = saved;
        let fits = key.len() == whole && varying.len() == whole;
        fits.then(|| Projection::new(key, varying))
    }

    /// Appends the projections of the whole `keys` to `projected`, and exceptions to `exceptions`.
    pub fn project(&self, keys: &[u8], projected: &mut Vec<u8>, exceptions: &mut Vec<u8>) {
        let start = projected.len();
        projected.resize(start + keys.len() / self.whole_width() * self.width, 0);
        #[cfg(target_arch = "x86_64")]
        if has_bmi2() {
            // SAFETY: the processor has BMI2 and AVX2, the only requirements of the function.
            let kept = unsafe { bmi2::project(self, keys, &mut projected[start..], exceptions) };
            return projected.truncate(start + kept);
        }
        let kept = portable::project(self, keys, &mut projected[start..], exceptions);
        projected.truncate(start + kept);
    }

    /// Extracts the kept bits of whole keys, or of masks of keys, without a check of the constant bits.
    pub fn extract_bits(&self, keys: &[u8]) -> Vec<u8> {
        let mut picked = vec![0; keys.len() / self.whole_width() * self.width];
        #[cfg(target_arch = "x86_64")]
        if has_bmi2() {
            // SAFETY: the processor has BMI2 and AVX2, the only requirements of the function.
            unsafe { bmi2::pick(self, keys, &mut picked) };
            return picked;
        }
        portable::pick(self, keys, &mut picked);
        picked
    }

    /// Returns whether the whole key `key` has the constant bits.
    pub(crate) fn matches_constants(&self, key: &[u8]) -> bool {
        self.exceptional_bits(key).iter().all(|&bits| bits == 0)
    }

    /// Returns whether all bits set in `mask`, of a whole key, are kept.
    pub(crate) fn keeps(&self, mask: &[u8]) -> bool {
        mask.iter().zip(&self.varying).all(|(mask, varying)| mask & !varying == 0)
    }

    /// Appends the whole keys of the projected `keys` to `whole`.
    pub fn unproject(&self, keys: &[u8], whole: &mut Vec<u8>) {
        let start = whole.len();
        for _ in 0..keys.len() / self.width {
            whole.extend_from_slice(&self.constants);
        }
        self.put(keys, &mut whole[start..]);
    }

    /// Returns the bits of a whole key that are set in `mask`, of a projected one.
    pub(crate) fn unproject_mask(&self, mask: &[u8]) -> Vec<u8> {
        let mut whole = vec![0; self.whole_width()];
        self.put(mask, &mut whole);
        whole
    }

    /// Deposits the bits of `keys` into `whole`, where they are zero.
    fn put(&self, keys: &[u8], whole: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if has_bmi2() {
            // SAFETY: the processor has BMI2 and AVX2, the only requirements of the function.
            return unsafe { bmi2::lift(self, keys, whole) };
        }
        portable::lift(self, keys, whole);
    }
}

/// Returns the number in the eight bytes from `at` on.
#[inline(always)]
fn load(key: &[u8], at: usize) -> u64 {
    match key.get(at..at + 8) {
        Some(eight) => BigEndian::read_u64(eight),
        None => {
            let mut eight = [0; 8];
            eight[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(eight)
        }
    }
}

/// Writes a number to the eight bytes from `at` on.
#[inline(always)]
fn store(key: &mut [u8], at: usize, number: u64) {
    match key.get_mut(at..at + 8) {
        Some(eight) => BigEndian::write_u64(eight, number),
        None => key.copy_from_slice(&number.to_be_bytes()[..key.len()]),
    }
}

/// Returns whether the processor has BMI2 and AVX2. Processors with BMI2 also have AVX2.
#[cfg(target_arch = "x86_64")]
fn has_bmi2() -> bool {
    std::arch::is_x86_feature_detected!("bmi2") && std::arch::is_x86_feature_detected!("avx2")
}

/// The loops over keys, for given ways to extract and deposit bits of a word.
macro_rules! loops {
    ($name:ident, $extract:path, $deposit:path $(, $feature:literal)?) => {
        mod $name {
            use super::{Projection, ProjectionWindow, load, store};
            use byteorder::{BigEndian, ByteOrder};

            /// Projects keys. Returns the number of bytes written to `projected`.
            $(#[target_feature(enable = $feature)])?
            pub(super) fn project(
                projection: &Projection,
                keys: &[u8],
                projected: &mut [u8],
                exceptions: &mut Vec<u8>,
            ) -> usize {
                let (constants, varying) = projection.key_and_mask();
                let mut kept = 0;
                for key in keys.chunks_exact(varying.len()) {
                    let bits = key.iter().zip(constants).zip(varying);
                    let exceptional =
                        bits.fold(0, |all, ((byte, constant), kept)| all | (byte ^ constant) & !kept);
                    if exceptional != 0 {
                        exceptions.extend_from_slice(key);
                        continue;
                    }
                    pack(projection, key, &mut projected[kept..kept + projection.width]);
                    kept += projection.width;
                }
                kept
            }

            /// Projects all keys, without a check of their constant bits.
            $(#[target_feature(enable = $feature)])?
            pub(super) fn pick(projection: &Projection, keys: &[u8], picked: &mut [u8]) {
                let keys = keys.chunks_exact(projection.whole_width());
                for (key, picked) in keys.zip(picked.chunks_exact_mut(projection.width)) {
                    pack(projection, key, picked);
                }
            }

            /// Extracts the kept bits of `key`.
            $(#[target_feature(enable = $feature)])?
            #[inline]
            fn pack(projection: &Projection, key: &[u8], out: &mut [u8]) {
                // From the end, since the lowest bits of integers are there; `waiting` bits are pending.
                let (mut bits, mut waiting, mut end) = (0u64, 0, out.len());
                for &ProjectionWindow { at, bits: kept, count } in &projection.windows {
                    let word = $extract(load(key, at), kept);
                    bits |= word << waiting;
                    waiting += count;
                    if waiting >= u64::BITS {
                        waiting -= u64::BITS;
                        end -= 8;
                        BigEndian::write_u64(&mut out[end..], bits);
                        // All bits of the word but the `waiting` highest are stored.
                        bits = word.checked_shr(count - waiting).unwrap_or(0);
                    }
                }
                out[..end].copy_from_slice(&bits.to_be_bytes()[8 - end..]);
            }

            $(#[target_feature(enable = $feature)])?
            pub(super) fn lift(projection: &Projection, keys: &[u8], whole: &mut [u8]) {
                let wholes = whole.chunks_exact_mut(projection.whole_width());
                for (key, whole) in keys.chunks_exact(projection.width).zip(wholes) {
                    unpack(projection, key, whole);
                }
            }

            /// Deposits the bits of `key` into `whole`, where they are zero.
            $(#[target_feature(enable = $feature)])?
            #[inline]
            fn unpack(projection: &Projection, mut key: &[u8], whole: &mut [u8]) {
                // From the end; the `waiting` lowest of `bits` are read but not deposited yet.
                let (mut bits, mut waiting) = (0u64, 0);
                for &ProjectionWindow { at, bits: kept, count } in &projection.windows {
                    let mut word = bits;
                    if waiting < count {
                        let (rest, last) = key.split_at(key.len().saturating_sub(8));
                        let next = match last.len() {
                            8 => BigEndian::read_u64(last),
                            _ => load(last, 0) >> (64 - 8 * last.len()),
                        };
                        word |= next << waiting;
                        bits = next.checked_shr(count - waiting).unwrap_or(0);
                        waiting += u64::BITS;
                        key = rest;
                    } else {
                        bits >>= count;
                    }
                    waiting -= count;
                    let there = load(whole, at);
                    store(whole, at, there | $deposit(word, kept));
                }
            }
        }
    };
}

loops!(portable, crate::keys::bits::extract, crate::keys::bits::deposit);
#[cfg(target_arch = "x86_64")]
loops!(bmi2, std::arch::x86_64::_pext_u64, std::arch::x86_64::_pdep_u64, "bmi2,avx2");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Keys that differ from the first key only within a mask, and keys that may differ outside.
    fn related() -> impl Strategy<Value = (usize, Vec<u8>, Vec<u8>)> {
        (1usize..60).prop_flat_map(|whole| {
            let bytes = || prop::collection::vec(any::<u8>(), whole);
            let masks = prop_oneof![
                Just(vec![0; whole]),
                Just(vec![255; whole]),
                bytes(),
                (bytes(), bytes(), bytes()).prop_map(|(a, b, c)| {
                    a.iter().zip(b).zip(c).map(|((a, b), c)| a & b & c).collect::<Vec<u8>>()
                }),
            ];
            let rows = || prop::collection::vec(bytes(), 1..20);
            (bytes(), masks, rows(), rows()).prop_map(move |(key, mask, rows, others)| {
                let within = |row: &Vec<u8>| -> Vec<u8> {
                    (0..whole).map(|i| key[i] ^ row[i] & mask[i]).collect()
                };
                (whole, rows.iter().flat_map(within).collect(), others.concat())
            })
        })
    }

    #[test]
    fn the_documented_example_holds() {
        let projection = Projection::of_keys(2, &[0x06, 0x81, 0x05, 0x81]);
        let (mut projected, mut exceptions) = (Vec::new(), Vec::new());
        let keys = [0x06, 0x81, 0x05, 0x81, 0x04, 0x81, 0x06, 0x80];
        projection.project(&keys, &mut projected, &mut exceptions);
        assert_eq!((projected, exceptions), (vec![2, 1, 0], vec![0x06, 0x80]));
    }

    proptest! {
        #[test]
        fn projection_keeps_the_order_and_is_reversible((whole, keys, others) in related()) {
            let projection = Projection::of_keys(whole, &keys);
            let (mut projected, mut exceptions) = (Vec::new(), Vec::new());
            projection.project(&keys, &mut projected, &mut exceptions);
            prop_assert!(exceptions.is_empty());
            let width = projection.width();
            prop_assert_eq!(projected.len() / width, keys.len() / whole);
            let rows = || keys.chunks(whole).zip(projected.chunks(width));
            for (a, x) in rows() {
                prop_assert_eq!(&projection.extract_bits(a), x);
                for (b, y) in rows() {
                    prop_assert_eq!(a.cmp(b), x.cmp(y));
                }
            }
            let mut back = vec![7];
            projection.unproject(&projected, &mut back);
            prop_assert_eq!(&back[1..], &keys);

            let mut portable = vec![0; projected.len()];
            let kept = portable::project(&projection, &keys, &mut portable, &mut exceptions);
            prop_assert_eq!((kept, &portable), (projected.len(), &projected));
            let constants = projection.key_and_mask().0;
            let mut back = constants.repeat(keys.len() / whole);
            portable::lift(&projection, &projected, &mut back);
            prop_assert_eq!(&back, &keys);

            // A key is an exception or is restored. With its bits included, no key is an exception.
            projected.clear();
            projection.project(&others, &mut projected, &mut exceptions);
            let known = others.chunks(whole).filter(|key| projection.matches_constants(key));
            let known: Vec<u8> = known.flatten().copied().collect();
            back.clear();
            projection.unproject(&projected, &mut back);
            prop_assert_eq!(&back, &known);
            prop_assert_eq!(exceptions.len() + known.len(), others.len());
            let wider = projection.with_bits(&projection.exceptional_bits(&exceptions));
            for key in keys.chunks(whole).chain(others.chunks(whole)) {
                prop_assert!(wider.matches_constants(key));
            }
            let saved = wider.saved();
            prop_assert_eq!(Projection::restore(&saved, whole + 1), None);
            prop_assert_eq!(Projection::restore(&saved, whole), Some(wider));
            for mask in others.chunks(whole).filter(|mask| projection.keeps(mask)) {
                prop_assert_eq!(projection.unproject_mask(&projection.extract_bits(mask)), mask);
            }
            let varying = projection.key_and_mask().1;
            prop_assert_eq!(projection.unproject_mask(&projection.extract_bits(varying)), varying);
        }
    }
}
