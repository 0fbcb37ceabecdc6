//! Compression by zstd, with one context for each thread.

use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// The compression level. Higher levels gain a few per cent and cost several times as much.
const ZSTD_LEVEL: i32 = 1;
/// The minimum number of raw bytes that are worth starting the compressor.
const ZSTD_RAW_MIN: usize = 48;

thread_local! {
    // Creating a context takes longer than decoding a block, and a thread has many readers.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(ZSTD_LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Compresses `raw` into `stored`. Returns the length, or `None` if it is no shorter than `raw`.
pub(super) fn compress(raw: &[u8], stored: &mut Vec<u8>) -> Option<usize> {
    if raw.len() < ZSTD_RAW_MIN {
        return None;
    }
    stored.resize(raw.len() - 1, 0);
    COMPRESSOR
        .with_borrow_mut(|zstd| zstd.as_mut()?.compress_to_buffer(raw, stored.as_mut_slice()).ok())
}

/// Decompresses `stored` into `raw`. Returns the length, or `None` if `stored` is damaged or the result is longer than
/// `raw`.
pub(super) fn decompress(stored: &[u8], raw: &mut [u8]) -> Option<usize> {
    DECOMPRESSOR.with_borrow_mut(|zstd| zstd.as_mut()?.decompress_to_buffer(stored, raw).ok())
}
