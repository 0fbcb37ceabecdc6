//! JUnit XML, in a build that does not write it. The command line rejects `--junit` before a search begins.

use super::FailureReport;
use crate::report::JudgementReport;

/// Is not called in this build.
pub fn junit(_: &JudgementReport) -> String {
    unreachable!("this build rejects `--junit`")
}

/// Is not called in this build.
pub fn junit_of_failure(_: &FailureReport) -> String {
    unreachable!("this build rejects `--junit`")
}
