//! What can be wrong with the bytes of a block.

use thiserror::Error;

/// Why bytes are no block of ascending keys.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum BlockDefect {
    /// Fewer bytes than a header has.
    #[error("{bytes} bytes are too few for a header")]
    NoHeader { bytes: usize },
    /// The checksum is of other bytes.
    #[error("checksum {recorded:08x} is recorded, {found:08x} is found")]
    Checksum { recorded: u32, found: u32 },
    /// No block has so many keys.
    #[error("it claims to hold {keys} keys")]
    KeyCount { keys: usize },
    /// Another codec has written it.
    #[error("code {code} is not of the codec `{codec}`")]
    ForeignCode { code: u8, codec: &'static str },
    /// No block has a header of these fields.
    #[error("the fields of its header contradict each other")]
    Header,
    /// What is stored is longer or shorter than the header says.
    #[error("{recorded} bytes are recorded, {found} are found")]
    StoredLength { recorded: usize, found: usize },
    /// zstd makes something else of it than the header says, or nothing.
    #[error("it does not decompress to the length recorded")]
    Compression,
    /// The lengths of records are not those of the bytes that are there.
    #[error("the lengths of its records do not add up")]
    RecordLengths,
    /// Keys differ where the codec knows that none of the search do.
    #[error("its keys vary in bits in which no key of the search does")]
    ForeignVaryingBits,
    /// Gaps take more bytes than the keys that they lie between.
    #[error("its gaps are longer than its keys")]
    LongGaps,
    /// Keys vary in more bits than gaps are made of.
    #[error("its keys vary in {bits} bits")]
    VaryingBits { bits: u32 },
    /// A code is the number of no entry.
    #[error("a gap is not in its dictionary")]
    ForeignGap,
    /// There are more or fewer literals than codes that stand for one.
    #[error("it has too few literals or too many")]
    LiteralCount,
    /// The gaps sum up to more than the bits that vary have room for.
    #[error("its keys exceed their width")]
    WideKeys,
    /// Bytes of keys are missing.
    #[error("it ends early")]
    EarlyEnd,
    /// A key shares more bytes with the one before than there are.
    #[error("a key shares {bytes} bytes with the one before")]
    SharedBytes { bytes: usize },
    /// A key is not greater than the one before.
    #[error("its keys do not ascend")]
    Order,
    /// Bytes follow the last key.
    #[error("{bytes} bytes are left over")]
    Rest { bytes: usize },
}
