//! A hash of byte strings that is the same on every machine and in every version.
//!
//! Hashes are stored on disk, so the function is part of this crate. It multiplies eight bytes at a time to 128 bits
//! and folds them, as Wang Yi's wyhash does. It does not resist deliberate collisions; matches are always compared.

use byteorder::{ByteOrder, LittleEndian};

const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Returns the hash of `bytes`.
#[inline]
pub fn hash(bytes: &[u8]) -> u64 {
    let mut sum = ODD[0] ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        sum = fold(sum ^ u64::from_le_bytes(*word), ODD[1]);
    }
    if !rest.is_empty() {
        sum = fold(sum ^ LittleEndian::read_uint(rest, rest.len()), ODD[1]);
    }
    fold(sum ^ ODD[1], ODD[0])
}

#[inline]
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn hashes_are_spread() {
        let short: BTreeSet<u64> =
            (0u32..100_000).map(|number| hash(&number.to_le_bytes()) >> 32).collect();
        // With 32 bits, about two of 100,000 keys are expected to collide.
        assert!(short.len() > 99_980, "{}", short.len());
        let lengths: BTreeSet<u64> = (0..100).map(|length| hash(&vec![0; length])).collect();
        assert_eq!(lengths.len(), 100);
    }

    #[test]
    fn hashes_are_stable() {
        assert_eq!(hash(b"spillway"), 0xf0656e7753cf127a);
        assert_eq!(hash(b"a"), 0x9122fc7eb0ce6480);
    }
}
