//! Searches of a system whose encoding of states grows. The journal and the levels have the same bytes for any number
//! of threads, buffers, kills and losses of power.

mod tasks;
mod words;

use spill::fault::FaultPlan;
use spill::{Disk, Error, FaultDisk, MeteredDisk, Result};
use spillway_model::{GrowingStateSpace, StateSpace, SuccessorSink, UnencodedState, memory};
use spillway_search::checkpoint::{MANIFEST, SavedSearch};
use spillway_search::comback::CombackSettings;
use spillway_search::external::GrowthError;
use spillway_search::trace::{StoredLevels, TraceFinder};
use spillway_search::{
    ExternalSearch, MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchResources,
    SearchVerdict, StateStorage,
};
use std::sync::Arc;
use std::time::Duration;
use words::Words;

/// The parameters of a session.
#[derive(Clone, Copy, Debug)]
struct Session {
    threads: usize,
    /// The bytes of each thread's buffer of states without an encoding.
    unencoded: u64,
    /// The time between checkpoints within a level.
    checkpoint_every: Duration,
    /// Whether states are stored as hashes and back-edges.
    is_comback: bool,
}

const ONE_CHECKPOINT: Session = Session {
    threads: 1,
    unencoded: 1 << 20,
    checkpoint_every: Duration::from_secs(3600),
    is_comback: false,
};

/// Checkpoints at every opportunity, and buffers so small that most states go to disk.
const FREQUENT_CHECKPOINTS: Session =
    Session { threads: 1, unencoded: 200, checkpoint_every: Duration::ZERO, is_comback: false };

fn system() -> Words {
    Words::new(2500, 3, 60, 0)
}

