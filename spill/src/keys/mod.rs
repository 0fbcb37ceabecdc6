//! Fixed-width keys, seen as integers where they fit one.
//!
//! A key is a byte string of a width that is fixed for a whole search, ordered like `memcmp`. A
//! set of keys in memory is a flat `Vec<u8>`, key after key, ascending and without repeats; the
//! width travels beside it as a plain `usize`.
//!
//! Every operation over keys is written once, generic over a [`KeyShape`], and compiled for each
//! width that a machine integer holds: a big-endian load of up to 8 bytes is a `u64`
//! ([`NarrowShape`]), of up to 16 a `u128` ([`MediumShape`]), of up to 64 a few of them ([`LongShape`]), and
//! comparing those integers is comparing the bytes. Longer keys stay slices ([`WideShape`]). The choice is
//! made once per call of a bulk operation, by `for_shape!`, never once per key.
//!
//! A width such as 10 is loaded as two *overlapping* words, bytes 0..8 and 2..10: the bytes they
//! share agree, so shifting the first into place and or-ing the second gives the key without any
//! byte loop. Stores mirror this.
//!
//! Sets of keys take less time and room without the bits in which they agree: as integers, where few
//! bits of a block or of a bucket vary (`squeeze.rs`), or as shorter keys, where that goes for all
//! keys of a search (`project.rs`).

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
