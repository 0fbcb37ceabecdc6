//! The driver of property tests.

use crate::support::is_large;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// The factor by which a large run has more cases.
const LARGE: u32 = 40;

/// Tries random values; the first one that fails is simplified and printed.
pub fn try_all<S: Strategy>(
    cases: u32,
    strategy: S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let cases = if is_large() { LARGE * cases } else { cases };
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    };
    if let Err(failure) = TestRunner::new(config).run(&strategy, test) {
        panic!("{failure}");
    }
}
