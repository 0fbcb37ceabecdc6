//! What goes wrong on a [`FaultDisk`](crate::FaultDisk), and at which operation.

use super::power_loss::FaultRng;
use crate::disk::error::Error;
use std::io;

/// The operations that go wrong, by their numbers, which begin with 0.
///
/// A write that fails first writes a prefix of its bytes, of any length. A sync of a file that fails
/// either does nothing, or leaves it unknown for good which of the bytes it was to write are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Decides how much is done of what fails.
    seed: u64,
    /// Of several that strike an operation the first does.
    faults: Vec<PlannedFault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlannedFault {
    IoErrorAt(u64),
    SyncErrorFrom(u64),
    FullAt(u64),
    FullFrom(u64),
    CrashAt(u64),
}

/// How an operation ends.
pub(super) enum OperationOutcome {
    Go,
    Fail {
        error: Error,
        /// A random number to decide how much of the operation is done before it fails; nothing
        /// if there is none.
        done: Option<u64>,
    },
}

impl FaultPlan {
    /// A plan by which nothing goes wrong.
    pub fn new() -> FaultPlan {
        FaultPlan::default()
    }

    /// Varies how much of an operation is done before it fails or crashes.
    pub fn seed(self, seed: u64) -> FaultPlan {
        FaultPlan { seed, ..self }
    }

    /// Operation `operation` fails with an I/O error.
    pub fn io_error_at(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::IoErrorAt(operation))
    }

    /// From operation `operation` on, every sync of a file or of the directory fails.
    pub fn sync_error_from(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::SyncErrorFrom(operation))
    }

    /// Operation `operation` finds the disk full.
    pub fn full_at(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::FullAt(operation))
    }

    /// From operation `operation` on, creating and writing find the disk full, and so do flushes
    /// and syncs of bytes not flushed before. What needs no room goes on.
    pub fn full_from(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::FullFrom(operation))
    }

    /// At operation `operation` the process is killed or the power fails, before it, after it or
    /// amid it, and every operation fails from then on.
    pub fn crash_at(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::CrashAt(operation))
    }

    fn with_fault(mut self, fault: PlannedFault) -> FaultPlan {
        self.faults.push(fault);
        self
    }

    pub(super) fn crashes(&self, operation: u64) -> bool {
        self.faults.contains(&PlannedFault::CrashAt(operation))
    }

    pub(super) fn verdict(
        &self,
        operation: u64,
        action: &'static str,
        name: &str,
        needs_room: bool,
    ) -> OperationOutcome {
        let strikes = |fault: &&PlannedFault| match **fault {
            PlannedFault::IoErrorAt(at) | PlannedFault::FullAt(at) | PlannedFault::CrashAt(at) => {
                operation == at
            }
            PlannedFault::FullFrom(first) => operation >= first && needs_room,
            PlannedFault::SyncErrorFrom(first) => operation >= first && action == "sync",
        };
        let Some(fault) = self.faults.iter().find(strikes) else { return OperationOutcome::Go };
        let amount = FaultRng::new(self.seed ^ operation.rotate_left(32)).next();
        let error = match fault {
            PlannedFault::CrashAt(_) => crash(action, name),
            PlannedFault::IoErrorAt(_) | PlannedFault::SyncErrorFrom(_) => {
                Error::io(action, name, io::Error::other("a planned failure"))
            }
            PlannedFault::FullAt(_) | PlannedFault::FullFrom(_) => {
                Error::Full { file: name.to_owned(), limit: None }
            }
        };
        // Only a write, or the sync of a file, is done in part and fails.
        let in_part =
            matches!(fault, PlannedFault::CrashAt(_)) || ["write", "sync"].contains(&action);
        OperationOutcome::Fail { error, done: in_part.then_some(amount) }
    }
}

/// The failure of every operation from a crash on.
pub(super) fn crash(action: &'static str, name: &str) -> Error {
    Error::io(action, name, io::Error::other("a planned crash"))
}