/// A system with levels of several units, with checkpoints inside them, and with many words.
fn broad_system() -> Words {
    Words::with_second(2, [12_000, 8, 12_000, 0])
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

impl Session {
    fn plan(self) -> MemoryPlan {
        MemoryPlan {
            budget: 0,
            base: 0,
            reserve: 0,
            threads: self.threads,
            buffer: 400,
            young: 400,
            filter: 800,
            obligations: 0,
            encoding: 1 << 20,
            unencoded: self.unencoded,
        }
    }

    fn storage(self) -> StateStorage {
        match self.is_comback {
            true => StateStorage::Comback(CombackSettings::default()),
            false => StateStorage::default(),
        }
    }

    /// Starts or resumes a search with a new system, until it ends.
    fn run(self, system: &Words, disk: &FaultDisk) -> Result<SearchOutcome> {
        let control = SearchControl::new(self.checkpoint_every, None);
        self.run_controlled(system, disk, &limits(), &control)
    }

    fn run_controlled(
        self,
        system: &Words,
        disk: &FaultDisk,
        limits: &SearchLimits,
        control: &SearchControl,
    ) -> Result<SearchOutcome> {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let metered = Arc::new(MeteredDisk::new(shared, None)?);
        let resources = SearchResources { disk: metered, plan: self.plan(), control };
        let is_begun = disk.list()?.iter().any(|(name, _)| name == MANIFEST);
        let mut search = match is_begun {
            false => {
                let storage = self.storage();
                ExternalSearch::begin_stored(system, resources, limits.clone(), storage)?
            }
            true => {
                let saved = SavedSearch::load(disk)?;
                ExternalSearch::resume(system, resources, limits.clone(), saved)?
            }
        };
        search.run()
    }
}

/// Returns every file except the manifest, whose times differ.
fn contents(disk: &FaultDisk) -> Vec<(String, Vec<u8>)> {
    let names = disk.list().unwrap().into_iter().map(|(name, _)| name);
    names.filter(|it| it != MANIFEST).map(|it| (it.clone(), disk.read(&it).unwrap())).collect()
}

/// Returns the file of the journal that the manifest names.
fn journal_file(disk: &dyn Disk) -> String {
    SavedSearch::load(disk).unwrap().encoding.unwrap().file().to_string()
}

fn journal(disk: &FaultDisk) -> Vec<u8> {
    disk.read(&journal_file(disk)).unwrap()
}

/// Runs a search without interruptions.
fn run_uninterrupted(session: Session, system: &Words) -> (SearchOutcome, FaultDisk) {
    let disk = FaultDisk::new();
    let outcome = session.run(system, &disk).unwrap();
    (outcome, disk)
}

#[test]
fn a_search_visits_the_states_of_the_oracle() {
    let expected = memory::search(&system(), &limits()).unwrap();
    let (outcome, disk) = run_uninterrupted(ONE_CHECKPOINT, &system());
    assert!(expected.levels.len() > 20 && expected.states() > 1400, "{expected:?}");
    assert_eq!(outcome.levels, expected.levels);
    assert_eq!(outcome.counters, expected.counters);
    assert_eq!(outcome.verdict, SearchVerdict::Verified);
    // The words of several levels are not in one order.
    let words = system();
    words.restore(&journal(&disk)).unwrap();
    assert!(!words.numbered_words().is_sorted());
    assert!(contents(&disk).iter().all(|(name, _)| !name.starts_with("unencoded-")));
}

#[test]
fn journals_and_levels_are_independent_of_threads_and_buffers() {
    let (expected, reference_disk) = run_uninterrupted(ONE_CHECKPOINT, &system());
    for threads in [1, 2, 3] {
        for unencoded in [1, 200, 1 << 20] {
            for checkpoint_every in [Duration::ZERO, Duration::from_secs(3600)] {
                let session = Session { threads, unencoded, checkpoint_every, ..ONE_CHECKPOINT };
                let (outcome, disk) = run_uninterrupted(session, &system());
                assert_eq!(outcome, expected, "{session:?}");
                assert_eq!(journal(&disk), journal(&reference_disk), "{session:?}");
                // Each settling thread has a shard.
                if threads == 1 {
                    assert!(contents(&disk) == contents(&reference_disk), "{session:?}");
                }
            }
        }
    }
}

/// Kills searches and cuts their power at up to `count` operations, and resumes them. Returns how often the last
/// checkpoint was inside a level and named unencoded states.
fn kill_and_resume(session: Session, system: fn() -> Words, count: u64) -> usize {
    let (expected, reference_disk) = run_uninterrupted(session, &system());
    let operations = reference_disk.operations();
    let mut within_levels = 0;
    for at in (0..operations).step_by((operations / count + 1) as usize) {
        let disk = FaultDisk::with_faults(FaultPlan::new().seed(at).crash_at(at));
        // With two threads the number of operations varies.
        if session.run(&system(), &disk).is_ok() {
            continue;
        }
        for (what, disk) in [("killed", disk.restart()), ("power lost", disk.reboot(at))] {
            let saved = SavedSearch::load(&disk).ok();
            within_levels += usize::from(saved.is_some_and(|it| !it.open.unencoded.is_empty()));
            let outcome = session.run(&system(), &disk).unwrap();
            assert_eq!(outcome, expected, "{what} at {at} of {operations}");
            assert_eq!(journal(&disk), journal(&reference_disk), "{what} at {at} of {operations}");
            if session.threads == 1 {
                assert!(contents(&disk) == contents(&reference_disk), "{what} at {at}");
            }
        }
    }
    within_levels
}

#[test]
fn the_process_may_be_killed_and_power_lost_at_any_operation() {
    kill_and_resume(FREQUENT_CHECKPOINTS, system, 100);
    kill_and_resume(Session { threads: 2, ..FREQUENT_CHECKPOINTS }, system, 30);
}

/// The same states by hashes and back-edges. The indices do not depend on which successors had an encoding.
#[test]
fn hashes_and_back_edges_wait_for_encodings() {
    let (expected, sorted) = run_uninterrupted(ONE_CHECKPOINT, &system());
    for session in
        [ONE_CHECKPOINT, FREQUENT_CHECKPOINTS, Session { threads: 3, ..FREQUENT_CHECKPOINTS }]
    {
        let session = Session { is_comback: true, ..session };
        let (outcome, disk) = run_uninterrupted(session, &system());
        assert_eq!(outcome.levels, expected.levels, "{session:?}");
        assert_eq!(outcome.counters, expected.counters, "{session:?}");
        assert_eq!(journal(&disk), journal(&sorted), "{session:?}");
        assert!(SavedSearch::load(&disk).unwrap().frontier.rebuilt.states > 0, "{session:?}");
    }
    kill_and_resume(Session { is_comback: true, ..FREQUENT_CHECKPOINTS }, system, 60);
}

#[test]
fn hashes_and_back_edges_of_broad_levels_survive_crashes_with_two_threads() {
    kill_and_resume(
        Session { is_comback: true, threads: 2, unencoded: 2000, ..FREQUENT_CHECKPOINTS },
        broad_system,
        20,
    );
}

/// Kills the process and cuts the power within levels. Few operations are executed in between, so that these points
/// fall within levels on every machine.
fn kill_and_resume_within_levels(session: Session) {
    let within_levels = kill_and_resume(session, broad_system, 64);
    assert!(within_levels > 2, "{within_levels}");
}

#[test]
fn crashes_within_a_level_lose_nothing_on_disk() {
    kill_and_resume_within_levels(Session { threads: 1, unencoded: 2000, ..FREQUENT_CHECKPOINTS });
}

#[test]
fn crashes_within_a_level_lose_nothing_in_memory() {
    kill_and_resume_within_levels(Session {
        threads: 2,
        unencoded: 1 << 20,
        ..FREQUENT_CHECKPOINTS
    });
}

#[test]
fn any_operation_may_fail() {
    let (expected, reference_disk) = run_uninterrupted(FREQUENT_CHECKPOINTS, &system());
    let operations = reference_disk.operations();
    for at in (0..operations).step_by((operations / 100 + 1) as usize) {
        let plan = FaultPlan::new().seed(at);
        for plan in [plan.clone().io_error_at(at), plan.full_from(at)] {
            let disk = FaultDisk::with_faults(plan);
            let _ = FREQUENT_CHECKPOINTS.run(&system(), &disk);
            let disk = disk.restart();
            assert_eq!(FREQUENT_CHECKPOINTS.run(&system(), &disk).unwrap(), expected, "at {at}");
            assert_eq!(journal(&disk), journal(&reference_disk), "at {at}");
        }
    }
}

#[test]
fn sessions_of_different_threads_continue_each_other() {
    let (expected, reference_disk) = run_uninterrupted(FREQUENT_CHECKPOINTS, &system());
    let mut disk = FaultDisk::new();
    for number in 1.. {
        let session = Session { threads: 1 + number % 3, ..FREQUENT_CHECKPOINTS };
        disk.set_plan(FaultPlan::new().seed(number as u64).crash_at(number as u64 * 12));
        if let Ok(outcome) = session.run(&system(), &disk) {
            assert_eq!(outcome, expected);
            assert_eq!(journal(&disk), journal(&reference_disk));
            assert!(number > 10, "{number} sessions");
            break;
        }
        disk = disk.restart();
    }
}

#[test]
fn a_session_may_stop_anywhere() {
    let (expected, reference_disk) = run_uninterrupted(ONE_CHECKPOINT, &system());
    // Each session resets the same system to its journal.
    let (disk, system) = (FaultDisk::new(), system());
    let mut sessions = 0;
    loop {
        let control = SearchControl::new(Duration::from_secs(3600), None);
        let limits = SearchLimits { max_states: Some(sessions * 100), ..limits() };
        let outcome = ONE_CHECKPOINT.run_controlled(&system, &disk, &limits, &control).unwrap();
        system.grow_at_once();
        sessions += 1;
        if outcome.verdict != SearchVerdict::Incomplete {
            assert_eq!(outcome, expected);
            break;
        }
    }
    assert!(sessions > 10, "{sessions}");
    assert_eq!(journal(&disk), journal(&reference_disk));
}

#[test]
fn a_damaged_journal_is_refused() {
    let disk = FaultDisk::new();
    let control = SearchControl::new(Duration::from_secs(3600), None);
    let limits = SearchLimits { max_states: Some(1000), ..limits() };
    let outcome = ONE_CHECKPOINT.run_controlled(&system(), &disk, &limits, &control).unwrap();
    assert_eq!(outcome.verdict, SearchVerdict::Incomplete);
    let (name, length) = (journal_file(&disk), journal(&disk).len() as u64);
    for bit in 0..length * 8 {
        disk.flip_bit(&name, bit / 8, (bit % 8) as u32);
        let error = ONE_CHECKPOINT.run(&system(), &disk).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "bit {bit}: {error}");
        disk.flip_bit(&name, bit / 8, (bit % 8) as u32);
    }
    disk.truncate(&name, length - 8);
    let error = ONE_CHECKPOINT.run(&system(), &disk).unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error}");
}

