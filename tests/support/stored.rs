//! Searches in every store, with interruptions, compared with the oracle.
#![allow(dead_code)]

use super::{StoredSearch, begin_or_resume, begin_stored_or_resume, tiny_plan};
use spill::{ByteFrequencies, Codec, Disk, FaultDisk, HuffmanCode, HuffmanTables};
use spillway::model::{CheckSelection, Finding, Findings, StateSpace, StepOutcome, Violation};
use spillway::search::checkpoint::SavedSearch;
use spillway::search::comback::{self, CacheKind, CacheSize, CombackSettings, StateCacheConfig};
use spillway::search::storage::train_codec;
use spillway::search::trace::{ReplayedTrace, StoredLevels, counterexample};
use spillway::search::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome, StateStorage};
use std::sync::Arc;
use std::time::Duration;

/// Returns ComBack with every kind of cache, some too small to be useful, and with hashes so short that every state
/// collides with many others.
fn comback_storages() -> impl Iterator<Item = StateStorage> {
    let settings = |hash_bits, kind, states, groups| {
        let cache = StateCacheConfig { kind, size: CacheSize::States(states) };
        StateStorage::Comback(CombackSettings { hash_bits, cache, groups })
    };
    [
        settings(8, CacheKind::None, 1, true),
        settings(8, CacheKind::Fifo, 20, false),
        settings(16, CacheKind::Random, 5, true),
        settings(16, CacheKind::Stratified(3), 100, false),
        settings(32, CacheKind::Heuristic, 30, true),
        settings(32, CacheKind::None, 1, false),
        StateStorage::Comback(CombackSettings { hash_bits: 64, ..CombackSettings::default() }),
    ]
    .into_iter()
}

/// Returns every way of storing the states of `model`.
pub fn storages(model: &dyn StateSpace) -> Vec<StateStorage> {
    let mut uneven = ByteFrequencies::new(model.width());
    (0..model.width()).for_each(|column| uneven.add(column, column as u8, 1000));
    let codecs = [
        Codec::Raw,
        Codec::Rle,
        train_codec(model, HuffmanTables::Single, &SearchControl::default()).unwrap(),
        train_codec(model, HuffmanTables::Columns, &SearchControl::default()).unwrap(),
        // The table comes from data unrelated to the model.
        Codec::Huffman(Arc::new(HuffmanCode::train(&uneven, HuffmanTables::Columns))),
    ];
    codecs.into_iter().map(StateStorage::Sorted).chain(comback_storages()).collect()
}

/// Searches to the end, in sessions that stop at a checkpoint after each of `pauses` states. The sessions use `models`
/// in turn.
pub fn search(
    models: &[&dyn StateSpace],
    storage: &StateStorage,
    plans: &[MemoryPlan],
    pauses: &[u64],
    limits: &SearchLimits,
) -> (SearchOutcome, Arc<dyn Disk>) {
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    // With pauses, it writes as many checkpoints as possible, also inside levels.
    let every = if pauses.is_empty() { 3600 } else { 0 };
    let mut last = SearchOutcome::default();
    for (session, pause) in pauses.iter().chain([&u64::MAX]).enumerate() {
        let control = SearchControl::new(Duration::from_secs(every), None);
        let limits = SearchLimits { max_states: Some(*pause), ..limits.clone() };
        let (model, plan) = (models[session % models.len()], plans[session % plans.len()]);
        let mut search = match session {
            0 => {
                let (limits, control) = (&limits, &control);
                let search = StoredSearch { plan, limits, control, storage };
                begin_stored_or_resume(model, &disk, search)
            }
            // The manifest names the store.
            _ => begin_or_resume(model, &disk, plan, &limits, &control),
        };
        last = search.as_mut().unwrap().run().unwrap();
    }
    (last, disk)
}

/// Returns the counterexample to each finding of a search.
pub fn traces(
    model: &dyn StateSpace,
    disk: &dyn Disk,
    outcome: &SearchOutcome,
) -> Vec<ReplayedTrace> {
    traces_of(model, disk, outcome, |_| true)
}

/// Returns the counterexample to each wanted finding.
fn traces_of(
    model: &dyn StateSpace,
    disk: &dyn Disk,
    outcome: &SearchOutcome,
    is_wanted: impl Fn(Violation) -> bool,
) -> Vec<ReplayedTrace> {
    let saved = SavedSearch::load(disk).unwrap();
    let (storage, tagged) = (saved.storage().unwrap(), saved.all_findings().unwrap());
    let trace = |(check, finding): (Violation, &Finding)| match &storage {
        StateStorage::Sorted(codec) => {
            let levels = StoredLevels { disk, levels: &saved.store.levels, codec };
            counterexample(model, levels, 2, check, finding).unwrap()
        }
        StateStorage::Comback(_) => {
            let (_, tagged) = tagged.iter().find(|(other, _)| *other == check).unwrap();
            comback::counterexample(model, disk, &saved.store.levels, check, tagged).unwrap()
        }
    };
    outcome.findings.iter().filter(|it| is_wanted(it.0)).map(trace).collect()
}

