//! The verdicts on the `eventually` properties of a Rust type, as a search directory stores them.

use crate::report::EventuallyResult;
use crate::search::checkpoint::FORMAT;
use crate::search::files::EVENTUALLY_VERDICTS;
use rkyv::{Archive, Deserialize, Serialize};
use spill::Disk;

/// The verdicts on all `eventually` properties. They are stored because the verdict on states does not cover runs, and
/// because only the program that defines the type can check these properties.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub(super) struct EventuallyVerdicts {
    /// The digest of the model.
    digest: [u8; 32],
    all: Vec<EventuallyResult>,
}

impl EventuallyVerdicts {
    /// Creates the verdicts for the model with this digest.
    pub(super) fn of(digest: [u8; 32], all: Vec<EventuallyResult>) -> EventuallyVerdicts {
        EventuallyVerdicts { digest, all }
    }

    pub(super) fn commit(&self, disk: &dyn Disk) -> spill::Result<()> {
        spill::commit_value(disk, EVENTUALLY_VERDICTS, FORMAT, self)
    }

    /// Reads the verdicts for the model with this digest.
    pub(super) fn load(disk: &dyn Disk, digest: [u8; 32]) -> spill::Result<Vec<EventuallyResult>> {
        let kept: EventuallyVerdicts = spill::load_value(disk, EVENTUALLY_VERDICTS, FORMAT)?;
        match kept.digest == digest {
            true => Ok(kept.all),
            false => {
                let why = "it does not belong to the job";
                Err(spill::Error::corrupt(EVENTUALLY_VERDICTS, 0, why))
            }
        }
    }
}
