//! The keys of a block as it holds them, so that whoever seeks a few need not put all together.

use super::records::BlockRecords;
use crate::keys::KeySqueezer;
use std::ops::Range;

/// The keys of a block in the form in which it holds them, ascending.
pub(crate) enum BlockKeys<'a> {
    /// Squeezed to 64 bits.
    Narrow(&'a KeySqueezer, &'a [u64]),
    /// Squeezed to 128 bits.
    Wide(&'a KeySqueezer, &'a [u128]),
    /// As they are.
    Keys(&'a [u8]),
    /// As records.
    Records(&'a BlockRecords),
}

impl BlockKeys<'_> {
    /// The number of keys.
    pub(crate) fn count(&self, width: usize) -> usize {
        match self {
            BlockKeys::Narrow(_, values) => values.len(),
            BlockKeys::Wide(_, values) => values.len(),
            BlockKeys::Keys(keys) => keys.len() / width,
            BlockKeys::Records(records) => records.len(),
        }
    }

    /// Appends the keys to `out`.
    pub(crate) fn write(&self, width: usize, out: &mut Vec<u8>) {
        self.write_range(0..self.count(width), width, out);
    }

    /// Appends some of the keys to `out`.
    pub(crate) fn write_range(&self, some: Range<usize>, width: usize, out: &mut Vec<u8>) {
        match self {
            BlockKeys::Narrow(squeeze, values) => squeeze.append(&values[some], out),
            BlockKeys::Wide(squeeze, values) => squeeze.append(&values[some], out),
            BlockKeys::Keys(keys) => {
                out.extend_from_slice(&keys[some.start * width..some.end * width]);
            }
            BlockKeys::Records(records) => {
                some.for_each(|at| {
                    // Where keys are believed, records are unsealed before, and this is not met.
                    records.decode(at, width, out);
                });
            }
        }
    }
}