/// Checks that every violation has a replayable counterexample of its depth.
pub fn assert_traces_replay(model: &dyn StateSpace, disk: &dyn Disk, outcome: &SearchOutcome) {
    let traces = traces(model, disk, outcome);
    for ((check, finding), trace) in outcome.findings.iter().zip(traces) {
        let faulty = matches!(check, Violation::Fault(..));
        let Some(last) = trace.states.last() else {
            assert!(
                faulty && finding.level == 0 && trace.depth() == 0,
                "only a start has no state"
            );
            continue;
        };
        assert_eq!(trace.depth() as u64, finding.level + u64::from(faulty));
        assert!(match model.capabilities().simulation {
            None => finding.witness == *last,
            Some(lift) => lift.represents(&finding.witness, last),
        });
    }
}

/// Returns the part of an outcome that does not depend on the store: ComBack reports another witness of the same depth.
pub fn without_comback_witnesses(
    outcome: &SearchOutcome,
    storage: &StateStorage,
) -> (SearchOutcome, Vec<(Violation, u64, u64)>) {
    let found = |(check, finding): (Violation, &Finding)| (check, finding.count, finding.level);
    let found = outcome.findings.iter().map(found).collect();
    let mut rest = outcome.clone();
    if matches!(storage, StateStorage::Comback(_)) {
        rest.findings = Findings::default();
    }
    (rest, found)
}

/// Panics unless two searches have the same outcome.
pub fn assert_same(
    found: &SearchOutcome,
    expected: &SearchOutcome,
    storage: &StateStorage,
    what: &str,
) {
    let [found, expected] = [found, expected].map(|it| without_comback_witnesses(it, storage));
    let name = match storage {
        StateStorage::Comback(settings) => format!("{settings:?}"),
        StateStorage::Sorted(codec) => codec.name().to_owned(),
    };
    assert_eq!(found, expected, "{what}: {name}");
}

/// The limit of steps for ComBack with short hashes. Without a cache, each candidate that is known is rebuilt from a
/// start; with hashes of 8 bits, so are all states with the same hash. If rebuilding each state once takes this many
/// steps, the time is negligible; with a hundred times as many, it is hours.
const FEW_STEPS: u64 = 20_000;

/// The limit of steps for ComBack with long hashes and a cache.
const STEPS: u64 = 50 * FEW_STEPS;

/// Searches on disk in each store, replays every counterexample in the model without reductions, and returns them.
/// ComBack is skipped if there are too many states or levels.
pub fn replay_in_all_stores(
    model: &dyn StateSpace,
    expected: &SearchOutcome,
    limits: &SearchLimits,
) -> Vec<ReplayedTrace> {
    let steps = expected.states() * expected.levels.len() as u64;
    let mut storages = storages(model);
    storages.retain(|it| match it {
        StateStorage::Sorted(_) => true,
        StateStorage::Comback(it) => steps <= if it.hash_bits < 64 { FEW_STEPS } else { STEPS },
    });
    replay_in_stores(&storages, model, expected, limits)
}

/// Returns whether a check of this kind is selected, be it a violation or a goal.
pub fn is_selected(model: &dyn StateSpace, checks: &CheckSelection, check: Violation) -> bool {
    match check {
        Violation::Property(number) => {
            checks.checks_kind(model.description().properties()[number as usize].kind)
        }
        _ => checks.selects(model, check),
    }
}

/// Does the same in some stores.
pub fn replay_in_stores(
    storages: &[StateStorage],
    model: &dyn StateSpace,
    expected: &SearchOutcome,
    limits: &SearchLimits,
) -> Vec<ReplayedTrace> {
    let (explained, mut all) = (model.description(), Vec::new());
    for storage in storages {
        let plan = tiny_plan(2, model.width() + storage.saved().tag_bytes(), 64, 64);
        let (found, disk) = search(&[model], storage, &[plan], &[], limits);
        assert_eq!(found.levels, expected.levels);
        // A finding that is not checked may have no counterexample: the reduction may have caused it.
        let is_wanted = |check| is_selected(model, &limits.checks, check);
        for trace in traces_of(model, &*disk, &found, is_wanted) {
            assert!(explained.starts().contains(&trace.steps[0]));
            for (pair, step) in trace.states.windows(2).zip(&trace.steps[1..]) {
                assert!(explained.steps(&pair[0]).contains(step));
                assert_eq!(step.outcome, StepOutcome::Successor(pair[1].clone()));
            }
            all.push(trace);
        }
    }
    all
}
