//! Outputs that a build may lack.

use super::failure::CommandFailure;
use crate::session::SearchOutputs;

/// Returns an error if this build cannot write a requested file.
pub(super) fn reject_unbuilt(outputs: &SearchOutputs) -> Result<(), CommandFailure> {
    match outputs.junit.is_some() && !cfg!(feature = "junit") {
        true => Err(CommandFailure::wrong(
            "this build writes no JUnit files: it was built without the feature `junit`",
        )),
        false => Ok(()),
    }
}
