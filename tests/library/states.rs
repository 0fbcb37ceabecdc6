//! The encoding of states of Rust types. A state that is too long, is not decoded to itself, or panics is reported as
//! that.

use super::alone;
use crate::support::memory::memory_beside_tests;
use serde::{Deserialize, Serialize};
use spillway::session::Error;
use spillway::system::PackingError;
use spillway::{Check, PackedSystem, Property, SearchVerdict, TransitionSystem, check_consistency};
use std::collections::HashSet;

/// Counts, and keeps what it counted from some number on.
struct Memory {
    from: u32,
    to: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    at: u32,
    kept: Vec<u32>,
}

impl TransitionSystem for Memory {
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
fn states_that_grow_are_searched_with_more_bytes() {
    let _alone = alone();
    let system = Memory { from: 4500, to: 4600 };
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
    let told = error.to_string();
    assert!(takes > room && told.contains("give `Check::state_bytes` at least"), "{told}");
    assert!(told.contains("Counted { at: 45"), "{told}");
    let folder = tempfile::tempdir().unwrap();
    let found = ask().state_bytes(300).dir(folder.path()).run().unwrap();
    assert_eq!(found.states(), 4601);
}

/// Sets that grow, in no order.
struct Sets;

impl TransitionSystem for Sets {
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
fn states_without_an_order_are_found_out() {
    let _alone = alone();
    let error = Check::new(&Sets).memory(memory_beside_tests(512)).run().err().unwrap();
    assert!(matches!(error, Error::Misfit(PackingError::Unsteady { .. })), "{error}");
    assert!(error.to_string().contains("use BTreeMap and BTreeSet"), "{error}");
    assert!(check_consistency(&PackedSystem::new(&Sets), 1000, 1).is_err());
}

/// A state that is read as something else than was written.
#[derive(Debug)]
struct Crooked(u8);

impl Serialize for Crooked {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Crooked {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u8::deserialize(from)? {
            3 => Err(serde::de::Error::custom("three is none")),
            other => Ok(Crooked(other)),
        }
    }
}

struct Up;

impl TransitionSystem for Up {
    type State = Crooked;
    type Action = ();

    fn initial(&self) -> Vec<Crooked> {
        vec![Crooked(0)]
    }

    fn actions(&self, _: &Crooked, actions: &mut Vec<()>) {
        actions.push(());
    }

    fn next(&self, state: &Crooked, (): &()) -> Option<Crooked> {
        Some(Crooked((state.0 + 1) % 9))
    }
}

#[test]
fn states_that_do_not_come_back_are_told() {
    let _alone = alone();
    let error = Check::new(&Up).memory(memory_beside_tests(512)).run().err().unwrap();
    assert!(matches!(error, Error::Misfit(PackingError::Unreadable { .. })), "{error}");
    assert!(error.to_string().contains("`Deserialize` must undo `Serialize`"), "{error}");
}

/// What panics when it counts that far.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Panics {
    Initial,
    Actions,
    Next,
    MayEnd,
    Property,
}

struct Brittle(Panics);

impl Brittle {
    fn break_if(&self, panics: Panics, at: u8) {
        assert!(self.0 != panics || at < 3, "{panics:?} at {at}");
    }
}

impl TransitionSystem for Brittle {
    type State = u8;
    type Action = u8;

    fn initial(&self) -> Vec<u8> {
        self.break_if(Panics::Initial, 9);
        vec![0]
    }

    fn actions(&self, &at: &u8, actions: &mut Vec<u8>) {
        self.break_if(Panics::Actions, at);
        if at < 6 {
            actions.extend([1, 2]);
        }
    }

    fn next(&self, &at: &u8, &by: &u8) -> Option<u8> {
        self.break_if(Panics::Next, at);
        Some(at + by)
    }

    fn may_end(&self, &at: &u8) -> bool {
        self.break_if(Panics::MayEnd, at);
        true
    }

    fn properties(&self) -> Vec<Property<'_, u8>> {
        vec![Property::always("small", |&at| {
            self.break_if(Panics::Property, at);
            at < 200
        })]
    }
}

#[test]
fn a_panic_is_an_error_of_the_model_with_the_way_there() {
    let _alone = alone();
    for (panics, depth, title) in [
        (Panics::Actions, 3, "computing the actions"),
        (Panics::Next, 3, "1"),
        (Panics::MayEnd, 4, "evaluating whether it may end"),
        (Panics::Property, 3, "evaluating `small`"),
    ] {
        let system = Brittle(panics);
        let found = Check::new(&system).memory(memory_beside_tests(512)).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Violated, "{panics:?}");
        let way = found.counterexample().unwrap().unwrap();
        assert_eq!(way.depth(), depth, "{panics:?}");
        let shown = found.to_string();
        let said = format!("it panics: {panics:?} at ");
        assert!(shown.contains(&said) && shown.contains(title), "{shown}");
        assert!(shown.contains("tests/library/states.rs:"), "{shown}");
        assert_eq!(check_consistency(&PackedSystem::new(&system), 200, 1), Ok(()), "{panics:?}");
    }
    let error =
        Check::new(&Brittle(Panics::Initial)).memory(memory_beside_tests(512)).run().err().unwrap();
    assert!(error.to_string().contains("it panics: Initial at 9"), "{error}");
}
