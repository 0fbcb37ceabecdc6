//! Searches in every store, across stops, held against the oracle.
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

/// ComBack with every kind of cache, some too small to hold anything useful, and with hashes so
/// short that every state has the hash of many others.
fn combacks() -> impl Iterator<Item = StateStorage> {
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

/// Every way of storing states, for the states of `model`.
pub fn storages(model: &dyn StateSpace) -> Vec<StateStorage> {
    let mut uneven = ByteFrequencies::new(model.width());
    (0..model.width()).for_each(|column| uneven.add(column, column as u8, 1000));
    let codecs = [
        Codec::Raw,
        Codec::Rle,
        train_codec(model, HuffmanTables::Single, &SearchControl::default()).unwrap(),
        train_codec(model, HuffmanTables::Columns, &SearchControl::default()).unwrap(),
        // Of a table that has nothing to do with the model.
        Codec::Huffman(Arc::new(HuffmanCode::train(&uneven, HuffmanTables::Columns))),
    ];
    codecs.into_iter().map(StateStorage::Sorted).chain(combacks()).collect()
}

/// Searches to the end, stopping at a checkpoint after each of `pauses` states. The sittings are
/// those of `models` in turn.
pub fn search(
    models: &[&dyn StateSpace],
    storage: &StateStorage,
    plans: &[MemoryPlan],
    pauses: &[u64],
    limits: &SearchLimits,
) -> (SearchOutcome, Arc<dyn Disk>) {
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    // Checkpoints without end, inside levels too, if there are pauses.
    let every = if pauses.is_empty() { 3600 } else { 0 };
    let mut last = SearchOutcome::default();
    for (sitting, pause) in pauses.iter().chain([&u64::MAX]).enumerate() {
        let control = SearchControl::new(Duration::from_secs(every), None);
        let limits = SearchLimits { max_states: Some(*pause), ..limits.clone() };
        let (model, plan) = (models[sitting % models.len()], plans[sitting % plans.len()]);
        let mut search = match sitting {
            0 => {
                let (limits, control) = (&limits, &control);
                let search = StoredSearch { plan, limits, control, storage };
                begin_stored_or_resume(model, &disk, search)
            }
            // The manifest knows.
            _ => begin_or_resume(model, &disk, plan, &limits, &control),
        };
        last = search.as_mut().unwrap().run().unwrap();
    }
    (last, disk)
}

/// The counterexample to everything that a search found.
pub fn traces(
    model: &dyn StateSpace,
    disk: &dyn Disk,
    outcome: &SearchOutcome,
) -> Vec<ReplayedTrace> {
    traces_of(model, disk, outcome, |_| true)
}

/// The same of what is wanted.
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

/// Every violation has a counterexample of its depth, which can be replayed.
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

/// All that does not depend on how states are stored: ComBack shows another witness, as deep.
pub fn comparable(
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

/// Panics unless two searches found the same.
pub fn assert_same(
    found: &SearchOutcome,
    expected: &SearchOutcome,
    storage: &StateStorage,
    what: &str,
) {
    let [found, expected] = [found, expected].map(|it| comparable(it, storage));
    let name = match storage {
        StateStorage::Comback(settings) => format!("{settings:?}"),
        StateStorage::Sorted(codec) => codec.name().to_owned(),
    };
    assert_eq!(found, expected, "{what}: {name}");
}

/// Without a cache each candidate that is known is rebuilt from a start, and with hashes of 8 bits so are all states that
/// it only seems to be. Where so many steps rebuild each state once, that takes no time; with a hundred times as many it
/// takes hours.
const FEW_STEPS: u64 = 20_000;

/// With hashes that tell states apart, and a cache, so many do.
const STEPS: u64 = 50 * FEW_STEPS;

/// Searches on disk, however states are stored, and has every counterexample replayed by the model that is not
/// reduced; gives them. Many states, or deep ones, are not rebuilt.
pub fn replayed(
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
    replayed_in(&storages, model, expected, limits)
}

/// Whether something is looked for, be it feared or hoped for.
pub fn is_looked_for(model: &dyn StateSpace, checks: &CheckSelection, check: Violation) -> bool {
    match check {
        Violation::Property(number) => {
            checks.checks_kind(model.description().properties()[number as usize].kind)
        }
        _ => checks.selects(model, check),
    }
}

/// The same in some storages.
pub fn replayed_in(
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
        // Of what is not looked for there may be no counterexample: it may come of what was left out.
        let is_wanted = |check| is_looked_for(model, &limits.checks, check);
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
