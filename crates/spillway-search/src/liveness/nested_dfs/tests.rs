//! Tests of the cycle proviso of the nested depth-first search, on random graphs.

use super::*;
use spillway_base::random::SplitMix64;
use spillway_model::{Capabilities, CycleProvisoStateSpace, SystemDescription, any_bits};
use std::collections::BTreeSet;

/// The number of states of the system of a random product.
const SYSTEM: u8 = 6;

/// The number of locations of its automaton.
const LOCATIONS: u8 = 3;

/// A product, given by its transitions. A state is two bytes: the state of the system, and the location.
#[derive(Default)]
struct RandomProduct {
    /// The successors by chosen transitions, by the number of the state.
    chosen: Vec<Vec<[u8; 2]>>,
    /// The successors by the other transitions.
    others: Vec<Vec<[u8; 2]>>,
    accepting: BTreeSet<[u8; 2]>,
}

/// Returns a random state.
fn draw(random: &mut SplitMix64) -> [u8; 2] {
    [random.below(SYSTEM.into()) as u8, random.below(LOCATIONS.into()) as u8]
}

fn number(state: &[u8]) -> usize {
    usize::from(state[0]) * usize::from(LOCATIONS) + usize::from(state[1])
}

fn all_states() -> impl Iterator<Item = [u8; 2]> {
    (0..SYSTEM).flat_map(|system| (0..LOCATIONS).map(move |location| [system, location]))
}

impl RandomProduct {
    fn of(seed: u64) -> RandomProduct {
        let mut random = SplitMix64::new(seed);
        let mut product = RandomProduct::default();
        // In some states of the system nothing is omitted.
        let is_reduced: Vec<bool> = (0..SYSTEM).map(|_| random.below(4) > 0).collect();
        for [system, _] in all_states() {
            let count = 1 + random.below(2);
            product.chosen.push((0..count).map(|_| draw(&mut random)).collect());
            let others = match is_reduced[usize::from(system)] {
                true => vec![draw(&mut random)],
                false => Vec::new(),
            };
            product.others.push(others);
        }
        let count = random.below(4);
        product.accepting = (0..count).map(|_| draw(&mut random)).collect();
        product
    }

    fn successors(&self, state: &[u8], is_full: bool) -> Vec<[u8; 2]> {
        let chosen = &self.chosen[number(state)];
        let others = self.others[number(state)].iter().filter(|_| is_full);
        chosen.iter().chain(others).copied().collect()
    }

    fn expand_by(&self, states: &[u8], is_full: bool, out: &mut SuccessorSink) {
        for state in states.chunks_exact(2) {
            self.successors(state, is_full).iter().for_each(|it| out.candidate(it));
            out.count_partially_expanded(u64::from(
                !is_full && !self.others[number(state)].is_empty(),
            ));
        }
    }
}

impl StateSpace for RandomProduct {
    fn width(&self) -> usize {
        2
    }

    fn bits(&self) -> u32 {
        16
    }

    fn initial(&self, out: &mut SuccessorSink) {
        out.candidate(&[0, 0]);
    }

    fn expand(&self, states: &[u8], out: &mut SuccessorSink) {
        self.expand_by(states, true, out);
    }

    fn write_masks(&self) -> Vec<Vec<u8>> {
        any_bits(2)
    }

    fn digest(&self) -> [u8; 32] {
        [0; 32]
    }

    fn description(&self) -> &dyn SystemDescription {
        unreachable!("nothing is shown of it")
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities { cycle_proviso: Some(self), ..Capabilities::NONE }
    }
}

impl CycleProvisoStateSpace for RandomProduct {
    fn expand_chosen(&self, states: &[u8], out: &mut SuccessorSink) {
        self.expand_by(states, false, out);
    }

    fn expand_fully(&self, states: &[u8], out: &mut SuccessorSink) {
        self.expand_by(states, true, out);
    }

    fn choosing_part<'s>(&self, state: &'s [u8]) -> &'s [u8] {
        &state[..1]
    }
}

/// Returns the reachable states, given the successors.
fn reachable(successors: &dyn Fn(&[u8]) -> Vec<[u8; 2]>) -> BTreeSet<[u8; 2]> {
    let (mut found, mut open) = (BTreeSet::from([[0, 0]]), vec![[0, 0]]);
    while let Some(state) = open.pop() {
        open.extend(successors(&state).into_iter().filter(|it| found.insert(*it)));
    }
    found
}

/// Returns the states on cycles within a set of states.
fn on_cycles(
    states: &BTreeSet<[u8; 2]>,
    successors: &dyn Fn(&[u8]) -> Vec<[u8; 2]>,
) -> BTreeSet<[u8; 2]> {
    let comes_back = |state: &&[u8; 2]| {
        let mut found: BTreeSet<[u8; 2]> = BTreeSet::new();
        let mut open = vec![**state];
        while let Some(at) = open.pop() {
            let next = successors(&at).into_iter().filter(|it| states.contains(it));
            open.extend(next.filter(|it| found.insert(*it)));
        }
        found.contains(*state)
    };
    states.iter().filter(comes_back).copied().collect()
}

/// If a search finds no accepting cycle, the reduced product has none, and each of its cycles has a fully expanded state.
#[test]
fn each_cycle_has_a_fully_expanded_state() {
    let limits = ProbeLimits { states: 1_000, bytes: 1 << 20 };
    let (mut none, mut found, mut reduced) = (0, 0, 0);
    for seed in 0..5_000 {
        let product = RandomProduct::of(seed);
        let accepts = |state: &[u8]| product.accepting.contains(state);
        let control = SearchControl::default();
        let mut search = NestedDfs::new(&product, &accepts, limits, &control);
        let ending = search.search_until_closed(&[0, 0]).unwrap();
        let whole = |state: &[u8]| product.successors(state, true);
        let has_accepting = |successors: &dyn Fn(&[u8]) -> Vec<[u8; 2]>| {
            let states = reachable(successors);
            on_cycles(&states, successors).iter().any(|it| accepts(it))
        };
        match ending {
            DfsOutcome::Cycle(_) => {
                assert!(has_accepting(&whole), "{seed}");
                found += 1;
            }
            DfsOutcome::Through => {
                let proviso = search.proviso.as_ref().unwrap();
                let successors =
                    |state: &[u8]| product.successors(state, proviso.must_be_full(state));
                let states = reachable(&successors);
                let visited: BTreeSet<[u8; 2]> =
                    search.states.iter().map(|it| [it[0], it[1]]).collect();
                assert_eq!(visited, states, "{seed}");
                assert!(!has_accepting(&successors), "{seed}");
                let is_full = |state: &[u8]| {
                    proviso.must_be_full(state) || product.others[number(state)].is_empty()
                };
                // The choice must not depend on the location.
                let is_alike =
                    |it: [u8; 2]| proviso.must_be_full(&it) == proviso.must_be_full(&[it[0], 0]);
                assert!(all_states().all(is_alike), "{seed}");
                let partial = states.iter().copied().filter(|it| !is_full(it)).collect();
                assert_eq!(on_cycles(&partial, &successors), BTreeSet::new(), "{seed}");
                none += 1;
                reduced += u32::from(states.len() < reachable(&whole).len());
            }
            DfsOutcome::Over => panic!("{seed}: too many starts"),
        }
    }
    assert!(none > 1_000 && found > 1_000 && reduced > 300, "{none} {found} {reduced}");
}
