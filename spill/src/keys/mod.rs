//! Fixed-width keys, as integers where they fit one.
//!
//! A key is a byte string of a width that is fixed for a whole search, ordered like `memcmp`. A set of keys in memory
//! is a flat `Vec<u8>`, key after key, ascending and without repeats. The width is passed separately as a plain
//! `usize`.
//!
//! Every operation over keys is written once, generic over a [`KeyShape`], and compiled for each width that a machine
//! integer holds. A big-endian load of up to 8 bytes is a `u64` ([`NarrowShape`]), of up to 16 a `u128`
//! ([`MediumShape`]), of up to 64 several of these ([`LongShape`]). Comparing those integers is comparing the bytes.
//! Longer keys stay slices ([`WideShape`]). `for_shape!` selects the shape once for each call of a bulk operation,
//! never for each key.
//!
//! A width such as 10 is loaded as two *overlapping* words, bytes 0..8 and 2..10. The bytes they share agree, so
//! shifting the first into place and or-ing the second gives the key without a loop over bytes. Stores mirror this.
//!
//! Sets of keys take less time and memory without their constant bits. If few bits of a block or of a bucket vary, its
//! keys become integers (`squeeze.rs`). Bits that are constant in all keys of a search are omitted in shorter keys
//! (`project.rs`).

mod bits;
mod digits;
mod dispatch;
pub(crate) mod hash;
mod int;
mod long;
pub(crate) mod project;
mod search;
mod shape;
mod squeeze;

pub(crate) use digits::KeyDigits;
pub(crate) use dispatch::{for_long, for_packed, for_shape};
pub(crate) use hash::hash;
pub(crate) use int::KeyInteger;
pub use long::LongShape;
pub(crate) use project::Projection;
pub(crate) use search::{bound, gallop_back, gallop_from, is_ascending, restrict};
pub use search::{count, gallop, lower_bound};
pub(crate) use shape::{IntegerShape, PACKED_WIDTH_MAX};
pub use shape::{KeyShape, MediumShape, NarrowShape, WideShape};
pub(crate) use squeeze::{KeySqueezer, varying};
