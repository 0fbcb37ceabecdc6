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

/// A search that can be repeated a thousand times and yet has every part of a large one: wide states, so that a block
/// holds few, and small buffers, so that most candidates go to disk.
struct FaultCase {
    graph: Graph,
    plan: MemoryPlan,
    /// Whether checkpoints are made at every chance.
    checkpoints_always: bool,
}

fn cases() -> Vec<FaultCase> {
    let wide = Graph { nodes: 900, degree: 4, spread: 900, width: 900, broken: 40, dense: 100 };
    let deep = Graph { nodes: 700, degree: 3, spread: 40, width: 9, broken: 0, dense: 500 };
    // Small levels, with memory for them.
    let narrow = Graph { nodes: 50, degree: 2, spread: 2, width: 20, broken: 0, dense: 25 };
    let case = |graph: &Graph, threads, buffer, young, checkpoints_always| FaultCase {
        graph: graph.clone(),
        plan: tiny_plan(threads, graph.width, buffer, young),
        checkpoints_always,
    };
    let mut cases = vec![
        case(&wide, 1, 300, 80, true),
        case(&deep, 1, 40, 100, true),
        case(&narrow, 1, 400, 20_000, true),
    ];
    if is_large() {
        cases.push(case(&wide, 2, 200, 600, true));
        cases.push(case(&wide, 1, 100, 80, false));
        cases.push(case(&deep, 2, 30, 2000, true));
        cases.push(case(&narrow, 1, 400, 20_000, false));
    }
    cases
}

fn limits() -> SearchLimits {
    SearchLimits { stop_on_violation: false, ..SearchLimits::default() }
}

impl FaultCase {
    fn run(&self, disk: &FaultDisk, limits: &SearchLimits) -> Result<SearchOutcome> {
        let every =
            if self.checkpoints_always { Duration::ZERO } else { Duration::from_secs(3600) };
        let control = SearchControl::new(every, None);
        let disk: Arc<dyn Disk> = Arc::new(disk.clone());
        begin_or_resume(&self.graph, &disk, self.plan, limits, &control)?.run()
    }

    fn expected(&self) -> SearchOutcome {
        memory::search(&self.graph, &limits()).unwrap()
    }

    /// The number of operations of a search without faults.
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

    /// Resumes a search on a working disk, and asserts its outcome.
    fn assert_resumes(&self, disk: &FaultDisk, what: &str) {
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
fn searches_resume_after_a_failure_of_any_operation() {
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
                case.assert_resumes(&disk, &what);
                searches += 2;
                faults += 1;
            }
        }
    }
    println!("{searches} sittings, {faults} faults");
}

#[test]
fn searches_resume_after_power_loss_or_kill_at_any_operation() {
    let (mut sessions, mut losses) = (0, 0);
    let seeds = if is_large() { 12 } else { 3 };
    for case in cases() {
        let operations = case.operations();
        let stride = if is_large() { 1 } else { operations / 400 + 1 };
        for at in (0..operations).step_by(stride as usize) {
            let disk = FaultDisk::with_faults(FaultPlan::new().seed(at).crash_at(at));
            assert!(case.run(&disk, &limits()).is_err(), "nothing works after a crash");
            for seed in 0..seeds {
                let what = format!("power lost at operation {at} of {operations}, outcome {seed}");
                case.assert_resumes(&disk.reboot(seed), &what);
            }
            case.assert_resumes(&disk.restart(), &format!("killed at operation {at}"));
            // The process is killed, and power is lost early in the next session, before everything is durable again.
            for later in [1, 4, 15] {
                let restarted = disk.restart();
                restarted
                    .set_plan(FaultPlan::new().seed(at).crash_at(restarted.operations() + later));
                let _ = case.run(&restarted, &limits());
                let what = format!("killed at operation {at}, power lost {later} later");
                case.assert_resumes(&restarted.reboot(0), &what);
            }
            sessions += seeds + 8;
            losses += seeds + 7;
        }
    }
    println!("{sessions} sittings, {losses} losses of power or of the process");
}

#[test]
fn searches_resume_after_repeated_faults() {
    for case in cases() {
        let operations = case.operations();
        let mut disk = FaultDisk::new();
        let mut sessions = 0;
        // Each session gets further than the last, so the search ends.
        for session in 1.. {
            let at = operations * session / 40 + 5;
            let plan = match session % 3 {
                0 => FaultPlan::new().io_error_at(at),
                1 => FaultPlan::new().full_from(at),
                _ => FaultPlan::new().crash_at(at),
            };
            disk.set_plan(plan.seed(session));
            sessions = session;
            if let Ok(outcome) = case.run(&disk, &limits()) {
                assert_eq!(outcome, case.expected());
                break;
            }
            disk = if session % 3 == 2 { disk.reboot(session) } else { disk.restart() };
        }
        println!("{sessions} sittings");
    }
}

#[test]
fn interruptions_do_not_change_the_final_files() {
    for case in cases() {
        let undisturbed = FaultDisk::new();
        case.run(&undisturbed, &limits()).unwrap();
        let operations = undisturbed.operations();
        for at in (1..operations).step_by((operations / 12 + 1) as usize) {
            let disk = FaultDisk::with_faults(FaultPlan::new().seed(at).crash_at(at));
            assert!(case.run(&disk, &limits()).is_err());
            let disk = disk.reboot(at);
            case.assert_resumes(&disk, "power lost");
            let (files, expected) = (contents(&disk), contents(&undisturbed));
            let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
                files.iter().map(|(name, _)| name.clone()).collect()
            };
            assert_eq!(names(&files), names(&expected));
            assert!(files == expected, "the same files hold other bytes");
        }
        let remaining = contents(&undisturbed);
        assert!(
            remaining
                .iter()
                .all(|(name, _)| { name.starts_with("levels-") || name.starts_with("merged-") })
        );
    }
}

#[test]
fn damage_is_detected_or_has_no_effect() {
    let (mut flips, mut noticed) = (0, 0);
    for case in cases() {
        // Stopped in the middle, so that there are files of every kind.
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
                noticed += u64::from(!ends_well(&case, &copy, &name, &what));
            }
            for sample in 0..8 {
                let copy = disk.restart();
                let length = length * sample / 8;
                copy.truncate(&name, length);
                flips += 1;
                let what = format!("{name} truncated to {length}");
                noticed += u64::from(!ends_well(&case, &copy, &name, &what));
            }
        }
    }
    println!("{flips} damages, {noticed} of them noticed, the others without effect");
}

/// Whether the search ended with the expected outcome. Otherwise it must have named the damaged file.
fn ends_well(case: &FaultCase, disk: &FaultDisk, name: &str, what: &str) -> bool {
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
fn the_cases_have_every_kind_of_file() {
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
