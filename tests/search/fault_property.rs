//! Whole searches over random graphs, under random schedules of faults in successive sessions.
//!
//! `tests/search/faults.rs` tries every operation of a few searches; this test tries a few operations of many. Without
//! damage to stored bytes, a last session on a good disk must end with the oracle's outcome. With damage, it must end
//! with that outcome, or with an error that names the damaged file and the place. `SPILLWAY_LARGE` runs more cases,
//! which take minutes.

use crate::graphs::graphs_of;
use crate::support::{Graph, begin_or_resume, is_large, tiny_plan};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use spill::fault::FaultPlan;
use spill::{Disk, Error, FaultDisk, Result};
use spillway::model::memory;
use spillway::search::checkpoint::SavedSearch;
use spillway::search::{SearchControl, SearchLimits, SearchOutcome, SearchVerdict};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A search and its sessions.
#[derive(Clone, Debug)]
struct Schedule {
    graph: Graph,
    keep_going: bool,
    sessions: Vec<DiskSession>,
}

/// One process, until it ends, fails or is killed, and the events before the next one.
#[derive(Clone, Debug)]
struct DiskSession {
    threads: usize,
    buffer: u64,
    young: u64,
    /// Whether checkpoints are made at every chance.
    checkpoints_always: bool,
    /// The session stops after this share of the nodes.
    stop_after: Option<f64>,
    seed: u64,
    faults: Vec<(Kind, f64)>,
    /// The seed of a power loss; `None` if only the process is killed.
    power_lost: Option<u64>,
    damage: Vec<Damage>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    IoErrorOnce,
    SyncErrors,
    FullOnce,
    FullFromThenOn,
    Crash,
}

/// Damage to some file, at some place.
#[derive(Clone, Copy, Debug)]
struct Damage {
    sort: DamageSort,
    file: prop::sample::Index,
    at: prop::sample::Index,
}

#[derive(Clone, Copy, Debug)]
enum DamageSort {
    BitFlipped,
    CutOff,
    Missing,
}

/// Graphs whose levels are one piece, and graphs whose levels have several blocks or units, with checkpoints inside.
fn graphs() -> impl Strategy<Value = Graph> {
    let width = || prop::sample::select(vec![2usize, 3, 8, 9, 16, 17, 90]);
    let small = (1u64..3_000, 1u64..5, prop_oneof![1u64..60, 1u64..3_000], width());
    let wide = (100u64..400, 3u64..6, Just(400u64), 6_000usize..16_000);
    let bushy = (6_000u64..20_000, 3u64..8, Just(20_000u64), width());
    // Levels large enough for a second thread.
    let nodes = if is_large() { 30_000u64..250_000 } else { 30_000u64..60_000 };
    let broad = (nodes, 3u64..8, Just(250_000u64), 3usize..10);
    let shape = prop_oneof![300 => small, 75 => wide, 24 => bushy, 1 => broad];
    graphs_of(shape, 3_000)
}

fn faults() -> impl Strategy<Value = (Kind, f64)> {
    let kind = prop_oneof![
        3 => Just(Kind::IoErrorOnce),
        2 => Just(Kind::SyncErrors),
        2 => Just(Kind::FullOnce),
        1 => Just(Kind::FullFromThenOn),
        4 => Just(Kind::Crash),
    ];
    // Many faults are early, so that there are many sessions.
    (kind, prop_oneof![0.0..0.03, 0.0..1.0])
}

fn damages() -> impl Strategy<Value = Damage> {
    let sort = prop_oneof![
        4 => Just(DamageSort::BitFlipped),
        2 => Just(DamageSort::CutOff),
        1 => Just(DamageSort::Missing),
    ];
    (sort, any::<prop::sample::Index>(), any::<prop::sample::Index>())
        .prop_map(|(sort, file, at)| Damage { sort, file, at })
}

fn sessions(damage_max: usize) -> impl Strategy<Value = DiskSession> {
    let memory = (1usize..3, 4u64..400, prop_oneof![16u64..200, 200u64..3_000]);
    let manner = (prop::bool::weighted(0.7), prop::option::weighted(0.2, 0.0..1.0));
    let fate = (
        any::<u64>(),
        prop::collection::vec(faults(), 1..4),
        prop::option::of(0u64..1_000),
        prop::collection::vec(damages(), 0..=damage_max),
    );
    (memory, manner, fate).prop_map(
        |(
            (threads, buffer, young),
            (checkpoints_always, stop_after),
            (seed, faults, power_lost, damage),
        )| DiskSession {
            threads,
            buffer,
            young,
            checkpoints_always,
            stop_after,
            seed,
            faults,
            power_lost,
            damage,
        },
    )
}

