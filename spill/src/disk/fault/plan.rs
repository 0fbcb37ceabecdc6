//! The faults of a [`FaultDisk`](crate::FaultDisk), and the operations at which they occur.

use super::power_loss::FaultRng;
use crate::disk::error::Error;
use std::io;

/// The operations that fail, by their numbers, which begin with 0.
///
/// A write that fails first writes a prefix of its bytes, of any length. A failing sync of a file either does nothing,
/// or leaves it permanently unknown which of its bytes are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Determines how much of a failing operation is done.
    seed: u64,
    /// If several faults apply to an operation, the first one counts.
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

/// The outcome of an operation.
pub(super) enum OperationOutcome {
    Go,
    Fail {
        error: Error,
        /// A random number that determines how much of the operation is done before it fails; `None` if nothing is
        /// done.
        done: Option<u64>,
    },
}

impl FaultPlan {
    /// Creates a plan without faults.
    pub fn new() -> FaultPlan {
        FaultPlan::default()
    }

    /// Sets the seed of the choice how much of an operation is done before it fails or crashes.
    pub fn seed(self, seed: u64) -> FaultPlan {
        FaultPlan { seed, ..self }
    }

    /// Makes operation `operation` fail with an I/O error.
    pub fn io_error_at(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::IoErrorAt(operation))
    }

    /// Makes every sync of a file or of the directory fail from operation `operation` on.
    pub fn sync_error_from(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::SyncErrorFrom(operation))
    }

    /// Makes operation `operation` find the disk full.
    pub fn full_at(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::FullAt(operation))
    }

    /// Makes the disk full from operation `operation` on: creating and writing fail, and so do flushes and syncs of
    /// bytes that were not flushed before. Operations that need no space succeed.
    pub fn full_from(self, operation: u64) -> FaultPlan {
        self.with_fault(PlannedFault::FullFrom(operation))
    }

    /// Kills the process or the power at operation `operation`: before it, after it or during it. Every later
    /// operation fails.
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
        // Only a write, or the sync of a file, can be done in part.
        let in_part =
            matches!(fault, PlannedFault::CrashAt(_)) || ["write", "sync"].contains(&action);
        OperationOutcome::Fail { error, done: in_part.then_some(amount) }
    }
}

/// Returns the failure of every operation after a crash.
pub(super) fn crash(action: &'static str, name: &str) -> Error {
    Error::io(action, name, io::Error::other("a planned crash"))
}
