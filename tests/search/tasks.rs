//! Searches in tasks. Any worker may do any task at any time, with any memory and any interruption; the levels and the
//! findings are those of one process.
//!
//! `SPILLWAY_LARGE` runs more cases, which take minutes.

mod foreign_files;

use crate::graphs::graphs_of;
use crate::support::{Graph, Random, begin_or_resume, is_large, tiny_plan};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use spill::fault::FaultPlan;
use spill::{BlockDecoder, Disk, FaultDisk, RealDisk, RemoteDisk, RemoteOrigin, Result};
use spillway::model::{StateSpace, memory};
use spillway::search::checkpoint::SavedSearch;
use spillway::search::storage::SavedStorage;
use spillway::search::tasks::{
    ExpansionContext, NextWork, PlanOutcome, SearchTask, SharingOptions, TaskPhase, TaskPlan,
    commit, if_exists, is_own, sharing_obstacle,
};
use spillway::search::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome, SearchVerdict};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

/// A search in tasks with random events.
struct TaskDriver<'d> {
    model: &'d Graph,
    limits: SearchLimits,
    random: Random,
    disk: Arc<FaultDisk>,
    /// A crash comes within this number of operations. `None` for no crashes.
    crashes: Option<usize>,
    /// Whether a worker has only copies of the files it reads.
    is_remote: bool,
    counts: TaskCounts,
}

/// The files of a disk, which a worker copies.
#[derive(Debug)]
struct RemoteFiles {
    files: Arc<FaultDisk>,
    /// The folder of the copies.
    copies: TempDir,
    /// Bytes copied of parts of files, and the sizes of all these files.
    copied: Mutex<[u64; 2]>,
}

impl RemoteFiles {
    fn of(files: &Arc<FaultDisk>) -> Arc<RemoteFiles> {
        let copies = tempfile::tempdir().unwrap();
        Arc::new(RemoteFiles { files: files.clone(), copies, copied: Mutex::default() })
    }

    fn disk(self: &Arc<RemoteFiles>) -> RemoteDisk {
        RemoteDisk::new(RealDisk::open(self.copies.path()).unwrap(), self.clone(), is_own)
    }
}

impl RemoteOrigin for RemoteFiles {
    fn fetch(&self, name: &str, range: Option<Range<u64>>) -> Result<()> {
        let (bytes, copy) = (self.files.read(name)?, self.copies.path().join(name));
        let Some(range) = range else {
            let new = self.copies.path().join("copy.new");
            std::fs::write(&new, bytes).unwrap();
            std::fs::rename(new, copy).unwrap();
            return Ok(());
        };
        let mut copied = self.copied.lock().unwrap();
        copied[0] += range.end - range.start;
        copied[1] += if copy.exists() { 0 } else { bytes.len() as u64 };
        let file = File::options().write(true).create(true).truncate(false).open(copy).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        file.write_all_at(&bytes[range.start as usize..range.end as usize], range.start).unwrap();
        Ok(())
    }

    fn publish(&self, name: &str, new: bool) -> Result<bool> {
        let own = format!("{name}.taken");
        let mut file = self.files.create(&own)?;
        file.write(&std::fs::read(self.copies.path().join(name)).unwrap())?;
        file.sync()?;
        if new {
            return self.files.rename_new(&own, name);
        }
        self.files.rename(&own, name)?;
        self.files.sync_dir().map(|()| true)
    }

    fn remove(&self, name: &str) -> Result<()> {
        if_exists(self.files.remove(name)).map(|_| ())
    }
}

/// Counts of the work.
#[derive(Clone, Copy, Debug, Default)]
struct TaskCounts {
    expanded: u32,
    settled: u32,
    merged: u32,
    alone: u32,
    again: u32,
    crashed: u32,
    /// Bytes copied of parts of files, and the sizes of these files.
    copied: [u64; 2],
}

impl TaskCounts {
    fn add(&mut self, other: TaskCounts) {
        self.expanded += other.expanded;
        self.settled += other.settled;
        self.merged += other.merged;
        self.alone += other.alone;
        self.again += other.again;
        self.crashed += other.crashed;
        (0..2).for_each(|it| self.copied[it] += other.copied[it]);
    }
}

