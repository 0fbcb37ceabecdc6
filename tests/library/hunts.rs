//! Hunts of the search of a Rust type.

use super::exclusive_search;
use crate::support::memory::memory_beside_tests;
use spillway::{Check, CheckResult, Property, SearchVerdict, TransitionSystem};

/// Three counters up to the same number. The first one must not reach it.
struct CounterTriple(u8);

impl TransitionSystem for CounterTriple {
    type State = [u8; 3];
    type Action = usize;

    fn initial(&self) -> Vec<[u8; 3]> {
        vec![[0; 3]]
    }

    fn actions(&self, state: &[u8; 3], actions: &mut Vec<usize>) {
        actions.extend((0..3).filter(|&it| state[it] < self.0));
    }

    fn next(&self, state: &[u8; 3], &at: &usize) -> Option<[u8; 3]> {
        let mut next = *state;
        next[at] += 1;
        Some(next)
    }

    fn may_end(&self, _: &[u8; 3]) -> bool {
        true
    }

    fn properties(&self) -> Vec<Property<'_, [u8; 3]>> {
        vec![Property::always("low", |state: &[u8; 3]| state[0] < self.0)]
    }
}

fn states_of_counterexample(found: &CheckResult<'_>) -> Vec<Vec<u8>> {
    found.counterexample().unwrap().unwrap().trace().states
}

#[test]
fn a_hunt_finds_a_deep_violation_of_a_rust_type() {
    let _exclusive = exclusive_search();
    let system = CounterTriple(90);
    let found = Check::new(&system).memory(memory_beside_tests(512)).threads(1).run().unwrap();
    let hunted = found.outcome().hunted.clone().unwrap();
    assert_eq!((found.verdict(), hunted.is_shortest), (SearchVerdict::Violated, false));
    assert!(found.outcome().levels.len() < 80);
    let states = states_of_counterexample(&found);
    assert!(states.len() > 90);
    let shown = found.to_string();
    assert!(shown.contains("; there may be a shorter one\n"), "{shown}");
    assert!(shown.contains(" found the violation; "), "{shown}");

    // Two threads, and a second check from the directory, have the same result.
    let folder = tempfile::tempdir().unwrap();
    let kept =
        || Check::new(&system).memory(memory_beside_tests(512)).threads(2).dir(folder.path());
    for _ in 0..2 {
        let repeated = kept().run().unwrap();
        assert_eq!(repeated.outcome(), found.outcome());
        assert_eq!(states_of_counterexample(&repeated), states);
    }

    let found = Check::new(&system).memory(memory_beside_tests(512)).no_dive().run().unwrap();
    assert_eq!((found.outcome().hunted.clone(), found.violations()[0].depth), (None, 90));
    assert!(found.violations()[0].shortest);
}
