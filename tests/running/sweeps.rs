//! A sweep interrupted by a signal.

use super::{ENDLESS, signal, wait_until};
use crate::{Bench, CommandOutput};
use std::process::Stdio;

#[test]
fn an_interrupted_sweep_prints_its_rows_and_resumes() {
    let bench = Bench::new();
    let text = ENDLESS.replace("int x;", "const int N = 3; int x;").replace("y < 30000", "y < N");
    let model =
        bench.write("m.dve", text.replace("x < 30000", "x < N").replace("== 30000", "== N"));
    let flags =
        ["--memory", "64MiB", "--threads", "1", "--reduce", "none", "--no-deadlock", "--dir", "s"];
    let args = [&["sweep", &model, "--over", "N=2,30000,3"], &flags[..]].concat();
    let mut command = bench.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a checkpoint", || bench.path("s/N=30000/manifest").exists());
    signal(&child, "-TERM");
    let output = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!((output.code, output.err.as_str()), (3, ""), "{}", output.out);
    let lines: Vec<&str> = output.out.lines().collect();
    assert!(lines[1].starts_with("2      verified "), "{}", output.out);
    assert!(lines[2].starts_with("30000  stopped "), "{}", output.out);
    assert_eq!(
        lines[3..],
        [
            "  stopped  N=30000: by a signal",
            "  left     1 row not checked: a signal ended the sweep",
        ]
    );
    // The row was stopped at a checkpoint, and no process continues it.
    assert_eq!(bench.status("s/N=30000")["running"], false);
    let before = bench.status("s/N=30000")["states"].as_u64().unwrap();
    let more = (before + 1000).to_string();
    let output = bench.run(&[&args[..], &["--max-states", &more, "--json"]].concat());
    let result = output.json();
    assert_eq!(output.code, 3);
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|it| it["reused"].as_bool().unwrap()).collect::<Vec<_>>(),
        [true, false, false]
    );
    assert_eq!(rows[1]["stopped_by"], "limit");
    assert!(rows[1]["states"].as_u64().unwrap() >= before + 1000, "{result}");
    assert_eq!(rows[2]["verdict"], "verified");
}
