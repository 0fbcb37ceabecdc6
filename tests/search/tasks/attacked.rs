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

/// A search in which the tasks of a plan are done, but not committed.
struct Done {
    disk: FaultDisk,
    plan: TaskPlan,
    /// The levels as they were, and as they are when it is committed.
    levels: [Vec<Vec<u8>>; 2],
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

fn planned(disk: &FaultDisk) -> TaskPlan {
    match TaskPlan::next(disk, &GRAPH, &limits(), SharingOptions { tasks: 3, thin: 1 }) {
        Ok(NextWork::Tasks(plan)) => plan,
        other => panic!("{other:?}"),
    }
}

fn does(disk: &FaultDisk, plan: &TaskPlan, number: u32) -> Result<()> {
    let PlanOutcome::Done(task) = SearchTask::find(disk, &plan.id(), number)? else {
        panic!("the plan is the current one")
    };
    let (memory, scratch) = (tiny_plan(1, GRAPH.width, 4_000, 16_000), Arc::new(FaultDisk::new()));
    let with = ExpansionContext { model: &GRAPH, coverage: true, memory, scratch };
    let done = match plan.phase.needs_model() {
        true => task.run_on_model(&with)?,
        false => task.combine()?,
    };
    assert!(matches!(done, PlanOutcome::Done(_)));
    Ok(())
}

/// A search at the first plan of a phase that has several tasks, all done, and at least so many plans before it.
fn done(phase: TaskPhase) -> Done {
    let disk = FaultDisk::new();
    let control = SearchControl::new(Duration::from_secs(3600), None);
    let begun = SearchLimits { max_states: Some(60), ..limits() };
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let memory = tiny_plan(1, GRAPH.width, 400, 3_000);
    begin_or_resume(&GRAPH, &shared, memory, &begun, &control).unwrap().run().unwrap();
    loop {
        let plan = planned(&disk);
        (0..plan.tasks()).for_each(|it| does(&disk, &plan, it).unwrap());
        let committed = disk.restart();
        assert!(matches!(commit(&committed, &plan.id()).unwrap(), PlanOutcome::Done(_)));
        if plan.phase == phase && plan.tasks() > 1 {
            let levels = [levels(&disk), levels(&committed)];
            return Done { disk, plan, levels };
        }
        assert!(matches!(commit(&disk, &plan.id()).unwrap(), PlanOutcome::Done(_)));
    }
}

const PHASES: [TaskPhase; 3] = [TaskPhase::Expand, TaskPhase::Settle, TaskPhase::Merge];

impl Done {
    fn receipt(&self, task: u32) -> String {
        format!("receipt-{}-{task:05}", self.plan.id())
    }

    fn plan_file(&self) -> String {
        format!("plan-{}", self.plan.id())
    }

    fn commit(&self, disk: &FaultDisk) -> Result<PlanOutcome<SavedSearch>> {
        commit(disk, &self.plan.id())
    }

    /// That a commit is refused for this reason, that nothing is changed by it, and that it goes on when the task is done again.
    #[track_caller]
    fn refuses(&self, disk: &FaultDisk, task: u32, why: &ReceiptFault) {
        assert_eq!(self.undone(disk), (task, why.clone()));
        assert_eq!(levels(disk), self.levels[0]);
        does(disk, &self.plan, task).unwrap();
        assert!(matches!(self.commit(disk).unwrap(), PlanOutcome::Done(_)));
        assert_eq!(levels(disk), self.levels[1]);
    }

    #[track_caller]
    fn undone(&self, disk: &FaultDisk) -> (u32, ReceiptFault) {
        match self.commit(disk).unwrap() {
            PlanOutcome::Undone(task, why) => (task, why),
            other => panic!("{other:?}"),
        }
    }

