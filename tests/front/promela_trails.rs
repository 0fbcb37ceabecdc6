//! Counterexamples of Promela models as trails, replayed by SPIN if it is installed.

use std::path::Path;
use std::process::Command;

/// Runs a command. Returns its exit code and its output.
fn run(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
}

/// Returns the trail of the model's first counterexample, and SPIN's output when it replays the trail, or nothing if
/// SPIN is not installed.
fn replay_with_spin(model: &Path) -> Option<(String, String)> {
    if Command::new("spin").arg("-V").output().is_err() {
        eprintln!("there is no spin to replay trails with");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let (search, trail) = (folder.path().join("search"), folder.path().join("trail"));
    let spillway = env!("CARGO_BIN_EXE_spillway");
    let (code, output) =
        run(Command::new(spillway).arg("check").arg(model).arg("--dir").arg(&search));
    assert_eq!(code, 1, "{output}");
    let (code, output) =
        run(Command::new(spillway).arg("trace").arg(&search).arg("--spin-trail").arg(&trail));
    assert_eq!(code, 0, "{output}");
    // `check --spin-trail` writes the same trail.
    let of_check = folder.path().join("of_check");
    let (code, output) =
        run(Command::new(spillway).arg("check").arg(model).arg("--spin-trail").arg(&of_check));
    assert_eq!(code, 1, "{output}");
    assert_eq!(std::fs::read(&of_check).unwrap(), std::fs::read(&trail).unwrap());
    let lines = std::fs::read_to_string(&trail).unwrap();
    let (_, output) = run(Command::new("spin")
        .args(["-t", "-p", "-k"])
        .arg(&trail)
        .arg(model)
        .current_dir(&folder));
    // If SPIN cannot follow the trail, it stops early and prints another number.
    let steps = lines.lines().filter(|line| !line.starts_with('-')).count();
    let expected_end = format!("trail ends after {steps} steps");
    assert!(output.contains(&expected_end), "{lines}\n{output}");
    Some((lines, output))
}

fn own_model(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/promela").join(name)
}

#[test]
fn spin_replays_failed_assertions() {
    for name in ["lost_update.pml", "gossip.pml"] {
        if let Some((_, output)) = replay_with_spin(&own_model(name)) {
            assert!(output.contains("assertion violated"), "{name}:\n{output}");
        }
    }
}

#[test]
fn spin_replays_deadlocks() {
    if let Some((_, output)) = replay_with_spin(&own_model("philosophers.pml")) {
        assert!(!output.contains("assertion violated"), "{output}");
        assert!(output.contains("fork[0] = 1") && output.contains("fork[3] = 1"), "{output}");
    }
}

#[test]
fn spin_replays_sequences_rendezvous_and_dynamic_processes() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.pml");
    let text = "
        chan c = [0] of { byte, byte };
        chan box = [2] of { byte };
        byte sum;
        proctype Worker(byte n) { atomic { c!n, _pid; box!n } }
        proctype Reader() {
            byte n, who;
            end: do
            :: atomic { c?n, who -> sum = sum + n }
            :: d_step { box?n -> if :: n > 1 -> sum = sum + 1 :: else -> skip fi }
            od
        }
        init {
            run Reader();
            atomic { run Worker(1); run Worker(2) }
            (_nr_pr == 2);
            run Worker(3);
            { do :: true -> (sum == 0) od } unless { sum >= 8 };
            assert(sum < 8)
        }
    ";
    std::fs::write(&model, text).unwrap();
    if let Some((_, output)) = replay_with_spin(&model) {
        assert!(output.contains("assertion violated"), "{output}");
        assert!(output.contains("sum = 8"), "{output}");
    }
}

/// Returns the trail of a model's counterexample, and SPIN's output when it replays the trail.
fn replay_text_with_spin(text: &str) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.pml");
    std::fs::write(&model, text).unwrap();
    replay_with_spin(&model)
}

#[test]
fn spin_replays_violated_claims() {
    let text = "
        byte x;
        proctype Q(byte k) { x = k; x = k + 1 }
        active proctype P() { run Q(1); x == 2; run Q(5); (x == 6) }
        never { do :: x == 2 -> break :: else od; do :: x == 6 -> goto fin :: else od; fin: skip }
    ";
    if let Some((lines, output)) = replay_text_with_spin(text) {
        // Processes and claims are numbered in the order of their declarations.
        assert!(lines.starts_with("-2:2:-2\n"), "{lines}");
        assert!(output.contains("x = 6"), "{output}");
        assert!(output.contains("Never claim moves to line 5"), "{output}");
    }
}

#[test]
fn spin_replays_claims_that_continue_alone() {
    let text = "
        byte x;
        active proctype P() { x = 1; false }
        never { x == 0; A: x == 1; B: x == 1; C: x == 1; D: x == 1; E: x == 1 }
    ";
    if let Some((lines, output)) = replay_text_with_spin(text) {
        assert_eq!(
            lines.lines().last().map(|line| line.starts_with("7:0:")),
            Some(true),
            "{lines}"
        );
        assert!(output.contains("x = 1"), "{output}");
    }
}

#[test]
fn spin_replays_failed_assertions_under_a_claim() {
    let process = "
        chan c = [0] of { byte };
        byte x;
        active proctype S() { c!1; c!2; c!3 }
        active proctype R() { do :: atomic { c?x; assert(x != 3) } od }
        never { do :: x < 3 -> assert(x < 4) :: x == 2 od }
    ";
    let claim = "
        byte x;
        active proctype P() { do :: x < 5 -> x++ od }
        never { do :: assert(x != 4) od }
    ";
    for text in [process, claim] {
        if let Some((_, output)) = replay_text_with_spin(text) {
            assert!(output.contains("assertion violated"), "{output}");
        }
    }
}