impl TaskDriver<'_> {
    fn memory(&mut self) -> MemoryPlan {
        let keys = [4, 40, 400][self.random.below(3)];
        tiny_plan(1 + self.random.below(2), self.model.width, keys, 4 * keys)
    }

    /// Works until there is a verdict.
    fn search(mut self) -> (SearchOutcome, Arc<FaultDisk>, TaskCounts) {
        // A step may take more operations than the limit. Their number depends on the levels in memory. So each failed
        // try gets a higher limit.
        let mut tries = 1;
        loop {
            if let Some(operations) = self.crashes {
                let within = tries * operations;
                let at = self.disk.operations() + 1 + self.random.below(within) as u64;
                self.disk.set_plan(FaultPlan::new().crash_at(at));
            }
            match self.step() {
                Ok(Some(outcome)) if !self.disk.has_crashed() => {
                    self.disk.set_plan(FaultPlan::default());
                    return (outcome, self.disk, self.counts);
                }
                Ok(_) if !self.disk.has_crashed() => tries = 1,
                done => {
                    assert!(self.disk.has_crashed(), "{done:?}");
                    tries += 1;
                    self.counts.crashed += 1;
                    let found = match self.random.below(2) {
                        0 => self.disk.restart(),
                        _ => self.disk.reboot(self.random.next()),
                    };
                    self.disk = Arc::new(found);
                }
            }
        }
    }

    /// Does the next work, or a part of it.
    fn step(&mut self) -> Result<Option<SearchOutcome>> {
        let thin = [1, 1, 1, 2, 20][self.random.below(5)];
        let wanted = SharingOptions { tasks: 1 + self.random.below(7) as u32, thin };
        let is_there = self.disk.list()?.iter().any(|(name, _)| name == "manifest");
        let next = match is_there {
            false => NextWork::Search(Some(wanted.first_states())),
            true => TaskPlan::next(&*self.disk, self.model, &self.limits, wanted)?,
        };
        match next {
            NextWork::Ended(_) => SavedSearch::load(&*self.disk)?.outcome().map(Some),
            NextWork::Search(most) => {
                self.counts.alone += 1;
                let control =
                    SearchControl::new(Duration::from_secs(self.random.below(2) as u64), None);
                let limits = SearchLimits { max_states: most, ..self.limits.clone() };
                let (disk, memory): (Arc<dyn Disk>, _) = (self.disk.clone(), self.memory());
                begin_or_resume(self.model, &disk, memory, &limits, &control)?.run()?;
                Ok(None)
            }
            NextWork::Tasks(plan) => self.run_plan(&plan).map(|()| None),
        }
    }

    /// Runs the tasks of a plan in any order, some repeatedly, and commits the plan.
    fn run_plan(&mut self, plan: &TaskPlan) -> Result<()> {
        let mut pending: Vec<u32> = (0..plan.tasks()).collect();
        while !pending.is_empty() {
            let task = pending.swap_remove(self.random.below(pending.len()));
            self.task(plan, task)?;
            if self.random.below(8) == 0 {
                self.counts.again += 1;
                self.repeat_task(plan, task)?;
            }
            if self.random.below(30) == 0 && !self.are_done(plan, &pending)? {
                // A commit before all tasks are done has no effect.
                assert!(matches!(commit(&*self.disk, &plan.id())?, PlanOutcome::Undone(..)));
            }
        }
        let commit = |disk: &dyn Disk| commit(disk, &plan.id());
        assert!(matches!(self.run_at_place(commit)?, PlanOutcome::Done(_)));
        match plan.phase {
            TaskPhase::Expand => self.counts.expanded += plan.tasks(),
            TaskPhase::Settle => self.counts.settled += plan.tasks(),
            TaskPhase::Merge => self.counts.merged += plan.tasks(),
            TaskPhase::Grow => panic!("the bytes of a state are known"),
        }
        self.assert_stale(plan)
    }

    /// Whether all these tasks are done.
    fn are_done(&self, plan: &TaskPlan, tasks: &[u32]) -> Result<bool> {
        for &number in tasks {
            match SearchTask::find(&*self.disk, &plan.id(), number)? {
                PlanOutcome::Done(task) if task.receipt()?.is_some() => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Asserts that a committed plan is stale.
    fn assert_stale(&self, plan: &TaskPlan) -> Result<()> {
        assert!(matches!(SearchTask::find(&*self.disk, &plan.id(), 0)?, PlanOutcome::Stale));
        assert!(matches!(commit(&*self.disk, &plan.id())?, PlanOutcome::Stale));
        Ok(())
    }

    fn task(&mut self, plan: &TaskPlan, number: u32) -> Result<()> {
        let (memory, model) = (self.memory(), self.model);
        self.run_at_place(|disk| {
            let PlanOutcome::Done(task) = SearchTask::find(disk, &plan.id(), number)? else {
                panic!("the plan is the current one");
            };
            if task.receipt()?.is_some() {
                return Ok(());
            }
            let scratch: Arc<dyn Disk> = Arc::new(FaultDisk::new());
            let with = ExpansionContext { model, coverage: true, memory, scratch };
            let done = match plan.phase.needs_model() {
                true => task.run_on_model(&with)?,
                false => task.combine()?,
            };
            assert!(matches!(done, PlanOutcome::Done(_)));
            Ok(())
        })
    }

    /// Works where the files are, or in a place without copies yet.
    fn run_at_place<T>(&mut self, work: impl FnOnce(&dyn Disk) -> Result<T>) -> Result<T> {
        if !self.is_remote {
            return work(&*self.disk);
        }
        let remote = RemoteFiles::of(&self.disk);
        let done = work(&remote.disk());
        let copied = *remote.copied.lock().unwrap();
        (0..2).for_each(|it| self.counts.copied[it] += copied[it]);
        done
    }

    /// Repeats a finished task, as a worker that does not know of it would. The files stay the same.
    fn repeat_task(&mut self, plan: &TaskPlan, number: u32) -> Result<()> {
        let before = self.bytes(plan)?;
        let receipt = format!("receipt-{}-{number:05}", plan.id());
        self.disk.remove(&receipt)?;
        self.task(plan, number)?;
        assert!(self.bytes(plan)? == before, "a task done twice");
        Ok(())
    }

    /// All files but receipts, which have times.
    fn bytes(&self, plan: &TaskPlan) -> Result<Vec<(String, Vec<u8>)>> {
        let files = self.disk.list()?.into_iter().map(|it| it.0);
        let files = files.filter(|it| !it.starts_with("receipt-") && !it.contains(&plan.id()));
        files.map(|it| Ok((it.clone(), self.disk.read(&it)?))).collect()
    }
}

/// The states of each level.
fn levels(disk: &dyn Disk) -> Vec<Vec<u8>> {
    let saved = SavedSearch::load(disk).unwrap();
    let (width, codec) = (saved.width as usize, saved.codec().unwrap().unprojected());
    let format = spill::LevelFormat { width, value_bytes: 0, codec: &codec };
    let keys = |level: usize| {
        let mut all = Vec::new();
        for segment in saved.store.levels.open(disk, format, level).unwrap() {
            let (mut decoder, mut keys) = (BlockDecoder::new(width), Vec::new());
            for block in 0..segment.blocks() {
                segment.decode(block, &mut decoder, &mut keys).unwrap();
                all.extend_from_slice(&keys);
            }
        }
        all
    };
    (0..saved.store.levels.len()).map(keys).collect()
}

/// Asserts that a search in tasks has the levels and the outcome of one process.
fn compare_with_one_process(
    graph: &Graph,
    keep_going: bool,
    seed: u64,
    (crashes, is_remote): (Option<usize>, bool),
) -> TaskCounts {
    let limits = SearchLimits { stop_on_violation: !keep_going, ..SearchLimits::default() };
    let expected = memory::search(graph, &limits).unwrap();
    let alone: Arc<dyn Disk> = Arc::new(FaultDisk::new());
    let control = SearchControl::new(Duration::from_secs(3600), None);
    let plan = tiny_plan(1, graph.width, 400, 3_000);
    begin_or_resume(graph, &alone, plan, &limits, &control).unwrap().run().unwrap();
    let (random, disk) = (Random::new(seed), Arc::new(FaultDisk::new()));
    let (model, counts) = (graph, TaskCounts::default());
    let driver =
        TaskDriver { model, limits: limits.clone(), random, disk, crashes, is_remote, counts };
    let (outcome, disk, counts) = driver.search();
    assert_eq!(outcome, expected, "{graph:?}");
    assert!(levels(&*disk) == levels(&*alone), "{graph:?}");
    // One process can resume the directory, or finds it complete.
    let shared: Arc<dyn Disk> = disk.clone();
    let mut resumed = begin_or_resume(graph, &shared, plan, &limits, &control).unwrap();
    assert_eq!(resumed.run().unwrap(), expected);
    let saved = SavedSearch::load(&*disk).unwrap();
    let known: Vec<String> = saved.files().map(|it| it.to_string()).collect();
    let others = disk.list().unwrap().into_iter().map(|it| it.0);
    let others: Vec<String> = others.filter(|it| !known.contains(it)).collect();
    assert_eq!(others, ["manifest"], "nothing else is left");
    counts
}

fn graphs() -> impl Strategy<Value = Graph> {
    let width = || prop::sample::select(vec![2usize, 3, 8, 9, 17, 90]);
    let small = (1u64..3_000, 1u64..5, prop_oneof![1u64..60, 1u64..3_000], width());
    let bushy = (6_000u64..20_000, 3u64..8, Just(20_000u64), width());
    let shape = prop_oneof![6 => small, 1 => bushy];
    graphs_of(shape, 3_000)
}

fn run_cases(cases: u32, how: (Option<usize>, bool)) -> TaskCounts {
    let mut runner = TestRunner::new_with_rng(
        ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let counts = std::cell::Cell::new(TaskCounts::default());
    let strategy = (graphs(), any::<bool>(), any::<u64>());
    let run = runner.run(&strategy, |(graph, keep_going, seed)| {
        let mut all = counts.get();
        all.add(compare_with_one_process(&graph, keep_going, seed, how));
        counts.set(all);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    counts.get()
}

#[test]
fn tasks_find_the_levels_of_one_process() {
    let counts = run_cases(if is_large() { 2_000 } else { 60 }, (None, false));
    let TaskCounts { expanded, settled, merged, alone, again, .. } = counts;
    assert!(
        expanded > 300 && settled > 300 && merged > 300 && alone > 100 && again > 100,
        "{counts:?}"
    );
}

#[test]
fn crashed_tasks_find_the_levels_of_one_process() {
    let counts = run_cases(if is_large() { 1_000 } else { 30 }, (Some(400), false));
    assert!(counts.crashed > 100 && counts.expanded > 100 && counts.merged > 20, "{counts:?}");
}

/// A worker has only the files it requests, and requests no more than the parts it reads.
#[test]
fn remote_tasks_find_the_levels_of_one_process() {
    let counts = run_cases(if is_large() { 500 } else { 20 }, (None, true));
    let [copied, whole] = counts.copied;
    assert!(counts.expanded > 100 && counts.settled > 100 && counts.merged > 50, "{counts:?}");
    assert!(copied > 0 && copied * 4 < whole * 3, "{counts:?}");
    let counts = run_cases(if is_large() { 500 } else { 10 }, (Some(3_000), true));
    assert!(counts.crashed > 10, "{counts:?}");
}

/// A second planner gets the plan of the first, whatever its options. Another manifest has another plan.
#[test]
fn a_second_planner_gets_the_same_plan() {
    let graph = Graph { nodes: 3_000, degree: 4, spread: 3_000, width: 9, broken: 0, dense: 2_500 };
    let (limits, disk) = (SearchLimits::default(), Arc::new(FaultDisk::new()));
    let control = SearchControl::new(Duration::from_secs(3600), None);
    let shared: Arc<dyn Disk> = disk.clone();
    let first_limits =
        SearchLimits { stop_on_violation: false, max_states: Some(1_000), ..limits.clone() };
    let limits = SearchLimits { stop_on_violation: false, ..limits };
    let plan = tiny_plan(1, graph.width, 400, 3_000);
    begin_or_resume(&graph, &shared, plan, &first_limits, &control).unwrap().run().unwrap();
    let next =
        |tasks| match TaskPlan::next(&*disk, &graph, &limits, SharingOptions { tasks, thin: 1 }) {
            Ok(NextWork::Tasks(plan)) => plan,
            other => panic!("{other:?}"),
        };
    let (first, second) = (next(3), next(7));
    assert_eq!(first, second);
    assert!(matches!(
        SearchTask::find(&*disk, &first.id(), first.tasks()).unwrap(),
        PlanOutcome::Missing(_)
    ));
    assert!(matches!(
        SearchTask::find(&*disk, "00000000-expand-0", 0).unwrap(),
        PlanOutcome::Stale
    ));
    // One process resumes: it removes the files of the plan, which becomes stale.
    begin_or_resume(&graph, &shared, plan, &first_limits, &control).unwrap().run().unwrap();
    assert!(matches!(SearchTask::find(&*disk, &first.id(), 0).unwrap(), PlanOutcome::Stale));
    let verdict = SavedSearch::load(&*disk).unwrap().outcome().unwrap().verdict;
    assert_eq!(verdict, SearchVerdict::Incomplete);
}

/// The obstacle to a division has a reason.
#[test]
fn indivisible_searches_are_rejected() {
    let graph = Graph { nodes: 9, degree: 1, spread: 1, width: 9, broken: 0, dense: 9 };
    let model: &dyn StateSpace = &graph;
    let comback = SavedStorage::Comback(Default::default());
    assert!(sharing_obstacle(model, &comback).is_some_and(|why| why.contains("comback")));
    assert_eq!(sharing_obstacle(model, &spillway::search::StateStorage::default().saved()), None);
}
