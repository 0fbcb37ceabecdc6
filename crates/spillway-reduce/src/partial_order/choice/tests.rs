use super::*;
use crate::partial_order::test_programs::{interp, state_graph, with_relation};
use spillway_exec::{Interp, SelectiveStateSpace};
use std::collections::BTreeSet;

const CHANNELS: &str = "chan q = [2] of { byte }; chan done = [1] of { byte }; byte sum;
    active [2] proctype sender() {
        byte n;
        do :: n < 2 -> q!n; n++ :: n >= 2 -> break od;
        done!1
    }
    active proctype receiver() {
        byte m;
        do :: q?m -> sum = sum + m :: done?m -> if :: sum > 1 -> assert(m == 1) :: else fi od
    }
    active proctype asker() {
        byte k;
        do :: nfull(q) -> k = 1 - k :: empty(q) && k > 0 -> break :: full(done) -> k = 0 od
    }";

const FORKS: &str = "bool fork[3]; byte eaten;
    active [3] proctype philosopher() {
        byte bites;
        do :: bites < 1 ->
            if
            :: atomic { !fork[_pid] -> fork[_pid] = true }; atomic { !fork[(_pid + 1) % 3] -> fork[(_pid + 1) % 3] = true }
            :: atomic { !fork[(_pid + 1) % 3] -> fork[(_pid + 1) % 3] = true }; atomic { !fork[_pid] -> fork[_pid] = true }
            fi;
            bites++; fork[_pid] = false; fork[(_pid + 1) % 3] = false
        :: bites == 1 -> break
        od;
        eaten++; assert(eaten < 3)
    }";

/// The length of the channel decides whether a send is independent of a test for room. One location has no executable
/// statement.
const ROOM: &str = "chan q = [3] of { byte }; byte x;
    active proctype sender() { do :: q!1 od }
    active proctype receiver() { byte m; do :: q?m -> if :: m == 2 -> (false); x = 1 :: m == 1 -> x = 2; x = 0 fi od }
    active proctype asker() { byte k; do :: nfull(q) -> k = 1 - k od }
    active proctype waiter() { do :: x == 2 -> x = 3; x = 0 od }";

fn chooser(interp: &Interp, method: PartialOrderMethod, number: u64) -> TransitionChooser {
    with_relation(interp, method.is_conditional(), |_, relation| {
        TransitionChooser::new(number, relation, method, None, Vec::new())
    })
}

/// Returns the choice and the proviso transitions of a state, computed without caches and with all facts.
fn compute_uncached(
    chooser: &TransitionChooser,
    state: &[u8],
    enabled: &[u64],
) -> (Vec<u64>, Vec<u64>) {
    let mut buffers = ChooserBuffers::default();
    buffers.outlook.resize(chooser.words, chooser.relation.facts.words());
    buffers.outlook.assume_nothing();
    buffers.key = vec![chooser.number];
    buffers.key.extend_from_slice(enabled);
    buffers.key.resize(1 + chooser.words + chooser.relation.facts.words(), 0);
    chooser.relation.facts.read(state, &mut buffers.key[1 + chooser.words..]);
    buffers.value.resize(chooser.words + 1, 0);
    chooser.compute(&mut buffers);
    buffers.rest.resize(chooser.words, 0);
    chooser.compute_proviso_transitions(&mut buffers);
    (buffers.value, buffers.rest)
}

/// Choices are cached by the facts that they need, and requirements are updated from one state to the next. The
/// results must equal those of a computation without caches.
#[test]
fn choices_are_independent_of_the_cache() {
    for (text, method) in [CHANNELS, FORKS, ROOM]
        .into_iter()
        .flat_map(|text| PartialOrderMethod::ALL.map(|it| (text, it)))
    {
        let interp = interp(text);
        let selector = interp.selector().unwrap();
        let states: BTreeSet<Vec<u8>> = state_graph(&interp).into_keys().collect();
        let chooser = chooser(&interp, method, 1);
        assert!((40..10_000).contains(&states.len()), "{}", states.len());
        let (mut buffers, mut reduced) = (ChooserBuffers::default(), 0);
        let mut sets = selector.instances().sets();
        // Visits consecutive states, which are similar, and then distant ones.
        let far = states.iter().step_by(7).zip(states.iter().rev().step_by(5));
        for state in states.iter().chain(far.flat_map(|(one, other)| [one, other])) {
            selector.enabled(state, &mut sets).unwrap();
            let enabled = sets.words(0);
            if sets.is_none(0) {
                continue;
            }
            let (value, uncached_rest) = compute_uncached(&chooser, state, enabled);
            let TransitionChoice { chosen, needs_no_proviso: is_good, .. } =
                chooser.choose(state, enabled, &mut buffers);
            assert_eq!((chosen, &[is_good.into()][..]), value.split_at(chooser.words));
            reduced += u64::from(chosen != enabled);
            let rest = chooser.proviso_transitions(state, enabled, &mut buffers);
            assert_eq!(rest, uncached_rest);
        }
        assert_eq!(reduced > 0, method != PartialOrderMethod::Sleep, "{method:?}");
    }
}
