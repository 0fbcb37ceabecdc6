//! The keys of a block as it holds them, so that whoever seeks a few need not put all together.

use super::records::Records;
use crate::keys::Squeeze;
use std::ops::Range;

/// The keys of a block in the form in which it holds them, ascending.
pub(crate) enum Block<'a> {
    /// Squeezed to 64 bits.
    Narrow(&'a Squeeze, &'a [u64]),
    /// Squeezed to 128 bits.
    Wide(&'a Squeeze, &'a [u128]),
    /// As they are.
    Keys(&'a [u8]),
    /// As records.
    Records(&'a Records),
}

impl Block<'_> {
    /// The number of keys.
    pub(crate) fn count(&self, width: usize) -> usize {
        match self {
            Block::Narrow(_, values) => values.len(),
            Block::Wide(_, values) => values.len(),
            Block::Keys(keys) => keys.len() / width,
            Block::Records(records) => records.len(),
        }
    }

    /// Appends the keys to `out`.
    pub(crate) fn write(&self, width: usize, out: &mut Vec<u8>) {
        self.write_some(0..self.count(width), width, out);
    }

    /// Appends some of the keys to `out`.
    pub(crate) fn write_some(&self, some: Range<usize>, width: usize, out: &mut Vec<u8>) {
        match self {
            Block::Narrow(squeeze, values) => squeeze.append(&values[some], out),
            Block::Wide(squeeze, values) => squeeze.append(&values[some], out),
            Block::Keys(keys) => {
                out.extend_from_slice(&keys[some.start * width..some.end * width]);
            }
            Block::Records(records) => {
                some.for_each(|at| {
                    // Where keys are believed, records are unsealed before, and this is not met.
                    records.decode(at, width, out);
                });
            }
        }
    }
}
