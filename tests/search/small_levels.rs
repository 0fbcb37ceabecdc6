//! Searches with levels of a few states, in memory that is sufficient for many of them: such levels are settled without
//! runs (`spill/src/store/small_levels.rs`).

use crate::external::{compare_with_oracle, outcome_of_sessions};
use crate::support::{Graph, tiny_plan};
use proptest::prelude::*;
use spill::{Disk, FaultDisk};
use spillway::model::memory;
use spillway::search::SearchLimits;
use std::sync::Arc;
use std::time::Duration;

/// Graphs whose levels have up to about `spread` states, on both sides of the greatest small level.
fn graphs() -> impl Strategy<Value = Graph> {
    let spread = prop_oneof![3 => 1u64..4, 2 => 4u64..200, 2 => 900u64..2_000];
    let width = prop_oneof![Just(3usize), Just(8), Just(12), Just(40), Just(500)];
    // States from `dense` on differ in all bits, so the projection becomes wider within small levels.
    let dense = prop_oneof![Just(u64::MAX), Just(0), 10u64..3_000];
    (1u64..12_000, 1u64..4, spread, width, dense).prop_map(
        |(nodes, degree, spread, width, dense)| Graph {
            nodes,
            degree,
            spread,
            width,
            broken: nodes,
            dense,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// The last node is broken: usually a state of a small level after many.
    #[test]
    fn searches_of_small_levels_agree_with_the_oracle(
        graph in graphs(),
        threads in 1usize..4,
        young in prop::sample::select(vec![2_000u64, 40_000, 400_000]),
        keep_going: bool,
    ) {
        let mut limits = SearchLimits { stop_on_violation: !keep_going, ..SearchLimits::default() };
        limits.checks.deadlock = false;
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let plan = tiny_plan(threads, graph.width, 5_000, young);
        compare_with_oracle(&graph, &disk, plan, &limits)?;
    }

    #[test]
    fn stops_between_small_levels_do_not_change_the_outcome(
        graph in graphs(),
        young in prop::sample::select(vec![2_000u64, 40_000, 400_000]),
        pauses in prop::collection::vec(0u64..9, 1..8),
    ) {
        let limits = SearchLimits { stop_on_violation: false, ..SearchLimits::default() };
        let expected = memory::search(&graph, &limits).unwrap();
        let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
        let stops = pauses.iter().map(|pause| pause * (graph.nodes / 8));
        let last = outcome_of_sessions(&graph, &disk, &limits, stops, |session| {
            // A checkpoint follows every level in some sessions.
            let every = Duration::from_secs(if session % 2 == 0 { 0 } else { 600 });
            (tiny_plan(1 + session % 3, graph.width, 5_000, young), every)
        });
        prop_assert_eq!(last, expected);
    }
}
