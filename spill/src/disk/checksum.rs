//! The checksum: CRC-32 (IEEE 802.3), of every block, index, footer and manifest.
//!
//! It detects all errors of one or two bits, and all errors within 32 adjacent bits. Of other errors, one in four
//! thousand million remains undetected.

/// Returns the checksum of `bytes`.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
