//! Settings of a search with the names of Stateright's methods.

use super::{MEMORY, exclusive_search, search_all};
use serde::{Deserialize, Serialize};
use spillway::{CheckResult, SearchVerdict};
use spillway_stateright::Stateright;
use stateright::{HasDiscoveries, Model, Property};
use std::collections::BTreeSet;

/// The points of a square. Steps go to the right or upwards.
#[derive(Clone)]
struct Square {
    side: u8,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct Point {
    x: u8,
    y: u8,
}

impl Model for Square {
    type State = Point;
    type Action = char;

    fn init_states(&self) -> Vec<Point> {
        vec![Point { x: 0, y: 0 }]
    }

    fn actions(&self, _: &Point, actions: &mut Vec<char>) {
        actions.extend(['x', 'y']);
    }

    fn next_state(&self, &Point { x, y }: &Point, action: char) -> Option<Point> {
        let next = if action == 'x' { Point { x: x + 1, y } } else { Point { x, y: y + 1 } };
        (next.x.max(next.y) < self.side).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("sum is not 10", |_, it: &Point| it.x + it.y != 10),
            Property::always("x is not 20", |_, it: &Point| it.x != 20),
            Property::always("x is small", |_, it: &Point| it.x < 200),
            Property::sometimes("y is 5", |_, it: &Point| it.y == 5),
            Property::eventually("x is 2", |_, it: &Point| it.x == 2),
        ]
    }
}

const SQUARE: Square = Square { side: 100 };

fn search_end(finish_when: HasDiscoveries) -> (SearchVerdict, usize) {
    let model = Stateright::new(&SQUARE).finish_when(finish_when);
    let found = model.check().memory(MEMORY).run().unwrap();
    (found.verdict(), found.outcome().levels.len())
}

#[test]
fn finish_when_determines_the_end_of_a_search() {
    let _exclusive = exclusive_search();
    let names = |all: &[&'static str]| all.iter().copied().collect::<BTreeSet<_>>();
    // The level of the last discovery is the last level.
    assert_eq!(search_end(HasDiscoveries::Any), (SearchVerdict::Incomplete, 6));
    assert_eq!(search_end(HasDiscoveries::AnyFailures), (SearchVerdict::Violated, 11));
    assert_eq!(
        search_end(HasDiscoveries::AnyOf(names(&["x is 20", "y is 5"]))),
        (SearchVerdict::Incomplete, 6)
    );
    let both = names(&["x is not 20", "sum is not 10"]);
    assert_eq!(search_end(HasDiscoveries::AllOf(both)), (SearchVerdict::Violated, 21));
    // A property without a discovery keeps the search running over all states.
    assert_eq!(search_end(HasDiscoveries::AllFailures), (SearchVerdict::Violated, 199));
    assert_eq!(search_end(HasDiscoveries::All), (SearchVerdict::Violated, 199));
}

/// Returns the depth of the counterexample or example of each property.
fn depths(found: &CheckResult<'_>) -> [Option<usize>; 4] {
    let depth = |name| found.counterexample_of(name).unwrap().map(|it| it.depth());
    let example = found.example("y is 5").unwrap().map(|it| it.depth());
    [depth("sum is not 10"), depth("x is not 20"), depth("x is small"), example]
}

#[test]
fn each_violated_property_has_a_counterexample() {
    let _exclusive = exclusive_search();
    let model = Stateright::new(&SQUARE);
    assert_eq!(depths(&search_all(&model)), [Some(10), Some(20), None, Some(5)]);
    let found = model.check().memory(MEMORY).run().unwrap();
    assert_eq!(depths(&found), [Some(10), None, None, Some(5)]);
    // A search that waits for several discoveries has their paths, too.
    let both = ["x is not 20", "sum is not 10"].into();
    let model = Stateright::new(&SQUARE).finish_when(HasDiscoveries::AllOf(both));
    let found = model.check().memory(MEMORY).run().unwrap();
    assert_eq!(depths(&found), [Some(10), Some(20), None, Some(5)]);
    assert_eq!(found.counterexample().unwrap().unwrap().depth(), 10);
    assert!(found.to_string().contains("sum is not 10"), "{found}");
}

#[test]
fn a_search_with_a_depth_bound_can_be_continued() {
    let _exclusive = exclusive_search();
    let folder = tempfile::tempdir().unwrap();
    let depth = |depth| {
        let model = Stateright::new(&SQUARE).target_max_depth(depth);
        let check = model.check().memory(MEMORY).keep_going().dir(folder.path());
        let found = check.run().unwrap();
        (found.verdict(), found.states(), found.outcome().levels.len())
    };
    assert_eq!(depth(5), (SearchVerdict::Incomplete, 15, 5));
    assert_eq!(depth(5), (SearchVerdict::Incomplete, 15, 5));
    assert_eq!(depth(10), (SearchVerdict::Incomplete, 55, 10));
    // States of the last level are checked.
    assert_eq!(depth(11), (SearchVerdict::Violated, 66, 11));
    assert_eq!(depth(0), (SearchVerdict::Violated, 10_000, 199));
}

/// A state space in which each state has many successors. One state in the middle of the second level is a violation.
#[derive(Clone)]
struct Fan {
    wrong: u32,
}

impl Model for Fan {
    type State = (u8, u32);
    type Action = u32;

    fn init_states(&self) -> Vec<(u8, u32)> {
        vec![(0, 0)]
    }

    fn actions(&self, state: &(u8, u32), actions: &mut Vec<u32>) {
        actions.extend(0..[20_000, 100, 0][usize::from(state.0)]);
    }

    fn next_state(&self, state: &(u8, u32), action: u32) -> Option<(u8, u32)> {
        match state.0 {
            0 => Some((1, action)),
            1 => Some((2, state.1 % 64 * 100 + action)),
            _ => None,
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("right", |fan: &Fan, state: &(u8, u32)| {
            state.0 != 1 || state.1 < fan.wrong
        })]
    }
}

#[test]
fn a_violation_ends_the_search_within_its_level() {
    let _exclusive = exclusive_search();
    let fan = Fan { wrong: 300 };
    let model = Stateright::new(&fan);
    for threads in [1, 2] {
        let found = model.check().memory(MEMORY).threads(threads).run().unwrap();
        let right = found.counterexample_of("right").unwrap().unwrap();
        assert_eq!((found.verdict(), right.depth()), (SearchVerdict::Violated, 1));
        // The search expands the states up to the first wrong one, in the order of their bytes.
        let transitions = found.outcome().counters.transitions;
        assert!(transitions < 20_000 + 100 * 10_000, "{transitions}");
        assert_eq!(transitions % 100, 0);
        let again = model.check().memory(MEMORY).threads(3 - threads).run().unwrap();
        assert_eq!(again.outcome(), found.outcome());
        let all = model.check().memory(MEMORY).keep_going().run().unwrap();
        assert_eq!(all.outcome().counters.transitions, 20_000 + 100 * 20_000);
    }
}
