//! Sorted runs of fixed-width keys on disk, in bounded memory.

mod disk;
mod error;
mod map;

pub use disk::{Append, Disk};
pub use error::{Error, Result};
pub use map::Mapped;