#[test]
fn a_counterexample_is_found_in_the_levels() {
    let system = Words::new(2500, 3, 60, 150);
    let oracle = memory::search(&Words::new(2500, 3, 60, 150), &SearchLimits::default()).unwrap();
    let disk = FaultDisk::new();
    let control = SearchControl::default();
    let found =
        ONE_CHECKPOINT.run_controlled(&system, &disk, &SearchLimits::default(), &control).unwrap();
    assert_eq!(found.verdict, SearchVerdict::Violated);
    assert_eq!((&found.levels, found.counters), (&oracle.levels, oracle.counters));
    // The trace is found by another process.
    let system = Words::new(2500, 3, 60, 150);
    let saved = SavedSearch::load(&disk).unwrap();
    saved.prepare_model(&system, &disk).unwrap();
    let (codec, findings) = (saved.codec().unwrap(), saved.all_findings().unwrap());
    let levels = StoredLevels { disk: &disk, levels: &saved.store.levels, codec: &codec };
    let (check, finding) = findings.iter().next().unwrap();
    let finder =
        TraceFinder { model: &system, disk: &disk, threads: 2, control: &control, folder: None };
    let trace = finder.find(levels, check, finding).unwrap().unwrap().trace();
    assert_eq!(trace.depth() as u64, finding.level);
    assert_eq!(trace.states.last(), Some(&finding.witness));
}

#[test]
fn sinks_without_unencoded_states_refuse_growing_systems() {
    let (system, mut successors) = (system(), Vec::new());
    system.restore(&[]).unwrap();
    let initial = |out: &mut SuccessorSink| system.initial(out);
    let error = SuccessorSink::collect(4, &mut successors, initial).unwrap_err();
    assert!(error.to_string().contains(&UnencodedState.to_string()), "{error}");
}

#[test]
fn an_encoding_beyond_its_memory_ends_the_search() {
    let plan = MemoryPlan { encoding: 300, ..ONE_CHECKPOINT.plan() };
    let (system, control) = (system(), SearchControl::default());
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let disk = Arc::new(MeteredDisk::new(disk, None).unwrap());
    let resources = SearchResources { disk, plan, control: &control };
    let error = ExternalSearch::begin(&system, resources, limits()).unwrap().run().unwrap_err();
    let Error::Source { reason } = error else { panic!("{error}") };
    let Some(GrowthError::TooLarge { found, limit: 300 }) = reason.downcast_ref() else {
        panic!("{reason}")
    };
    assert!(*found > 300);
}