fn schedules(damage_max: usize) -> impl Strategy<Value = Schedule> {
    (graphs(), prop::bool::weighted(0.8), prop::collection::vec(sessions(damage_max), 1..14))
        .prop_map(|(graph, keep_going, sessions)| Schedule { graph, keep_going, sessions })
}

impl Kind {
    fn plan(self, plan: FaultPlan, operation: u64) -> FaultPlan {
        match self {
            Kind::IoErrorOnce => plan.io_error_at(operation),
            Kind::SyncErrors => plan.sync_error_from(operation),
            Kind::FullOnce => plan.full_at(operation),
            Kind::FullFromThenOn => plan.full_from(operation),
            Kind::Crash => plan.crash_at(operation),
        }
    }
}

impl DiskSession {
    /// The session without faults.
    fn without_faults(&self) -> DiskSession {
        let nothing = DiskSession { stop_after: None, faults: vec![], ..self.clone() };
        DiskSession { power_lost: None, damage: vec![], ..nothing }
    }

    /// Faults at some of the next operations; a whole search has `operations`.
    fn plan(&self, done: u64, operations: u64) -> FaultPlan {
        self.faults.iter().fold(FaultPlan::new().seed(self.seed), |plan, (kind, share)| {
            kind.plan(plan, done + (share * operations as f64) as u64)
        })
    }

    fn run(&self, graph: &Graph, disk: &FaultDisk, limits: &SearchLimits) -> Result<SearchOutcome> {
        let every =
            if self.checkpoints_always { Duration::ZERO } else { Duration::from_secs(3600) };
        let control = SearchControl::new(every, None);
        let max_states = self.stop_after.map(|share| (share * graph.nodes as f64) as u64);
        let limits = SearchLimits { max_states, ..limits.clone() };
        let plan = tiny_plan(self.threads, graph.width, self.buffer, self.young);
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        begin_or_resume(graph, &disk, plan, &limits, &control)?.run()
    }
}

/// A search during its schedule.
struct ScheduleRun<'a> {
    schedule: &'a Schedule,
    limits: SearchLimits,
    expected: SearchOutcome,
    disk: FaultDisk,
    /// Damaged files.
    damaged: BTreeSet<String>,
    tally: EventTally,
}

/// The end of a session.
enum SessionEnd {
    /// The session ended with the oracle's outcome.
    Finished,
    /// The search must be resumed.
    Unfinished,
    /// Damage was detected.
    DamageFound,
}

