//! The encoding of states of Rust types. A state that is too long, is not decoded to itself, or panics is reported as
//! such.

use super::exclusive_search;
use crate::support::memory::memory_beside_tests;
use serde::{Deserialize, Serialize};
use spillway::session::Error;
use spillway::system::PackingError;
use spillway::{Check, PackedSystem, Property, SearchVerdict, TransitionSystem, check_consistency};
use std::collections::HashSet;

/// Counts, and keeps the numbers from some number on.
struct HistoryCounter {
    from: u32,
    to: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    at: u32,
    kept: Vec<u32>,
}

impl TransitionSystem for HistoryCounter {
    type State = Counted;
    type Action = ();

    fn initial(&self) -> Vec<Counted> {
        vec![Counted { at: 0, kept: Vec::new() }]
    }

    fn actions(&self, _: &Counted, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &Counted, (): &()) -> Option<Counted> {
        let mut kept = state.kept.clone();
        kept.extend((state.at >= self.from).then_some(state.at));
        (state.at < self.to).then_some(Counted { at: state.at + 1, kept })
    }

    fn may_end(&self, state: &Counted) -> bool {
        state.at == self.to
    }
}

#[test]
fn growing_states_need_more_bytes() {
    let _exclusive = exclusive_search();
    let system = HistoryCounter { from: 4500, to: 4600 };
    let found = Check::new(&system).memory(memory_beside_tests(512)).run().unwrap();
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, 4601));

    let ask = || Check::new(&system).memory(memory_beside_tests(512));
    let error = ask().state_bytes(60).run().err().unwrap();
    assert!(matches!(error, Error::Misfit(PackingError::TooLong { room: 60, .. })), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let error = ask().dir(folder.path()).run().err().unwrap();
    let Error::Misfit(PackingError::TooLong { takes, room, .. }) = &error else {
        panic!("{error}")
    };
    let message = error.to_string();
    assert!(takes > room && message.contains("give `Check::state_bytes` at least"), "{message}");
    assert!(message.contains("Counted { at: 45"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let found = ask().state_bytes(300).dir(folder.path()).run().unwrap();
    assert_eq!(found.states(), 4601);
}

/// Sets in hash order.
struct UnorderedSets;

impl TransitionSystem for UnorderedSets {
    type State = HashSet<u8>;
    type Action = u8;

    fn initial(&self) -> Vec<HashSet<u8>> {
        vec![HashSet::new()]
    }

    fn actions(&self, _: &HashSet<u8>, actions: &mut Vec<u8>) {
        actions.extend(0..12);
    }

    fn next(&self, state: &HashSet<u8>, more: &u8) -> Option<HashSet<u8>> {
        let mut state = state.clone();
        state.insert(*more).then_some(state)
    }
}

#[test]
fn states_with_unordered_sets_are_detected() {
    let _exclusive = exclusive_search();
    let error = Check::new(&UnorderedSets).memory(memory_beside_tests(512)).run().err().unwrap();
    assert!(matches!(error, Error::Misfit(PackingError::Unsteady { .. })), "{error}");
    assert!(error.to_string().contains("use BTreeMap and BTreeSet"), "{error}");
    assert!(check_consistency(&PackedSystem::new(&UnorderedSets), 1000, 1).is_err());
}

/// A state that is decoded to another value.
#[derive(Debug)]
struct UnfaithfulState(u8);

impl Serialize for UnfaithfulState {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for UnfaithfulState {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u8::deserialize(from)? {
            3 => Err(serde::de::Error::custom("three is none")),
            other => Ok(UnfaithfulState(other)),
        }
    }
}

struct UnfaithfulCounter;

impl TransitionSystem for UnfaithfulCounter {
    type State = UnfaithfulState;
    type Action = ();

    fn initial(&self) -> Vec<UnfaithfulState> {
        vec![UnfaithfulState(0)]
    }

    fn actions(&self, _: &UnfaithfulState, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &UnfaithfulState, (): &()) -> Option<UnfaithfulState> {
        Some(UnfaithfulState((state.0 + 1) % 9))
    }
}

#[test]
fn states_that_decode_differently_are_detected() {
    let _exclusive = exclusive_search();
    let error =
        Check::new(&UnfaithfulCounter).memory(memory_beside_tests(512)).run().err().unwrap();
    assert!(matches!(error, Error::Misfit(PackingError::Unreadable { .. })), "{error}");
    assert!(error.to_string().contains("`Deserialize` must undo `Serialize`"), "{error}");
}

/// The function that panics from some number on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PanicPlace {
    Initial,
    Actions,
    Next,
    MayEnd,
    Property,
}

struct PanickingCounter(PanicPlace);

impl PanickingCounter {
    fn break_if(&self, panics: PanicPlace, at: u8) {
        assert!(self.0 != panics || at < 3, "{panics:?} at {at}");
    }
}

impl TransitionSystem for PanickingCounter {
    type State = u8;
    type Action = u8;

    fn initial(&self) -> Vec<u8> {
        self.break_if(PanicPlace::Initial, 9);
        vec![0]
    }

    fn actions(&self, &at: &u8, actions: &mut Vec<u8>) {
        self.break_if(PanicPlace::Actions, at);
        if at < 6 {
            actions.extend([1, 2]);
        }
    }

    fn next(&self, &at: &u8, &by: &u8) -> Option<u8> {
        self.break_if(PanicPlace::Next, at);
        Some(at + by)
    }

    fn may_end(&self, &at: &u8) -> bool {
        self.break_if(PanicPlace::MayEnd, at);
        true
    }

    fn properties(&self) -> Vec<Property<'_, u8>> {
        vec![Property::always("small", |&at| {
            self.break_if(PanicPlace::Property, at);
            at < 200
        })]
    }
}

#[test]
fn a_panic_is_a_violation_with_a_counterexample() {
    let _exclusive = exclusive_search();
    for (panics, depth, title) in [
        (PanicPlace::Actions, 3, "computing the actions"),
        (PanicPlace::Next, 3, "1"),
        (PanicPlace::MayEnd, 4, "evaluating whether it may end"),
        (PanicPlace::Property, 3, "evaluating `small`"),
    ] {
        let system = PanickingCounter(panics);
        let found = Check::new(&system).memory(memory_beside_tests(512)).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Violated, "{panics:?}");
        let way = found.counterexample().unwrap().unwrap();
        assert_eq!(way.depth(), depth, "{panics:?}");
        let shown = found.to_string();
        let message = format!("it panics: {panics:?} at ");
        assert!(shown.contains(&message) && shown.contains(title), "{shown}");
        assert!(shown.contains("tests/library/states.rs:"), "{shown}");
        assert_eq!(check_consistency(&PackedSystem::new(&system), 200, 1), Ok(()), "{panics:?}");
    }
    let error = Check::new(&PanickingCounter(PanicPlace::Initial))
        .memory(memory_beside_tests(512))
        .run()
        .err()
        .unwrap();
    assert!(error.to_string().contains("it panics: Initial at 9"), "{error}");
}
