//! Searches in tasks of a system whose encoding grows. Any process may run any task and may be killed. The counts and
//! the journal are those of one process.

use super::words::Words;
use super::{
    FREQUENT_CHECKPOINTS, ONE_CHECKPOINT, Session, broad_system, journal, limits,
    run_uninterrupted, system,
};
use spill::fault::FaultPlan;
use spill::{Disk, FaultDisk, Result};
use spillway_search::checkpoint::{MANIFEST, SavedSearch};
use spillway_search::tasks::{
    ExpansionContext, NextWork, PlanOutcome, SearchTask, SharingOptions, TaskPhase, TaskPlan,
    commit,
};
use spillway_search::{SearchControl, SearchLimits, SearchOutcome, SearchVerdict};
use std::sync::Arc;
use std::time::Duration;

/// The work of the processes that share a search.
#[derive(Debug, Default)]
struct SharedWork {
    expanded: u32,
    grown: u32,
    /// Commits of an expansion that left unencoded states.
    unencoded: u32,
    alone: u32,
    crashed: u64,
}

/// A search in tasks that ended.
struct SharedSearch {
    outcome: SearchOutcome,
    disk: FaultDisk,
    work: SharedWork,
}

/// Searches in tasks, with a new system for each task, until there is a verdict. With `crashes`, a process ends after
/// that many operations and one more for each attempt.
fn share(system: fn() -> Words, thin: u64, crashes: Option<u64>) -> SharedSearch {
    let (mut disk, mut work) = (FaultDisk::new(), SharedWork::default());
    for attempt in 1.. {
        if let Some(every) = crashes {
            // Later attempts live longer.
            let at = disk.operations() + every + attempt;
            disk.set_plan(FaultPlan::new().seed(attempt).crash_at(at));
        }
        match share_until_crash(system, &disk, thin, &mut work) {
            Ok(outcome) => return SharedSearch { outcome, disk, work },
            Err(error) => {
                assert!(crashes.is_some(), "{error}");
                work.crashed += 1;
                disk = match attempt % 2 {
                    0 => disk.restart(),
                    _ => disk.reboot(attempt),
                };
            }
        }
    }
    unreachable!()
}

fn share_until_crash(
    system: fn() -> Words,
    disk: &FaultDisk,
    thin: u64,
    work: &mut SharedWork,
) -> Result<SearchOutcome> {
    let options = SharingOptions { tasks: 3, thin };
    let control = SearchControl::new(Duration::from_secs(3600), None);
    if disk.list()?.iter().all(|(name, _)| name != MANIFEST) {
        let first = SearchLimits { max_states: Some(options.first_states()), ..limits() };
        ONE_CHECKPOINT.run_controlled(&system(), disk, &first, &control)?;
    }
    loop {
        match TaskPlan::next(disk, &system(), &limits(), options)? {
            NextWork::Ended(verdict) => {
                let saved = SavedSearch::load(disk)?;
                assert_eq!(verdict, SearchVerdict::Verified);
                return saved.outcome();
            }
            NextWork::Search(max_states) => {
                work.alone += 1;
                let limits = SearchLimits { max_states, ..limits() };
                ONE_CHECKPOINT.run_controlled(&system(), disk, &limits, &control)?;
            }
            NextWork::Tasks(plan) => {
                (0..plan.tasks()).rev().try_for_each(|it| run(system, disk, &plan, it))?;
                let PlanOutcome::Done(saved) = commit(disk, &plan.id())? else {
                    panic!("all tasks are done")
                };
                match plan.phase {
                    TaskPhase::Expand => {
                        work.expanded += 1;
                        work.unencoded += u32::from(!saved.open.unencoded.is_empty());
                    }
                    TaskPhase::Grow => {
                        work.grown += 1;
                        assert!(saved.open.unencoded.is_empty());
                    }
                    TaskPhase::Settle | TaskPhase::Merge => {}
                }
            }
        }
    }
}

fn run(system: fn() -> Words, disk: &FaultDisk, plan: &TaskPlan, number: u32) -> Result<()> {
    let PlanOutcome::Done(task) = SearchTask::find(disk, &plan.id(), number)? else {
        panic!("the plan is the current one")
    };
    if task.receipt()?.is_some() {
        return Ok(());
    }
    // Some tasks have buffers for all states, and others write most states to disk.
    let session = Session {
        threads: 1 + number as usize % 2,
        ..[ONE_CHECKPOINT, FREQUENT_CHECKPOINTS][number as usize % 2]
    };
    let (model, scratch): (_, Arc<dyn Disk>) = (system(), Arc::new(FaultDisk::new()));
    let context =
        ExpansionContext { model: &model, coverage: true, memory: session.plan(), scratch };
    let done = match plan.phase.needs_model() {
        true => task.run_on_model(&context)?,
        false => task.combine()?,
    };
    assert!(matches!(done, PlanOutcome::Done(_)));
    assert!(task.receipt()?.is_some());
    Ok(())
}

/// Checks that a search in tasks has the counts and the journal of one process. Returns the work.
fn check_shared_search(system: fn() -> Words, thin: u64, crashes: Option<u64>) -> SharedWork {
    let (expected, reference_disk) = run_uninterrupted(ONE_CHECKPOINT, &system());
    let SharedSearch { outcome, disk, work } = share(system, thin, crashes);
    assert_eq!(outcome.levels, expected.levels, "{work:?}");
    assert_eq!(outcome.counters, expected.counters, "{work:?}");
    assert!(journal(&disk) == journal(&reference_disk), "{work:?}");
    work
}

#[test]
fn tasks_have_the_results_of_one_process() {
    let work = check_shared_search(system, 1, None);
    assert!(
        work.grown > 10 && work.unencoded == work.grown && work.expanded >= work.grown,
        "{work:?}"
    );
    let broad = check_shared_search(broad_system, 20, None);
    assert!(broad.grown > 0 && broad.alone > 0, "{broad:?}");
}

#[test]
fn a_process_may_die_at_any_operation_of_a_task() {
    for every in [3, 17, 120] {
        let work = check_shared_search(system, 4, Some(every));
        assert!(work.crashed > 5 && work.grown > 3, "{work:?}");
    }
}
