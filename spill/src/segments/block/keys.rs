//! The keys of a block in their stored form, so that a search for a few need not decode all.

use super::records::BlockRecords;
use crate::keys::KeySqueezer;
use std::ops::Range;

/// The ascending keys of a block in their stored form.
pub(crate) enum BlockKeys<'a> {
    /// Squeezed to at most 64 bits.
    Narrow(&'a KeySqueezer, &'a [u64]),
    /// Squeezed to at most 128 bits.
    Wide(&'a KeySqueezer, &'a [u128]),
    /// Unchanged.
    Keys(&'a [u8]),
    /// As records.
    Records(&'a BlockRecords),
}

impl BlockKeys<'_> {
    /// Returns the number of keys.
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
                    // Callers that rely on the keys decode the records before, so an invalid one does not occur here.
                    records.decode(at, width, out);
                });
            }
        }
    }
}
