//! Errors of disk data, in a form on which the caller can act.
//!
//! Every variant names the file. This module is independent of states and models.

use std::io;

/// The result of every fallible operation of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the disk or of data on it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused an operation.
    #[error("cannot {action} {file}: {source}")]
    Io {
        /// The failed operation, as a verb: "write", "sync", "rename".
        action: &'static str,
        /// The file's name within the search directory.
        file: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// No space is left, on the device or within the configured limit.
    #[error("{}", full_message(file, *limit))]
    Full {
        /// The file that could not grow.
        file: String,
        /// The exceeded limit in bytes, if it is the configured one and not the device's.
        limit: Option<u64>,
    },
    /// Bytes differ from those written: a checksum, a length or a header disagrees.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Corrupt {
        /// The damaged file.
        file: String,
        /// The byte offset of the damaged part in the file.
        offset: u64,
        /// The expected and the found content.
        what: String,
    },
    /// The file has a format version that this build does not read.
    #[error("{file} has format version {found}, but this build reads version {expected}")]
    Version {
        /// The file.
        file: String,
        /// The version of the file.
        found: u32,
        /// The version that this build reads and writes.
        expected: u32,
    },
    /// A search has more levels than a manifest can list.
    #[error("there are {levels} levels, which is the maximum")]
    Levels {
        /// The number of levels.
        levels: u64,
    },
    /// A count exceeds what the numbers in files can represent.
    #[error("there is no space for {what}")]
    Limit {
        /// The counted thing, and its limit.
        what: String,
    },
    /// The source of the keys failed; the disk is not at fault.
    #[error("the model failed: {reason}")]
    Source {
        /// The reason.
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
    /// Wraps an operating system error; a full disk becomes its own variant.
    pub fn io(action: &'static str, file: impl Into<String>, source: io::Error) -> Self {
        let file = file.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::Full { file, limit: None }
            }
            _ => Error::Io { action, file, source },
        }
    }

    /// Returns whether the error is that a file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Creates the error of a damaged part of `file` at `offset`.
    pub fn corrupt(file: impl Into<String>, offset: u64, what: impl Into<String>) -> Self {
        Error::Corrupt { file: file.into(), offset, what: what.into() }
    }
}

/// Returns the message about a full disk.
fn full_message(file: &str, limit: Option<u64>) -> String {
    match limit {
        None => format!("no space is left on the disk to write {file}"),
        Some(limit) => format!("writing {file} would exceed the disk limit of {limit} bytes"),
    }
}
