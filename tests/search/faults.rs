//! Whole searches on a disk that fails at every single operation, loses power, or flips bits.
//!
//! A search that is resumed must always end with the oracle's outcome; damage must be detected or have no effect.
//! `SPILLWAY_LARGE` tries every operation of more searches, with more outcomes of each loss of power.

use crate::support::{Graph, begin_or_resume, is_large, tiny_plan};
use spill::fault::FaultPlan;
use spill::{Disk, Error, FaultDisk, Result};
use spillway::model::{StateSpace, memory};
use spillway::search::checkpoint::MANIFEST;
use spillway::search::{MemoryPlan, SearchControl, SearchLimits, SearchOutcome};
use std::sync::Arc;
use std::time::Duration;

/// A search small enough to repeat a thousand times that yet meets everything a large one does:
/// states so wide that a block holds few, buffers so small that most candidates go to disk.
struct Case {
    graph: Graph,
    plan: MemoryPlan,
    /// Whether checkpoints are made at every chance.
    incessant: bool,
}

fn cases() -> Vec<Case> {
    let wide = Graph { nodes: 900, degree: 4, spread: 900, width: 900, broken: 40, dense: 100 };
    let deep = Graph { nodes: 700, degree: 3, spread: 40, width: 9, broken: 0, dense: 500 };
    let case = |graph: &Graph, threads, buffer, young, incessant| Case {
        graph: graph.clone(),
        plan: tiny_plan(threads, graph.width, buffer, young),
        incessant,
    };
    let mut cases = vec![case(&wide, 1, 300, 80, true), case(&deep, 1, 40, 100, true)];
    if is_large() {
        cases.push(case(&wide, 2, 200, 600, true));
        cases.push(case(&wide, 1, 100, 80, false));
        cases.push(case(&deep, 2, 30, 2000, true));
    }
    cases
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

impl Case {
    fn run(&self, disk: &FaultDisk, limits: &SearchLimits) -> Result<SearchOutcome> {
        let every = if self.incessant { Duration::ZERO } else { Duration::from_secs(3600) };
        let control = SearchControl::new(every, None);
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        begin_or_resume(&self.graph, &disk, self.plan, limits, &control)?.run()
    }

    fn expected(&self) -> SearchOutcome {
        memory::search(&self.graph, &limits()).unwrap()
    }

    /// The operations of an undisturbed search.
    fn operations(&self) -> u64 {
        let disk = FaultDisk::new();
        let outcome = self.run(&disk, &limits()).unwrap();
        assert_eq!(outcome, self.expected());
        println!(
            "{} states, {} levels, {} operations",
            outcome.states(),
            outcome.levels.len(),
            disk.operations()
        );
        disk.operations()
    }

    /// Goes on with a search on a disk that works.
    fn must_end_well(&self, disk: &FaultDisk, what: &str) {
        match self.run(disk, &limits()) {
            Ok(outcome) => assert_eq!(outcome, self.expected(), "{what}"),
            Err(error) => panic!("{what}: {error}"),
        }
    }
}

/// Every file but the manifest, whose times differ.
fn contents(disk: &FaultDisk) -> Vec<(String, Vec<u8>)> {
    let files = disk.list().unwrap().into_iter().map(|(name, _)| name);
    files
        .filter(|name| name != MANIFEST)
        .map(|name| (name.clone(), disk.read(&name).unwrap()))
        .collect()
}

#[test]
fn any_operation_may_fail() {
    let (mut searches, mut faults) = (0, 0);
    for case in cases() {
        let operations = case.operations();
        let stride = if is_large() { 1 } else { operations / 400 + 1 };
        for at in (0..operations).step_by(stride as usize) {
            let kinds: [(&str, FaultPlan); 3] = [
                ("an error", FaultPlan::new().seed(at).io_error_at(at)),
                ("a full disk", FaultPlan::new().seed(at).full_at(at)),
                ("a full disk from then on", FaultPlan::new().seed(at).full_from(at)),
            ];
            for (kind, plan) in kinds {
                let what = format!("{kind} at operation {at} of {operations}");
                let disk = FaultDisk::with_faults(plan);
                if let Ok(outcome) = case.run(&disk, &limits()) {
                    assert_eq!(outcome, case.expected(), "{what}");
                }
                let disk = disk.restart();
                case.must_end_well(&disk, &what);
                searches += 2;
                faults += 1;
            }
        }
    }
    println!("{searches} sittings, {faults} faults");
}

#[test]
fn power_may_be_lost_and_the_process_killed_at_any_operation() {
    let (mut sittings, mut losses) = (0, 0);
    let seeds = if is_large() { 12 } else { 3 };
    for case in cases() {
        let operations = case.operations();
        let stride = if is_large() { 1 } else { operations / 400 + 1 };
        for at in (0..operations).step_by(stride as usize) {
            let disk = FaultDisk::with_faults(FaultPlan::new().seed(at).crash_at(at));
            assert!(case.run(&disk, &limits()).is_err(), "nothing works after a crash");
            for seed in 0..seeds {
                let what = format!("power lost at operation {at} of {operations}, outcome {seed}");
                case.must_end_well(&disk.reboot(seed), &what);
            }
            case.must_end_well(&disk.restart(), &format!("killed at operation {at}"));
            // Killed, and power lost early in the next sitting, before all is durable again.
            for later in [1, 4, 15] {
                let again = disk.restart();
                again.set_plan(FaultPlan::new().seed(at).crash_at(again.operations() + later));
                let _ = case.run(&again, &limits());
                let what = format!("killed at operation {at}, power lost {later} later");
                case.must_end_well(&again.reboot(0), &what);
            }
            sittings += seeds + 8;
            losses += seeds + 7;
        }
    }
    println!("{sittings} sittings, {losses} losses of power or of the process");
}

#[test]
fn faults_may_come_again_and_again() {
    for case in cases() {
        let operations = case.operations();
        let mut disk = FaultDisk::new();
        let mut sittings = 0;
        // Each sitting gets a little further than the last, so the search ends.
        for sitting in 1.. {
            let at = operations * sitting / 40 + 5;
            let plan = match sitting % 3 {
                0 => FaultPlan::new().io_error_at(at),
                1 => FaultPlan::new().full_from(at),
                _ => FaultPlan::new().crash_at(at),
            };
            disk.set_plan(plan.seed(sitting));
            sittings = sitting;
            if let Ok(outcome) = case.run(&disk, &limits()) {
                assert_eq!(outcome, case.expected());
                break;
            }
            disk = if sitting % 3 == 2 { disk.reboot(sitting) } else { disk.restart() };
        }
        println!("{sittings} sittings");
    }
}

#[test]
fn the_files_left_are_the_same_however_often_it_was_interrupted() {
    for case in cases() {
        let undisturbed = FaultDisk::new();
        case.run(&undisturbed, &limits()).unwrap();
        let operations = undisturbed.operations();
        for at in (1..operations).step_by((operations / 12 + 1) as usize) {
            let disk = FaultDisk::with_faults(FaultPlan::new().seed(at).crash_at(at));
            assert!(case.run(&disk, &limits()).is_err());
            let disk = disk.reboot(at);
            case.must_end_well(&disk, "power lost");
            let (ours, theirs) = (contents(&disk), contents(&undisturbed));
            let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
                files.iter().map(|(name, _)| name.clone()).collect()
            };
            assert_eq!(names(&ours), names(&theirs));
            assert!(ours == theirs, "the same files hold other bytes");
        }
        let left = contents(&undisturbed);
        assert!(
            left.iter()
                .all(|(name, _)| { name.starts_with("levels-") || name.starts_with("merged-") })
        );
    }
}

