//! Trying random things.

use crate::support::is_large;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};

/// In a large run so many times as many are tried.
const LARGE: u32 = 40;

/// Tries random things; the first that fails is simplified and shown.
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
