//! The one checksum: CRC-32 (IEEE 802.3), of every block, index, footer and manifest.
//!
//! It detects every damage of one or two bits, every damage confined to 32 neighbouring bits, and
//! of any other all but one in four thousand million.

/// The checksum of `bytes`.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