impl ScheduleRun<'_> {
    fn new(schedule: &Schedule) -> ScheduleRun<'_> {
        let limits =
            SearchLimits { stop_on_violation: !schedule.keep_going, ..SearchLimits::default() };
        ScheduleRun {
            schedule,
            expected: memory::search(&schedule.graph, &limits).unwrap(),
            limits,
            disk: FaultDisk::new(),
            damaged: BTreeSet::new(),
            tally: EventTally::default(),
        }
    }

    /// Runs the whole schedule, then a last session without faults.
    fn complete(&mut self) -> std::result::Result<(), TestCaseError> {
        self.tally.add("searches", 1);
        let operations = self.whole_search_operations()?;
        let sessions = &self.schedule.sessions;
        for session in sessions {
            self.disk.set_plan(session.plan(self.disk.operations(), operations));
            match self.run_session(session)? {
                SessionEnd::Finished | SessionEnd::DamageFound => return Ok(()),
                SessionEnd::Unfinished => self.interrupt(session),
            }
        }
        self.disk.set_plan(FaultPlan::new());
        match self.run_session(&sessions[sessions.len() - 1].without_faults())? {
            SessionEnd::Finished | SessionEnd::DamageFound => Ok(()),
            SessionEnd::Unfinished => Err(TestCaseError::fail("a good disk is not enough to end")),
        }
    }

    fn whole_search_operations(&self) -> std::result::Result<u64, TestCaseError> {
        let disk = FaultDisk::new();
        let session = self.schedule.sessions[0].without_faults();
        let outcome = session.run(&self.schedule.graph, &disk, &self.limits);
        let outcome = outcome.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(&outcome, &self.expected);
        Ok(disk.operations())
    }

    fn run_session(
        &mut self,
        session: &DiskSession,
    ) -> std::result::Result<SessionEnd, TestCaseError> {
        let outcome = session.run(&self.schedule.graph, &self.disk, &self.limits);
        self.tally.add("sittings", 1);
        self.tally.count_failures(&self.disk);
        match outcome {
            Ok(outcome) if outcome.verdict == SearchVerdict::Incomplete => {
                prop_assert!(session.stop_after.is_some());
                Ok(SessionEnd::Unfinished)
            }
            Ok(outcome) => {
                prop_assert_eq!(&outcome, &self.expected);
                self.tally.add("ended with the oracle's outcome", 1);
                Ok(SessionEnd::Finished)
            }
            Err(error) if self.is_damage_report(&error) => {
                self.tally.add("refused for damage", 1);
                Ok(SessionEnd::DamageFound)
            }
            Err(error) => {
                let planned = !self.disk.failures().is_empty();
                let planned = planned && matches!(error, Error::Io { .. } | Error::Full { .. });
                prop_assert!(planned, "{error}; damaged: {:?}", self.damaged);
                Ok(SessionEnd::Unfinished)
            }
        }
    }

    /// Whether an error names a damaged file, and an offset within it.
    fn is_damage_report(&self, error: &Error) -> bool {
        let length = |name: &str| {
            let files = self.disk.restart().list().expect("a restarted disk works");
            files.into_iter().find(|(it, _)| it == name).map(|(_, length)| length)
        };
        match error {
            Error::Corrupt { file, offset, .. } => {
                self.damaged.contains(file) && length(file).is_some_and(|length| *offset <= length)
            }
            Error::Version { file, .. } => self.damaged.contains(file),
            Error::Io { file, source, .. } => {
                self.damaged.contains(file)
                    && source.kind() == ErrorKind::NotFound
                    && length(file).is_none()
            }
            _ => false,
        }
    }

    /// Applies the events between two sessions.
    fn interrupt(&mut self, session: &DiskSession) {
        self.disk = match session.power_lost {
            Some(outcome) => {
                self.tally.add("losses of power", 1);
                self.disk.reboot(outcome)
            }
            None => {
                self.tally.add("ends of the process only", 1);
                self.disk.restart()
            }
        };
        if SavedSearch::load(&self.disk).is_ok_and(|saved| !saved.open.candidates.is_empty()) {
            self.tally.add("checkpoints inside of a level", 1);
        }
        session.damage.iter().for_each(|damage| self.damage(damage));
    }

    fn damage(&mut self, damage: &Damage) {
        let files = self.disk.list().expect("a new disk works");
        if files.is_empty() {
            return;
        }
        let (name, length) = &files[damage.file.index(files.len())];
        let at = |length: u64| damage.at.index(length as usize) as u64;
        match damage.sort {
            DamageSort::BitFlipped if *length == 0 => return,
            DamageSort::BitFlipped => {
                self.disk.flip_bit(name, at(*length), (at(*length) % 8) as u32);
                self.tally.add("flipped bits", 1);
            }
            DamageSort::CutOff => {
                self.disk.truncate(name, at(length + 1));
                self.tally.add("files cut off", 1);
            }
            DamageSort::Missing => {
                self.disk.remove(name).expect("a new disk works");
                self.disk.sync_dir().expect("a new disk works");
                self.tally.add("files removed", 1);
            }
        }
        self.damaged.insert(name.clone());
    }
}

/// Counts of events.
#[derive(Default)]
struct EventTally {
    counts: BTreeMap<String, u64>,
}

impl EventTally {
    fn add(&mut self, what: &str, count: u64) {
        *self.counts.entry(what.to_owned()).or_default() += count;
    }

    fn count_failures(&mut self, disk: &FaultDisk) {
        let failures = disk.failures();
        let crash = usize::from(disk.has_crashed());
        for action in &failures[..failures.len() - crash] {
            self.add(&format!("failures to {action}"), 1);
        }
        if let Some(action) = failures.last().filter(|_| crash > 0) {
            self.add(&format!("crashes at a {action}"), 1);
        }
    }

    fn add_all(&mut self, other: EventTally) {
        other.counts.iter().for_each(|(what, count)| self.add(what, *count));
    }
}

/// Tries random schedules; the first failing one is simplified and shown.
fn try_schedules(damage_max: usize) {
    let cases = if is_large() { 20_000 } else { 600 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let tally = Mutex::new(EventTally::default());
    let outcome = TestRunner::new(config).run(&schedules(damage_max), |schedule| {
        let mut run = ScheduleRun::new(&schedule);
        run.complete()?;
        tally.lock().unwrap().add_all(run.tally);
        Ok(())
    });
    for (what, count) in &tally.lock().unwrap().counts {
        println!("{count:>9} {what}");
    }
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn random_faults_end_with_the_oracles_outcome() {
    try_schedules(0);
}

#[test]
fn random_damage_is_detected_or_has_no_effect() {
    try_schedules(1);
}
