//! What can go wrong with bytes on a disk, said so that the caller can act on it.
//!
//! Every variant names the file. Nothing here knows of states or models.

use std::io;

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the disk or of what was found on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused an operation.
    #[error("cannot {action} {file}: {source}")]
    Io {
        /// What was being done, as a verb: "write", "sync", "rename".
        action: &'static str,
        /// The file's name within the search directory.
        file: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// No room is left, on the device or under the configured limit.
    #[error("{}", full_message(file, *limit))]
    Full {
        /// The file that could not grow.
        file: String,
        /// The limit that was met, in bytes, if it was ours and not the device's.
        limit: Option<u64>,
    },
    /// Bytes are not what was written: a checksum, a length or a header disagrees.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Corrupt {
        /// The damaged file.
        file: String,
        /// Byte offset of the damaged piece within the file.
        offset: u64,
        /// What was expected there and what was found.
        what: String,
    },
    /// The file is of a format version that this build does not read.
    #[error("{file} has format version {found}, but this build reads version {expected}")]
    Version {
        /// The file.
        file: String,
        /// The version found in it.
        found: u32,
        /// The version this build reads and writes.
        expected: u32,
    },
    /// A search has more levels than can be listed in a manifest.
    #[error("there are {levels} levels, and no more can be listed")]
    Levels {
        /// How many there are.
        levels: u64,
    },
    /// There is more of something than numbers in files have room for.
    #[error("there is no room for {what}")]
    Limit {
        /// What there is too much of, and how much there may be.
        what: String,
    },
    /// Whoever gives the keys cannot go on; the disk is not to blame.
    #[error("the model failed: {reason}")]
    Source {
        /// Why.
        #[source]
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process holds the directory's lock.
    #[error("{file} is locked by another running process")]
    Locked {
        /// The lock file.
        file: String,
    },
}

impl Error {
    /// Wraps an operating system error, telling a full disk from the rest.
    pub fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        let file = file.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::Full { file, limit: None }
            }
            _ => Error::Io { action, file, source },
        }
    }

    /// Whether it is that a file is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// A damaged piece of `file` at `offset`.
    pub fn corrupt(file: impl Into<String>, offset: u64, what: impl Into<String>) -> Self {
        Error::Corrupt { file: file.into(), offset, what: what.into() }
    }
}

/// What there is to say of a full disk.
fn full_message(file: &str, limit: Option<u64>) -> String {
    match limit {
        None => format!("no space is left on the disk to write {file}"),
        Some(limit) => format!("writing {file} would exceed the disk limit of {limit} bytes"),
    }
}
