//! Run-length code: for each run of equal bytes, its length (1 to 255) and the byte.
//!
//! The record of `00 00 07` is `02 00` `01 07`; that of 256 bytes `05` is `ff 05` `01 05`.

/// The maximum length of a run in one pair.
const RUN_MAX: usize = 255;

pub(super) fn encode(key: &[u8], out: &mut Vec<u8>) {
    for run in key.chunk_by(|one, next| one == next) {
        for part in run.chunks(RUN_MAX) {
            out.extend_from_slice(&[part.len() as u8, part[0]]);
        }
    }
}

/// Decodes `record` into `key`. Returns false unless `record` is the result of [`encode`] for a key of this length.
pub(super) fn decode(record: &[u8], key: &mut [u8]) -> bool {
    let (mut filled, mut before) = (0, None);
    let (pairs, rest) = record.as_chunks::<2>();
    for &[length, byte] in pairs {
        let length = usize::from(length);
        // A run continues in another pair only if the first pair is full.
        let is_one_run = before.is_some_and(|(last, other)| other == byte && last != RUN_MAX);
        if length == 0 || is_one_run || length > key.len() - filled {
            return false;
        }
        key[filled..filled + length].fill(byte);
        filled += length;
        before = Some((length, byte));
    }
    rest.is_empty() && filled == key.len()
}
