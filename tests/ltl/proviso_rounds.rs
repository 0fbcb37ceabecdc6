//! The rounds of the search on disk, which enforce the cycle proviso, on random products. The searches are stopped and
//! resumed.

use crate::support::is_large;
use spillway::model::StateSpace;
use spillway::search::liveness::nested_dfs::ProbeVerdict;
use spillway::search::liveness::owcty::RoundNumbers;
use spillway::search::liveness::proviso::random_product::{RandomProduct, ReducedGraph};
use spillway::search::liveness::proviso_rounds::ProvisoRound;
use spillway::search::{MemoryPlan, SearchControl, StateStorage};
use spillway::session::{
    CheckConfig, EmptinessOutcome, EmptinessSearch, EmptinessTarget, SearchDirectory, SearchJob,
};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// A memory plan with this many bytes for young runs.
fn plan(young: u64) -> MemoryPlan {
    MemoryPlan {
        budget: 0,
        base: 0,
        reserve: 0,
        threads: 1,
        buffer: 4_000,
        young,
        filter: 8_000,
        obligations: 0,
        encoding: 0,
        unencoded: 0,
    }
}

/// The result of a search that may have been stopped and resumed.
struct RoundsResult {
    outcome: EmptinessOutcome,
    /// The last round.
    round: ProvisoRound,
    sessions: u32,
}

/// Searches until there is a verdict. A session is stopped at the `questions`th query whether a state accepts.
fn search(product: &RandomProduct, young: u64, mut questions: u32) -> RoundsResult {
    let (config, storage) = (CheckConfig::default(), StateStorage::default());
    let job = SearchJob::of_rust(&config, "random", product.digest(), &storage);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("search");
    let mut begun = (SearchDirectory::create(Some(&path), &job, None).unwrap(), None);
    for sessions in 1.. {
        let (directory, saved) = begun;
        // Commits cost time, and only a search that is stopped needs them.
        let pause = if questions == u32::MAX { Duration::MAX } else { Duration::ZERO };
        let (control, queries) = (SearchControl::new(pause, None), AtomicU32::new(0));
        let accepts = |state: &[u8]| {
            if queries.fetch_add(1, Relaxed) + 1 == questions {
                control.stop();
            }
            product.is_accepting(state)
        };
        let target = EmptinessTarget::accepting(product, accepts);
        let mut search = EmptinessSearch::of(target, plan(young), None, directory);
        let outcome = search.run(saved, &control).unwrap();
        if outcome.found != ProbeVerdict::Open {
            let round = ProvisoRound::load(&*search.directory.disk, product).unwrap();
            return RoundsResult { outcome, round, sessions };
        }
        drop(search);
        begun = SearchDirectory::resume(&path, &job, None).unwrap();
        // A search that always repeats the interrupted step does not end.
        questions *= 2;
    }
    unreachable!("some session is long enough")
}

/// If a search finds no accepting cycle, the reduced product has none, and each of its cycles has a fully expanded
/// state.
#[test]
fn each_cycle_on_disk_has_a_fully_expanded_state() {
    let (mut none, mut found, mut reduced) = (0, 0, 0);
    let (mut later, mut described, mut resumed) = (0, 0, 0);
    for seed in 0..if is_large() { 5_000 } else { 120 } {
        let product = RandomProduct::of(seed);
        let fully_expanded = product.reduced(&|_| true);
        // With little memory the states to expand fully are described by a predicate.
        let young = if seed % 8 == 0 { 1_000 } else { 100_000 };
        let questions = if seed % 3 == 0 { 1 } else { u32::MAX };
        let RoundsResult { outcome, round, sessions } = search(&product, young, questions);
        resumed += u32::from(sessions > 1);
        if outcome.found != ProbeVerdict::None {
            assert!(fully_expanded.has_accepting_cycle, "{seed}");
            found += 1;
            continue;
        }
        let enforced = round.product(&product).unwrap();
        let graph = product.reduced(&|state| !enforced.omits_transitions(state));
        let states = outcome.outcome.states() as usize;
        let expected =
            ReducedGraph { states, has_accepting_cycle: false, has_partial_cycle: false };
        assert_eq!(graph, expected, "{seed}");
        none += 1;
        reduced += u32::from(states < fully_expanded.states);
        let RoundNumbers { number, full_states } = round.numbers();
        later += u32::from(number > 1);
        described += u32::from(number > 1 && full_states == 0);
    }
    println!("{none} {found} {reduced} {later} {described} {resumed}");
    assert!(none >= 20 && found >= 20 && reduced >= 10, "{none} {found} {reduced}");
    assert!(later >= 10 && described >= 2 && resumed >= 20, "{later} {described} {resumed}");
}
