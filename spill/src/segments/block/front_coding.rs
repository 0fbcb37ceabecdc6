//! Shared prefixes: the code of keys that vary in too many bits to be integers.
//!
//! For keys of three bytes, `61 62 63`, `61 62 7a` and `61 70 00`, the first is written out. For each other one, only
//! the bytes after those it shares with the previous key are written:
//!
//! ```text
//! 00 00 | 02 00 | 01 00    lengths shared
//! 61 62 63 | 7a | 70 00    rests
//! ```

use super::defect::BlockDefect;
use super::header::{CODE_SHARED, KeyCoding};
use crate::keys::{KeyShape, WideShape};
use byteorder::{ByteOrder, LittleEndian};

/// Front-codes `keys` into `raw`, which is empty.
pub(super) fn write_shared(shape: WideShape, keys: &[u8], raw: &mut Vec<u8>) -> KeyCoding {
    raw.resize(2 * (keys.len() / shape.width()), 0);
    let mut last: &[u8] = &[];
    for (i, key) in keys.chunks_exact(shape.width()).enumerate() {
        let shared = common_prefix(last, key);
        LittleEndian::write_u16(&mut raw[2 * i..], shared as u16);
        raw.extend_from_slice(&key[shared..]);
        last = key;
    }
    KeyCoding { code: CODE_SHARED, entries: 0, gap_bytes: 0 }
}

/// Decodes shared prefixes from `raw` to fill `keys`, which has space for at least one.
pub(super) fn read_shared(
    shape: WideShape,
    raw: &[u8],
    keys: &mut [u8],
) -> Result<(), BlockDefect> {
    let width = shape.width();
    let count = keys.len() / width;
    let Some((lengths, mut rests)) = raw.split_at_checked(2 * count) else {
        return Err(BlockDefect::EarlyEnd);
    };
    for (i, length) in lengths.chunks_exact(2).enumerate() {
        let shared = LittleEndian::read_u16(length) as usize;
        if shared >= width || (i == 0 && shared > 0) {
            return Err(BlockDefect::SharedBytes { bytes: shared });
        }
        let Some((rest, remaining)) = rests.split_at_checked(width - shared) else {
            return Err(BlockDefect::EarlyEnd);
        };
        rests = remaining;
        let (before, key) = keys[..(i + 1) * width].split_at_mut(i * width);
        if i > 0 {
            let last = &before[(i - 1) * width..];
            if last[shared] >= rest[0] {
                return Err(BlockDefect::Order);
            }
            key[..shared].copy_from_slice(&last[..shared]);
        }
        key[shared..].copy_from_slice(rest);
    }
    if !rests.is_empty() {
        return Err(BlockDefect::Rest { bytes: rests.len() });
    }
    Ok(())
}

/// Returns the number of leading bytes in which two slices agree.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let (a8, b8) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    let words = a8.iter().zip(b8).take_while(|(a, b)| a == b).count();
    let start = 8 * words;
    start + a[start..].iter().zip(&b[start..]).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_example_is_encoded_and_decoded() {
        let keys = b"abcabzap\0";
        let mut raw = Vec::new();
        write_shared(WideShape(3), keys, &mut raw);
        assert_eq!(raw, b"\0\0\x02\0\x01\0abczp\0");
        let mut back = [0; 9];
        read_shared(WideShape(3), &raw, &mut back).unwrap();
        assert_eq!(&back, keys);
    }
}
