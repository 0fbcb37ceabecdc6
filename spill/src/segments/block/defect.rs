//! Defects of the bytes of a block.

use thiserror::Error;

/// A reason why bytes are not a block of ascending keys.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum BlockDefect {
    /// There are fewer bytes than in a header.
    #[error("{bytes} bytes are too few for a header")]
    NoHeader { bytes: usize },
    /// The checksum does not match.
    #[error("checksum {recorded:08x} is recorded, {found:08x} is found")]
    Checksum { recorded: u32, found: u32 },
    /// The number of keys is impossible.
    #[error("it claims to hold {keys} keys")]
    KeyCount { keys: usize },
    /// Another codec wrote the block.
    #[error("code {code} is not of the codec `{codec}`")]
    ForeignCode { code: u8, codec: &'static str },
    /// The fields of the header do not fit together.
    #[error("the fields of its header contradict each other")]
    Header,
    /// The stored part has another length than the header says.
    #[error("{recorded} bytes are recorded, {found} are found")]
    StoredLength { recorded: usize, found: usize },
    /// zstd fails, or its result has another length than the header says.
    #[error("it does not decompress to the length recorded")]
    Compression,
    /// The lengths of records do not match the bytes.
    #[error("the lengths of its records do not add up")]
    RecordLengths,
    /// Keys differ in bits that are constant in this codec's projection.
    #[error("its keys vary in bits in which no key of the search does")]
    ForeignVaryingBits,
    /// Gaps take more bytes than the keys.
    #[error("its gaps are longer than its keys")]
    LongGaps,
    /// Keys vary in more bits than gaps can have.
    #[error("its keys vary in {bits} bits")]
    VaryingBits { bits: u32 },
    /// A code is the number of no entry.
    #[error("a gap is not in its dictionary")]
    ForeignGap,
    /// The number of literals differs from the number of codes for literals.
    #[error("it has too few literals or too many")]
    LiteralCount,
    /// The sum of the gaps does not fit the varying bits.
    #[error("its keys exceed their width")]
    WideKeys,
    /// Bytes of keys are missing.
    #[error("it ends early")]
    EarlyEnd,
    /// A key shares more bytes with the previous key than that has.
    #[error("a key shares {bytes} bytes with the one before")]
    SharedBytes { bytes: usize },
    /// A key is not greater than the previous key.
    #[error("its keys do not ascend")]
    Order,
    /// Bytes follow the last key.
    #[error("{bytes} bytes are left over")]
    Rest { bytes: usize },
}
