//! What goes wrong on a [`FaultDisk`](crate::FaultDisk), and at which operation.

use super::luck::Random;
use crate::disk::error::Error;
use std::io;

/// The operations that go wrong, by their numbers, which begin with 0.
///
/// A write that fails first writes a prefix of its bytes, of any length. A sync of a file that fails
/// either does nothing, or leaves it unknown for good which of the bytes it was to write are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Decides how much is done of what fails.
    seed: u64,
    /// Of several that strike an operation the first does.
    faults: Vec<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    IoErrorAt(u64),
    SyncErrorFrom(u64),
    FullAt(u64),
    FullFrom(u64),
    CrashAt(u64),
}

/// How an operation ends.
pub(super) enum Verdict {
    Go,
    Fail {
        error: Error,
        /// A random number to decide how much of the operation is done before it fails; nothing
        /// if there is none.
        done: Option<u64>,
    },
}

impl Faults {
    /// A plan by which nothing goes wrong.
    pub fn new() -> Faults {
        Faults::default()
    }

    /// Varies how much of an operation is done before it fails or crashes.
    pub fn seed(self, seed: u64) -> Faults {
        Faults { seed, ..self }
    }

    /// Operation `operation` fails with an I/O error.
    pub fn io_error_at(self, operation: u64) -> Faults {
        self.with(Fault::IoErrorAt(operation))
    }

    /// From operation `operation` on, every sync of a file or of the directory fails.
    pub fn sync_error_from(self, operation: u64) -> Faults {
        self.with(Fault::SyncErrorFrom(operation))
    }

    /// Operation `operation` finds the disk full.
    pub fn full_at(self, operation: u64) -> Faults {
        self.with(Fault::FullAt(operation))
    }

    /// From operation `operation` on, creating and writing find the disk full, and so do flushes
    /// and syncs of bytes not flushed before. What needs no room goes on.
    pub fn full_from(self, operation: u64) -> Faults {
        self.with(Fault::FullFrom(operation))
    }

    /// At operation `operation` the process is killed or the power fails, before it, after it or
    /// amid it, and every operation fails from then on.
    pub fn crash_at(self, operation: u64) -> Faults {
        self.with(Fault::CrashAt(operation))
    }

    fn with(mut self, fault: Fault) -> Faults {
        self.faults.push(fault);
        self
    }

    pub(super) fn crashes(&self, operation: u64) -> bool {
        self.faults.contains(&Fault::CrashAt(operation))
    }

    pub(super) fn verdict(
        &self,
        operation: u64,
        action: &'static str,
        name: &str,
        needs_room: bool,
    ) -> Verdict {
        let strikes = |fault: &&Fault| match **fault {
            Fault::IoErrorAt(at) | Fault::FullAt(at) | Fault::CrashAt(at) => operation == at,
            Fault::FullFrom(first) => operation >= first && needs_room,
            Fault::SyncErrorFrom(first) => operation >= first && action == "sync",
        };
        let Some(fault) = self.faults.iter().find(strikes) else { return Verdict::Go };
        let amount = Random::new(self.seed ^ operation.rotate_left(32)).next();
        let error = match fault {
            Fault::CrashAt(_) => crash(action, name),
            Fault::IoErrorAt(_) | Fault::SyncErrorFrom(_) => {
                Error::io(action, name, io::Error::other("a planned failure"))
            }
            Fault::FullAt(_) | Fault::FullFrom(_) => {
                Error::Full { file: name.to_owned(), limit: None }
            }
        };
        // Only a write, or the sync of a file, is done in part and fails.
        let in_part = matches!(fault, Fault::CrashAt(_)) || ["write", "sync"].contains(&action);
        Verdict::Fail { error, done: in_part.then_some(amount) }
    }
}

/// The failure of every operation from a crash on.
pub(super) fn crash(action: &'static str, name: &str) -> Error {
    Error::io(action, name, io::Error::other("a planned crash"))
}
