//! Bit fields of keys.
//!
//! A field is a big-endian number. The first bit of a key is the highest bit of its first byte, so keys compare as bytes
//! as their fields compare in order. Keys are sequences of 64-bit words. A field may cross a word's end.

/// The bytes of a word.
pub(super) const WORD_BYTES: usize = 8;

/// Returns the bytes of a key with this many bits: whole words, at least one.
pub(super) fn key_bytes(bits: u32) -> usize {
    (bits as usize).div_ceil(8 * WORD_BYTES).max(1) * WORD_BYTES
}

/// Returns the bits that numbers from 0 to `max` need.
pub(super) fn bits_for(max: u32) -> u32 {
    u32::BITS - max.leading_zeros()
}

/// A key that is being written. Fields that are not written are 0.
pub(super) struct KeyWriter<'k> {
    bytes: &'k mut [u8],
}

impl<'k> KeyWriter<'k> {
    /// Starts with all fields 0. The bytes are whole words.
    pub(super) fn new(bytes: &'k mut [u8]) -> Self {
        debug_assert!(bytes.len().is_multiple_of(WORD_BYTES));
        bytes.fill(0);
        Self { bytes }
    }

    /// Writes a field that is still 0.
    #[inline]
    pub(super) fn put(&mut self, at: u32, bits: u32, value: u32) {
        debug_assert!(bits == u32::BITS || value >> bits == 0);
        if bits == 0 {
            return;
        }
        let (word, end, value) = (at / 64, at % 64 + bits, u64::from(value));
        if end <= 64 {
            self.set_bits(word, value << (64 - end));
        } else {
            self.set_bits(word, value >> (end - 64));
            self.set_bits(word + 1, value << (128 - end));
        }
    }

    #[inline]
    fn set_bits(&mut self, word: u32, bits: u64) {
        let at = word as usize * WORD_BYTES;
        let bytes = &mut self.bytes[at..at + WORD_BYTES];
        let before = u64::from_be_bytes(bytes.try_into().expect("a word"));
        bytes.copy_from_slice(&(before | bits).to_be_bytes());
    }

    /// Sets the bits of a range of whole bytes to 0 again.
    pub(super) fn clear_bytes(&mut self, range: std::ops::Range<usize>) {
        self.bytes[range].fill(0);
    }

    /// Copies a range of bytes that are still 0 from another key.
    pub(super) fn copy_bytes(&mut self, range: std::ops::Range<usize>, from: &[u8]) {
        self.bytes[range.clone()].copy_from_slice(&from[range]);
    }
}

/// Reads a field of a key of whole words.
#[inline]
pub(super) fn get(key: &[u8], at: u32, bits: u32) -> u32 {
    if bits == 0 {
        return 0;
    }
    let word = |word: u32| {
        let at = word as usize * WORD_BYTES;
        u64::from_be_bytes(key[at..at + WORD_BYTES].try_into().expect("a word"))
    };
    let (first, start, end) = (at / 64, at % 64, at % 64 + bits);
    let value = if end <= 64 {
        word(first) << start >> (64 - bits)
    } else {
        let high = word(first) << start >> start;
        high << (end - 64) | word(first + 1) >> (128 - end)
    };
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_are_read_back(fields in proptest::collection::vec((1u32..=32, any::<u32>()), 0..40)) {
            let bits: u32 = fields.iter().map(|it| it.0).sum();
            let mut key = vec![0xff; key_bytes(bits)];
            let mut writer = KeyWriter::new(&mut key);
            let mut at = 0;
            for (bits, value) in &fields {
                writer.put(at, *bits, value >> (32 - bits));
                at += bits;
            }
            at = 0;
            for (bits, value) in &fields {
                prop_assert_eq!(get(&key, at, *bits), value >> (32 - bits));
                at += bits;
            }
        }

        #[test]
        fn keys_compare_like_their_fields(one in any::<[u16; 9]>(), two in any::<[u16; 9]>()) {
            let write = |fields: &[u16; 9]| {
                let mut key = vec![0; key_bytes(9 * 13)];
                let mut writer = KeyWriter::new(&mut key);
                for (at, field) in (0..).zip(fields) {
                    writer.put(13 * at, 13, u32::from(field >> 3));
                }
                key
            };
            let order = one.map(|it| it >> 3).cmp(&two.map(|it| it >> 3));
            prop_assert_eq!(write(&one).cmp(&write(&two)), order);
        }
    }
}
