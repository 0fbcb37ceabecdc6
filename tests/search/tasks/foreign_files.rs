//! Foreign plans and receipts in a directory: a copy under another name, a remainder of an earlier plan, and bytes that
//! were changed and sealed again. Each is rejected with its reason, or the levels are correct.

use super::{levels, tiny_plan};
use crate::support::{Graph, Random, begin_or_resume};
use spill::{Disk, Error, FaultDisk, Result, load};
use spillway::search::checkpoint::{FORMAT, SavedSearch};
use spillway::search::tasks::{
    ExpansionContext, NextWork, PlanOutcome, ReceiptFault, SearchTask, SharingOptions, TaskPhase,
    TaskPlan, commit,
};
use spillway::search::{SearchControl, SearchLimits};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const GRAPH: Graph =
    Graph { nodes: 30_000, degree: 3, spread: 30_000, width: 3, broken: 0, dense: 29_000 };

/// A search with a plan whose tasks are done, but not committed.
struct FinishedPlan {
    disk: FaultDisk,
    plan: TaskPlan,
    /// The levels before and after the commit.
    levels: [Vec<Vec<u8>>; 2],
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

fn next_plan(disk: &FaultDisk) -> TaskPlan {
    match TaskPlan::next(disk, &GRAPH, &limits(), SharingOptions { tasks: 3, thin: 1 }) {
        Ok(NextWork::Tasks(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

fn run_task(disk: &FaultDisk, plan: &TaskPlan, number: u32) -> Result<()> {
    let PlanOutcome::Done(task) = SearchTask::find(disk, &plan.id(), number)? else {
        panic!("the plan is the current one")
    };
    let (memory, scratch) = (tiny_plan(1, GRAPH.width, 4_000, 16_000), Arc::new(FaultDisk::new()));
    let with_payload = ExpansionContext { model: &GRAPH, coverage: true, memory, scratch };
    let finished = match plan.phase.needs_model() {
        true => task.run_on_model(&with_payload)?,
        false => task.combine()?,
    };
    assert!(matches!(finished, PlanOutcome::Done(_)));
    Ok(())
}

/// A search at the first plan of a phase with several tasks, all done.
fn finished(phase: TaskPhase) -> FinishedPlan {
    let disk = FaultDisk::new();
    let control = SearchControl::new(Duration::from_secs(3600), None);
    let first_limits = SearchLimits { max_states: Some(60), ..limits() };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let memory = tiny_plan(1, GRAPH.width, 400, 3_000);
    begin_or_resume(&GRAPH, &shared, memory, &first_limits, &control).unwrap().run().unwrap();
    loop {
        let plan = next_plan(&disk);
        (0..plan.tasks()).for_each(|it| run_task(&disk, &plan, it).unwrap());
        let committed = disk.restart();
        assert!(matches!(commit(&committed, &plan.id()).unwrap(), PlanOutcome::Done(_)));
        if plan.phase == phase && plan.tasks() > 1 {
            let levels = [levels(&disk), levels(&committed)];
            return FinishedPlan { disk, plan, levels };
        }
        assert!(matches!(commit(&disk, &plan.id()).unwrap(), PlanOutcome::Done(_)));
    }
}

const PHASES: [TaskPhase; 3] = [TaskPhase::Expand, TaskPhase::Settle, TaskPhase::Merge];

impl FinishedPlan {
    fn receipt(&self, task: u32) -> String {
        format!("receipt-{}-{task:05}", self.plan.id())
    }

    fn plan_file(&self) -> String {
        format!("plan-{}", self.plan.id())
    }

    fn commit(&self, disk: &FaultDisk) -> Result<PlanOutcome<SavedSearch>> {
        commit(disk, &self.plan.id())
    }

    /// Asserts that a commit is rejected with this reason without changes, and that it succeeds after the task is run
    /// again.
    #[track_caller]
    fn assert_rejected(&self, disk: &FaultDisk, task: u32, why: &ReceiptFault) {
        assert_eq!(self.commit_failure(disk), (task, why.clone()));
        assert_eq!(levels(disk), self.levels[0]);
        run_task(disk, &self.plan, task).unwrap();
        assert!(matches!(self.commit(disk).unwrap(), PlanOutcome::Done(_)));
        assert_eq!(levels(disk), self.levels[1]);
    }

    #[track_caller]
    fn commit_failure(&self, disk: &FaultDisk) -> (u32, ReceiptFault) {
        match self.commit(disk).unwrap() {
            PlanOutcome::Undone(task, why) => (task, why),
            other => panic!("{other:?}"),
        }
    }

    /// A disk with another payload of a file.
    fn with_payload(&self, name: &str, payload: &[u8]) -> FaultDisk {
        let disk = self.disk.restart();
        spill::commit(&disk, name, FORMAT, payload).unwrap();
        disk
    }
}

fn copy(disk: &FaultDisk, from: &str, to: &str) {
    let bytes = disk.read(from).unwrap();
    let mut file = disk.create(to).unwrap();
    file.write(&bytes).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_receipt_named_for_another_task_is_rejected() {
    for phase in PHASES {
        let finished = finished(phase);
        for (from, to) in [(0, 1), (1, 0)] {
            let disk = finished.disk.restart();
            copy(&disk, &finished.receipt(from), &finished.receipt(to));
            finished.assert_rejected(&disk, to, &ReceiptFault::OtherTask(from));
        }
        let disk = finished.disk.restart();
        disk.remove(&finished.receipt(1)).unwrap();
        finished.assert_rejected(&disk, 1, &ReceiptFault::Missing);
    }
}

#[test]
fn a_receipt_of_another_plan_is_rejected() {
    for phase in PHASES {
        let finished = finished(phase);
        // The plan is made again, with the same name.
        let disk = finished.disk.restart();
        disk.remove(&finished.plan_file()).unwrap();
        let repeated = next_plan(&disk);
        assert!(repeated.id() == finished.plan.id() && repeated != finished.plan);
        assert_eq!(finished.commit_failure(&disk), (0, ReceiptFault::OtherPlan));
        (0..repeated.tasks()).for_each(|it| run_task(&disk, &repeated, it).unwrap());
        assert!(matches!(finished.commit(&disk).unwrap(), PlanOutcome::Done(_)));
        assert_eq!(levels(&disk), finished.levels[1]);
        // A receipt of the previous plan.
        let next = next_plan(&disk);
        copy_from(
            &finished.disk,
            &finished.receipt(0),
            &disk,
            &format!("receipt-{}-00000", next.id()),
        );
        let other = FinishedPlan { disk, plan: next, levels: finished.levels.clone() };
        assert_eq!(other.commit_failure(&other.disk), (0, ReceiptFault::OtherPlan));
        // The previous plan itself is stale.
        copy_from(&finished.disk, &finished.plan_file(), &other.disk, &finished.plan_file());
        assert!(matches!(finished.commit(&other.disk).unwrap(), PlanOutcome::Stale));
    }
}

fn copy_from(from: &FaultDisk, name: &str, to: &FaultDisk, as_name: &str) {
    let mut file = to.create(as_name).unwrap();
    file.write(&from.read(name).unwrap()).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_plan_under_another_name_is_rejected() {
    for phase in PHASES {
        let finished = finished(phase);
        for other in PHASES.into_iter().filter(|it| *it != phase) {
            let id = finished.plan.id().replace(phase.name(), other.name());
            copy(&finished.disk, &finished.plan_file(), &format!("plan-{id}"));
            let error = commit(&finished.disk, &id).unwrap_err();
            let message =
                format!("plan-{id} is damaged at byte 0: it is the plan {}", finished.plan.id());
            assert_eq!(error.to_string(), message);
        }
    }
}

#[test]
fn changed_files_of_a_task_are_detected() {
    for phase in PHASES {
        let finished = finished(phase);
        let files = finished.disk.list().unwrap().into_iter().map(|it| it.0);
        let before: BTreeSet<String> =
            SavedSearch::load(&finished.disk).unwrap().files().map(|it| it.to_string()).collect();
        let written: Vec<String> =
            files.filter(|it| spill::FileName::is_key_file(it) && !before.contains(it)).collect();
        assert_eq!(written.len(), finished.plan.tasks() as usize, "{phase:?}");
        let disk = finished.disk.restart();
        disk.remove(&written[1]).unwrap();
        finished.assert_rejected(&disk, 1, &ReceiptFault::MissingFile(written[1].clone()));
        let disk = finished.disk.restart();
        copy(&disk, &written[0], &written[1]);
        let (task, why) = finished.commit_failure(&disk);
        let is_reported = match &why {
            ReceiptFault::ChangedFile(file) => *file == written[1],
            // The file is too short for the receipt.
            ReceiptFault::Damaged(how) => how.contains(&written[1]),
            _ => false,
        };
        assert!(task == 1 && is_reported, "{task}: {why}");
    }
}

/// Whether a commit accepts changed bytes. If it does, the levels are correct. If not, the store is unchanged.
fn is_accepted(finished: &FinishedPlan, disk: &FaultDisk, what: &str) -> bool {
    match finished.commit(disk) {
        Ok(PlanOutcome::Done(_)) => {
            assert_eq!(levels(disk), finished.levels[1], "{what}");
            true
        }
        Ok(PlanOutcome::Undone(..) | PlanOutcome::Stale) | Err(Error::Corrupt { .. }) => {
            let manifest = |disk: &FaultDisk| disk.read("manifest").unwrap();
            assert!(manifest(disk) == manifest(&finished.disk), "{what}");
            false
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn resealed_plans_and_receipts_change_no_level() {
    for phase in PHASES {
        let finished = finished(phase);
        for name in [finished.plan_file(), finished.receipt(0), finished.receipt(1)] {
            let payload = load(&finished.disk, &name, FORMAT).unwrap();
            let (mut refused, mut random) = (0, Random::new(7));
            for at in 0..payload.len() {
                for bit in [0, 3, 7, random.below(8)] {
                    let mut changed = payload.clone();
                    changed[at] ^= 1 << bit;
                    let disk = finished.with_payload(&name, &changed);
                    let what = format!("{phase:?} {name}: byte {at}, bit {bit}");
                    refused += u32::from(!is_accepted(&finished, &disk, &what));
                }
            }
            let all = 4 * payload.len() as u32;
            assert!(refused * 2 > all, "{name}: {refused} of {all} are refused");
        }
    }
}
