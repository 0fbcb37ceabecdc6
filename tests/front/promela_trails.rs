//! Counterexamples of Promela models as trails, replayed by SPIN if it is installed.

use std::path::Path;
use std::process::Command;

/// Runs a command, and gives its exit code and all it says.
fn run(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

/// The trail of the model's first counterexample and what SPIN says when it replays it, or nothing
/// if there is no SPIN.
fn replayed(model: &Path) -> Option<(String, String)> {
    if Command::new("spin").arg("-V").output().is_err() {
        eprintln!("there is no spin to replay trails with");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let (search, trail) = (folder.path().join("search"), folder.path().join("trail"));
    let spillway = env!("CARGO_BIN_EXE_spillway");
    let (code, said) =
        run(Command::new(spillway).arg("check").arg(model).arg("--dir").arg(&search));
    assert_eq!(code, 1, "{said}");
    let (code, said) =
        run(Command::new(spillway).arg("trace").arg(&search).arg("--spin-trail").arg(&trail));
    assert_eq!(code, 0, "{said}");
    // `check` writes the same.
    let of_check = folder.path().join("of_check");
    let (code, said) =
        run(Command::new(spillway).arg("check").arg(model).arg("--spin-trail").arg(&of_check));
    assert_eq!(code, 1, "{said}");
    assert_eq!(std::fs::read(&of_check).unwrap(), std::fs::read(&trail).unwrap());
    let lines = std::fs::read_to_string(&trail).unwrap();
    let (_, said) = run(Command::new("spin")
        .args(["-t", "-p", "-k"])
        .arg(&trail)
        .arg(model)
        .current_dir(&folder));
    // SPIN stops early, and says another number, where it cannot follow.
    let steps = lines.lines().filter(|line| !line.starts_with('-')).count();
    let ends = format!("trail ends after {steps} steps");
    assert!(said.contains(&ends), "{lines}\n{said}");
    Some((lines, said))
}

fn own(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/promela").join(name)
}

#[test]
fn a_failed_assertion_fails_again() {
    for name in ["lost_update.pml", "gossip.pml"] {
        if let Some((_, said)) = replayed(&own(name)) {
            assert!(said.contains("assertion violated"), "{name}:\n{said}");
        }
    }
}

#[test]
fn a_deadlock_is_come_to_again() {
    if let Some((_, said)) = replayed(&own("philosophers.pml")) {
        assert!(!said.contains("assertion violated"), "{said}");
        assert!(said.contains("fork[0] = 1") && said.contains("fork[3] = 1"), "{said}");
    }
}

#[test]
fn sequences_rendezvous_and_processes_that_come_and_go_are_followed() {
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
    if let Some((_, said)) = replayed(&model) {
        assert!(said.contains("assertion violated"), "{said}");
        assert!(said.contains("sum = 8"), "{said}");
    }
}

/// A model, and what SPIN says when it replays its counterexample.
fn replayed_text(text: &str) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.pml");
    std::fs::write(&model, text).unwrap();
    replayed(&model)
}

#[test]
fn a_claim_comes_to_its_end_again() {
    let text = "
        byte x;
        proctype Q(byte k) { x = k; x = k + 1 }
        active proctype P() { run Q(1); x == 2; run Q(5); (x == 6) }
        never { do :: x == 2 -> break :: else od; do :: x == 6 -> goto fin :: else od; fin: skip }
    ";
    if let Some((lines, said)) = replayed_text(text) {
        // Processes and claims are numbered as they stand.
        assert!(lines.starts_with("-2:2:-2\n"), "{lines}");
        assert!(said.contains("x = 6"), "{said}");
        assert!(said.contains("Never claim moves to line 5"), "{said}");
    }
}

#[test]
fn a_claim_goes_on_alone_where_the_system_stands_still_again() {
    let text = "
        byte x;
        active proctype P() { x = 1; false }
        never { x == 0; A: x == 1; B: x == 1; C: x == 1; D: x == 1; E: x == 1 }
    ";
    if let Some((lines, said)) = replayed_text(text) {
        assert_eq!(
            lines.lines().last().map(|line| line.starts_with("7:0:")),
            Some(true),
            "{lines}"
        );
        assert!(said.contains("x = 1"), "{said}");
    }
}

#[test]
fn assertions_fail_again_under_a_claim() {
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
        if let Some((_, said)) = replayed_text(text) {
            assert!(said.contains("assertion violated"), "{said}");
        }
    }
}