#[test]
fn rot_is_noticed_or_does_not_matter() {
    let (mut flips, mut noticed) = (0, 0);
    for case in cases() {
        // Stopped in the middle, so that there are files of every sort.
        let disk = FaultDisk::with_faults(FaultPlan::new().crash_at(case.operations() * 2 / 3));
        assert!(case.run(&disk, &limits()).is_err());
        let disk = disk.reboot(1);
        for (name, length) in disk.list().unwrap() {
            let samples = if is_large() { 400 } else { 40 };
            for sample in 0..samples.min(length) {
                let offset = sample * length / samples.min(length);
                let copy = disk.restart();
                copy.flip_bit(&name, offset, (offset % 8) as u32);
                flips += 1;
                let what = format!("bit flipped in {name} at {offset} of {length}");
                noticed += u64::from(!ends_well_or_is_corrupt(&case, &copy, &name, &what));
            }
            for sample in 0..8 {
                let copy = disk.restart();
                let length = length * sample / 8;
                copy.truncate(&name, length);
                flips += 1;
                let what = format!("{name} truncated to {length}");
                noticed += u64::from(!ends_well_or_is_corrupt(&case, &copy, &name, &what));
            }
        }
    }
    println!("{flips} damages, {noticed} of them noticed, the others without effect");
}

/// Whether the search ended well; otherwise it must have named the damaged file.
fn ends_well_or_is_corrupt(case: &Case, disk: &FaultDisk, name: &str, what: &str) -> bool {
    match case.run(disk, &limits()) {
        Ok(outcome) => {
            assert_eq!(outcome, case.expected(), "{what}");
            true
        }
        Err(Error::Corrupt { file, offset, .. }) => {
            let length = disk.list().unwrap().into_iter().find(|(it, _)| it == name).unwrap().1;
            assert!(file == name && offset <= length, "{what}: {file} at {offset}");
            false
        }
        Err(error) => panic!("{what}: {error}"),
    }
}

#[test]
fn the_cases_meet_every_sort_of_file() {
    let case = &cases()[0];
    let mut seen = Vec::new();
    for at in 0..case.operations() {
        let disk = FaultDisk::with_faults(FaultPlan::new().crash_at(at));
        let _ = case.run(&disk, &limits());
        seen.extend(disk.restart().list().unwrap().into_iter().map(|(name, _)| name));
    }
    for sort in ["levels-", "merged-", "candidates-", "manifest"] {
        assert!(seen.iter().any(|name| name.starts_with(sort)), "no {sort} in {seen:?}");
    }
    assert_eq!(case.graph.width(), 900);
}
