//! Tests of the cycle proviso of the nested depth-first search, on random graphs.

use super::*;
use crate::liveness::proviso::random_product::{RandomProduct, ReducedGraph};

/// If the search finds no accepting cycle, the reduced product has none, and each of its cycles has a fully expanded
/// state.
#[test]
fn each_cycle_has_a_fully_expanded_state() {
    let limits = ProbeLimits { states: 1_000, bytes: 1 << 20 };
    let (mut none, mut found, mut reduced) = (0, 0, 0);
    for seed in 0..5_000 {
        let product = RandomProduct::of(seed);
        let full = product.reduced(&|_| true);
        let accepts = |state: &[u8]| product.is_accepting(state);
        let control = SearchControl::default();
        let mut search = NestedDfs::new(&product, &accepts, limits, &control);
        match search.search_until_closed(&[0, 0]).unwrap() {
            DfsOutcome::Cycle(_) => {
                assert!(full.has_accepting_cycle, "{seed}");
                found += 1;
            }
            DfsOutcome::Through => {
                let proviso = search.proviso.as_ref().unwrap();
                let graph = product.reduced(&|state| proviso.must_be_full(state));
                let states = search.states.len();
                let (has_accepting_cycle, has_partial_cycle) = (false, false);
                let expected = ReducedGraph { states, has_accepting_cycle, has_partial_cycle };
                assert_eq!(graph, expected, "{seed}");
                none += 1;
                reduced += u32::from(states < full.states);
            }
            DfsOutcome::Over => panic!("{seed}: too many starts"),
        }
    }
    assert!(none > 1_000 && found > 1_000 && reduced > 300, "{none} {found} {reduced}");
}