    /// A disk on which the payload of a file is another one.
    fn with(&self, name: &str, payload: &[u8]) -> FaultDisk {
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
fn a_receipt_under_the_name_of_another_task_is_refused() {
    for phase in PHASES {
        let done = done(phase);
        for (from, to) in [(0, 1), (1, 0)] {
            let disk = done.disk.restart();
            copy(&disk, &done.receipt(from), &done.receipt(to));
            done.refuses(&disk, to, &ReceiptFault::OtherTask(from));
        }
        let disk = done.disk.restart();
        disk.remove(&done.receipt(1)).unwrap();
        done.refuses(&disk, 1, &ReceiptFault::Missing);
    }
}

#[test]
fn a_receipt_of_another_plan_is_refused() {
    for phase in PHASES {
        let done = done(phase);
        // Planned once more, with the same name.
        let disk = done.disk.restart();
        disk.remove(&done.plan_file()).unwrap();
        let again = planned(&disk);
        assert!(again.id() == done.plan.id() && again != done.plan);
        assert_eq!(done.undone(&disk), (0, ReceiptFault::OtherPlan));
        (0..again.tasks()).for_each(|it| does(&disk, &again, it).unwrap());
        assert!(matches!(done.commit(&disk).unwrap(), PlanOutcome::Done(_)));
        assert_eq!(levels(&disk), done.levels[1]);
        // One of the plan before.
        let next = planned(&disk);
        copy_from(&done.disk, &done.receipt(0), &disk, &format!("receipt-{}-00000", next.id()));
        let other = Done { disk, plan: next, levels: done.levels.clone() };
        assert_eq!(other.undone(&other.disk), (0, ReceiptFault::OtherPlan));
        // And that plan itself is over.
        copy_from(&done.disk, &done.plan_file(), &other.disk, &done.plan_file());
        assert!(matches!(done.commit(&other.disk).unwrap(), PlanOutcome::Stale));
    }
}

fn copy_from(from: &FaultDisk, name: &str, to: &FaultDisk, as_name: &str) {
    let mut file = to.create(as_name).unwrap();
    file.write(&from.read(name).unwrap()).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_plan_under_another_name_is_refused() {
    for phase in PHASES {
        let done = done(phase);
        for other in PHASES.into_iter().filter(|it| *it != phase) {
            let id = done.plan.id().replace(phase.name(), other.name());
            copy(&done.disk, &done.plan_file(), &format!("plan-{id}"));
            let error = commit(&done.disk, &id).unwrap_err();
            let said = format!("plan-{id} is damaged at byte 0: it is the plan {}", done.plan.id());
            assert_eq!(error.to_string(), said);
        }
    }
}

#[test]
fn what_a_task_wrote_is_looked_at() {
    for phase in PHASES {
        let done = done(phase);
        let files = done.disk.list().unwrap().into_iter().map(|it| it.0);
        let before: BTreeSet<String> =
            SavedSearch::load(&done.disk).unwrap().files().map(|it| it.to_string()).collect();
        let written: Vec<String> =
            files.filter(|it| spill::FileName::is_key_file(it) && !before.contains(it)).collect();
        assert_eq!(written.len(), done.plan.tasks() as usize, "{phase:?}");
        let disk = done.disk.restart();
        disk.remove(&written[1]).unwrap();
        done.refuses(&disk, 1, &ReceiptFault::MissingFile(written[1].clone()));
        let disk = done.disk.restart();
        copy(&disk, &written[0], &written[1]);
        let (task, why) = done.undone(&disk);
        let is_told = match &why {
            ReceiptFault::ChangedFile(file) => *file == written[1],
            // It is too short for what the receipt says.
            ReceiptFault::Damaged(how) => how.contains(&written[1]),
            _ => false,
        };
        assert!(task == 1 && is_told, "{task}: {why}");
    }
}

/// What can be refused is refused; whatever else a changed byte says, the levels are those that they would be.
fn is_sound(done: &Done, disk: &FaultDisk, what: &str) -> bool {
    match done.commit(disk) {
        Ok(PlanOutcome::Done(_)) => {
            assert_eq!(levels(disk), done.levels[1], "{what}");
            true
        }
        Ok(PlanOutcome::Undone(..) | PlanOutcome::Stale) | Err(Error::Corrupt { .. }) => {
            let manifest = |disk: &FaultDisk| disk.read("manifest").unwrap();
            assert!(manifest(disk) == manifest(&done.disk), "{what}");
            false
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn changed_bytes_that_are_sealed_again_change_no_level() {
    for phase in PHASES {
        let done = done(phase);
        for name in [done.plan_file(), done.receipt(0), done.receipt(1)] {
            let payload = load(&done.disk, &name, FORMAT).unwrap();
            let (mut refused, mut random) = (0, Random::new(7));
            for at in 0..payload.len() {
                for bit in [0, 3, 7, random.below(8)] {
                    let mut changed = payload.clone();
                    changed[at] ^= 1 << bit;
                    let disk = done.with(&name, &changed);
                    let what = format!("{phase:?} {name}: byte {at}, bit {bit}");
                    refused += u32::from(!is_sound(&done, &disk, &what));
                }
            }
            let all = 4 * payload.len() as u32;
            assert!(refused * 2 > all, "{name}: {refused} of {all} are refused");
        }
    }
}
