//! Examples `increment` and `increment_lock`: threads that each increment a number, in two steps.

use super::{MEMORY, exclusive_search, stateright_states};
use serde::{Deserialize, Serialize};
use spillway::SearchVerdict;
use spillway_stateright::Stateright;
use stateright::{Checker, Model, Property, Representative};

#[derive(Clone)]
struct Adders {
    threads: usize,
    lock: bool,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    number: u8,
    is_locked: bool,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Thread {
    at: ThreadLocation,
    /// The number that the thread read last.
    read: u8,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ThreadLocation {
    Begin,
    Holding,
    Wrote,
    Read,
    End,
}

impl Representative for Sum {
    fn representative(&self) -> Self {
        let mut sum = self.clone();
        sum.threads.sort();
        sum
    }
}

impl Model for Adders {
    type State = Sum;
    type Action = usize;

    fn init_states(&self) -> Vec<Sum> {
        let at = if self.lock { ThreadLocation::Begin } else { ThreadLocation::Holding };
        vec![Sum {
            number: 0,
            is_locked: false,
            threads: vec![Thread { at, read: 0 }; self.threads],
        }]
    }

    fn actions(&self, _: &Sum, actions: &mut Vec<usize>) {
        actions.extend(0..self.threads);
    }

    fn next_state(&self, state: &Sum, thread: usize) -> Option<Sum> {
        let mut next = state.clone();
        let own = &mut next.threads[thread];
        own.at = match own.at {
            ThreadLocation::Begin if state.is_locked => return None,
            ThreadLocation::Begin => {
                next.is_locked = true;
                ThreadLocation::Holding
            }
            ThreadLocation::Holding => {
                own.read = state.number;
                ThreadLocation::Read
            }
            ThreadLocation::Read => {
                next.number = own.read + 1;
                ThreadLocation::Wrote
            }
            ThreadLocation::Wrote if self.lock => {
                next.is_locked = false;
                ThreadLocation::End
            }
            ThreadLocation::Wrote | ThreadLocation::End => return None,
        };
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut all = vec![Property::always("nothing is lost", |_, state: &Sum| {
            let wrote = |it: &&Thread| matches!(it.at, ThreadLocation::Wrote | ThreadLocation::End);
            state.threads.iter().filter(wrote).count() == usize::from(state.number)
        })];
        if self.lock {
            all.push(Property::always("one at a time", |_, state: &Sum| {
                let holds =
                    |it: &&Thread| !matches!(it.at, ThreadLocation::Begin | ThreadLocation::End);
                state.threads.iter().filter(holds).count() <= 1
            }));
            all.push(Property::eventually("all end", |_, state: &Sum| {
                state.threads.iter().all(|it| it.at == ThreadLocation::End)
            }));
        }
        all
    }
}

#[test]
fn a_race_has_the_documented_number_of_states() {
    let _exclusive = exclusive_search();
    let race = Adders { threads: 2, lock: false };
    let found = |model: &Stateright<'_, Adders>| {
        model.check().memory(MEMORY).keep_going().run().unwrap().states()
    };
    assert_eq!(found(&Stateright::new(&race)), 13);
    assert_eq!(found(&Stateright::new(&race).symmetry()), 8);
}

#[test]
fn a_race_has_a_shortest_counterexample() {
    let _exclusive = exclusive_search();
    let race = Adders { threads: 3, lock: false };
    let theirs = race.clone().checker().spawn_bfs().join().discovery("nothing is lost").unwrap();
    for model in [Stateright::new(&race), Stateright::new(&race).symmetry()] {
        let found = model.check().memory(MEMORY).run().unwrap();
        assert_eq!(found.verdict(), SearchVerdict::Violated);
        let ours = found.counterexample_of("nothing is lost").unwrap().unwrap();
        assert_eq!((ours.depth(), ours.depth() < theirs.clone().into_states().len()), (4, true));
    }
}

#[test]
fn a_lock_prevents_the_race() {
    let _exclusive = exclusive_search();
    let lock = Adders { threads: 4, lock: true };
    let model = Stateright::new(&lock);
    let found = model.check().memory(MEMORY).run().unwrap();
    assert_eq!(
        (found.verdict(), found.states()),
        (SearchVerdict::Verified, stateright_states(&lock))
    );

    let model = Stateright::new(&lock).symmetry();
    let found = model.check().memory(MEMORY).run().unwrap();
    let theirs = lock.clone().checker().symmetry().spawn_dfs().join().unique_state_count();
    assert_eq!((found.verdict(), found.states()), (SearchVerdict::Verified, theirs as u64));
    assert!(found.states() < stateright_states(&lock));
}
