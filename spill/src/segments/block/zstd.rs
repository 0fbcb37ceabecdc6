//! Compression by zstd, with one context a thread.

use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// A level of compression beyond the first gains a few per cent and costs several times as much.
const ZSTD_LEVEL: i32 = 1;
/// Shorter raw bytes are not worth the compressor's start.
const ZSTD_RAW_MIN: usize = 48;

thread_local! {
    // A context takes longer to make than a block to decode, and there are many readers a thread.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(ZSTD_LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// Compresses `raw` into `stored`; the length, or none if that is no shorter than `raw`.
pub(super) fn compress(raw: &[u8], stored: &mut Vec<u8>) -> Option<usize> {
    if raw.len() < ZSTD_RAW_MIN {
        return None;
    }
    stored.resize(raw.len() - 1, 0);
    COMPRESSOR
        .with_borrow_mut(|zstd| zstd.as_mut()?.compress_to_buffer(raw, stored.as_mut_slice()).ok())
}

/// Decompresses `stored` into `raw`; the length, or none if it is damaged or longer than `raw`.
pub(super) fn decompress(stored: &[u8], raw: &mut [u8]) -> Option<usize> {
    DECOMPRESSOR.with_borrow_mut(|zstd| zstd.as_mut()?.decompress_to_buffer(stored, raw).ok())
}
