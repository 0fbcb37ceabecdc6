//! The environment of the command: full or closed outputs, signals, small limits, and names that are not files. The
//! command ends with the documented exit code and a message, and loses no data.

mod deep;
mod directories;

use super::{Bench, COUNTER, CommandOutput, GRID, ROOMY, SPILLWAY};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};

/// 50,000 levels of one state.
const LONG_COUNTER: &str = "int x;
process P { state a; init a; trans a -> a { guard x < 50000; effect x = x + 1; }; }
system async;
";

/// More levels than a day of searching visits.
const ENDLESS: &str = "int x; int y;
process P { state a; init a; trans a -> a { guard x < 30000; effect x = x + 1; },
  a -> a { guard x == 30000 and y < 30000; effect x = 0, y = y + 1; }; }
system async;
";

impl Bench {
    /// Runs a shell command, in which `$S` is the tested command.
    fn shell(&self, line: &str) -> CommandOutput {
        CommandOutput::from(self.shell_command(line).output().unwrap())
    }

    fn shell_command(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        std::fs::create_dir_all(self.path("tmp")).unwrap();
        command.args(["-c", line]).current_dir(&self.dir).env("TMPDIR", self.path("tmp"));
        command.env("S", SPILLWAY).stdin(Stdio::null());
        command
    }
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn unwritable_messages_change_no_exit_code() {
    let bench = Bench::new();
    bench.write("m.dve", GRID);
    for closed in ["2>/dev/full", "2>&-", ">/dev/null 2>/dev/full", ">/dev/null 2>&-"] {
        assert_eq!(bench.shell(&format!("$S check absent.dve {closed}")).code, 2, "{closed}");
        let full_search = "--reduce none --max-states 9000";
        let stops = format!("rm -rf d; $S check m.dve --dir d {full_search} {closed}");
        assert_eq!(bench.shell(&stops).code, 3, "{closed}");
    }
}

#[test]
fn unwritable_results_are_a_failure() {
    let bench = Bench::new();
    bench.write("m.dve", COUNTER.replace("x == 100;", "x == 101;"));
    assert_eq!(bench.run(&["check", "m.dve", "--dir", "d"]).code, 1);
    let commands = [
        "check m.dve",
        "check m.dve --json",
        "resume d",
        "status d",
        "status d --json",
        "trace d",
        "trace d --json",
        "explain m.dve",
        "simulate m.dve",
        "--help",
        "--version",
    ];
    for command in commands {
        let full = bench.shell(&format!("$S {command} >/dev/full"));
        full.assert_rejected(2, &["cannot write to standard output", "No space left"]);
        let closed = bench.shell(&format!("$S {command} >&-"));
        closed.assert_rejected(2, &["cannot write to standard output", "closed"]);
    }
}

#[test]
fn an_unwritable_result_is_kept() {
    let bench = Bench::new();
    bench.write("m.dve", COUNTER);
    let output = bench.shell("$S check m.dve >/dev/full");
    let dir = output.err.split('`').nth(1).unwrap().strip_prefix("spillway status ").unwrap();
    let status = bench.run(&["status", dir]);
    assert_eq!(status.code, 0);
    assert!(status.out.contains("verified"), "{}", status.out);
}

#[test]
fn a_closed_reader_changes_no_exit_code() {
    let bench = Bench::new();
    bench.write("m.dve", COUNTER.replace("x == 100;", "x == 101;"));
    for (args, code) in [(["check", "m.dve"], 1), (["explain", "m.dve"], 0)] {
        let mut command = bench.command(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = CommandOutput::from(child.wait_with_output().unwrap());
        assert_eq!((output.code, output.err.as_str()), (code, ""));
    }
}

#[test]
fn pipes_folders_and_devices_are_not_waited_for() {
    let bench = Bench::new();
    assert!(bench.shell("mkfifo pipe.dve && mkdir folder.dve").err.is_empty());
    bench.run(&["check", "pipe.dve"]).assert_rejected(2, &["pipe.dve", "nobody writes"]);
    bench.run(&["check", "folder.dve"]).assert_rejected(2, &["folder.dve", "folder"]);
    bench.shell("$S check /dev/zero --language dve").assert_rejected(2, &["/dev/zero", "device"]);
    bench.write("m.dve", COUNTER);
    let table = ["check", "m.dve", "--store", "huffman", "-X", "huffman-table=pipe.dve"];
    bench.run(&table).assert_rejected(2, &["pipe.dve", "nobody writes"]);
    // A pipe with a writer is accepted.
    let piped = bench.shell("(sleep 0.1; cat m.dve) | $S check /dev/stdin --language dve");
    assert_eq!((piped.code, piped.err.as_str()), (0, ""));
}

#[test]
fn pipes_folders_and_links_in_a_search_directory_are_damage() {
    let bench = Bench::new();
    // A link is rejected, too: it could lead anywhere.
    let kinds = [("mkdir", "folder"), ("mkfifo", "pipe"), ("ln -s ../kept", "symbolic link")];
    for (make, what) in kinds {
        std::fs::remove_dir_all(bench.path("d")).ok();
        bench.stop_grid_search();
        for file in bench.files("d") {
            let swap = format!("mv d/{file} kept && {make} d/{file}");
            assert!(bench.shell(&swap).err.is_empty());
            for command in ["status", "resume", "trace"] {
                let output = bench.run(&[command, "d"]);
                let reads = match (file.as_str(), command) {
                    ("lock", "resume") | ("job" | "manifest", _) => true,
                    // These files are only displayed.
                    ("lock" | "sitting" | "events.jsonl" | "status.json", _) => false,
                    (_, command) => command == "resume",
                };
                if reads {
                    let code = if file == "lock" { 2 } else { 4 };
                    output.assert_rejected(code, &[&file, what, "d"]);
                }
            }
            assert!(bench.shell(&format!("rm -r d/{file}; mv kept d/{file}")).err.is_empty());
        }
        assert_eq!(bench.run(&["resume", "d"]).code, 0);
    }
}

/// Starts a search with far more levels than are visited before a signal comes.
fn start_endless_search(bench: &Bench, line: &str) -> Child {
    bench.write("m.dve", ENDLESS);
    let _ = std::fs::remove_dir_all(bench.path("d"));
    let mut command = bench.shell_command(line);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !bench.path("d/manifest").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child
}

#[test]
fn terminating_signals_leave_a_checkpoint() {
    let bench = Bench::new();
    for name in ["-HUP", "-TERM", "-INT", "-XCPU"] {
        // The process that runs the tests in the background may ignore interrupts.
        let child =
            start_endless_search(&bench, "exec env --default-signal $S check m.dve --dir d");
        signal(&child, name);
        let output = CommandOutput::from(child.wait_with_output().unwrap());
        assert_eq!(output.code, 3, "{name}: {}", output.err);
        assert!(output.err.contains("resume d"), "{name}: {}", output.err);
        assert_eq!(bench.run(&["status", "d"]).code, 0);
    }
}

#[test]
fn ignored_signals_stay_ignored() {
    let bench = Bench::new();
    let child = start_endless_search(&bench, "trap '' HUP; exec $S check m.dve --dir d");
    signal(&child, "-HUP");
    signal(&child, "-HUP");
    signal(&child, "-HUP");
    std::thread::sleep(std::time::Duration::from_millis(50));
    signal(&child, "-TERM");
    let output = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, 3);
    assert!(output.err.contains("stopped at a checkpoint"), "{}", output.err);
}

#[test]
fn signals_do_not_change_a_printed_verdict() {
    let bench = Bench::new();
    // The counterexample is larger than a pipe holds.
    bench.write("m.dve", LONG_COUNTER.replace("50000", "6000"));
    let mut command = bench.command(&["check", "m.dve"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut printed, mut piece) = (String::new(), [0; 64]);
    while !printed.contains("VIOLATED") {
        let count = out.read(&mut piece).unwrap();
        assert!(count > 0, "{printed}");
        printed += std::str::from_utf8(&piece[..count]).unwrap();
    }
    for name in ["-TERM", "-INT", "-HUP"] {
        let _ = Command::new("kill").args([name, &child.id().to_string()]).output();
    }
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_file_size_limit_is_a_disk_error() {
    let bench = Bench::new();
    bench.write("m.dve", GRID);
    let store = "--memory 40MiB --checkpoint-every 1s --reduce none";
    let expected = bench.shell(&format!("$S check m.dve {store} --json")).json();
    let output = bench.shell(&format!("ulimit -f 20; $S check m.dve {store} --dir d"));
    output.assert_rejected(3, &["cannot write", "File too large", "ulimit -f", "resume"]);
    let resumed = bench.run(&["resume", "d", "--json"]).json();
    for figure in ["states", "transitions", "levels", "verdict"] {
        assert_eq!(resumed[figure], expected[figure], "{figure}");
    }
}

#[test]
fn small_resource_limits_are_reported() {
    let bench = Bench::new();
    bench.write("m.dve", ROOMY);
    let mut lines: Vec<String> =
        (4..12).map(|megabytes| format!("-v {}", megabytes << 13)).collect();
    lines.extend([4, 5, 6, 8, 12].map(|files| format!("-n {files}")));
    for limit in lines {
        let dir = limit.replace(' ', "");
        let line =
            format!("ulimit {limit} && exec $S check m.dve --no-deadlock --threads 2 --dir {dir}");
        let output = bench.shell(&line);
        let known = [0, 2, 3].contains(&output.code);
        // The loader of programs may fail, and then no message is possible.
        let loaded = output.code != 127 && !output.err.contains("shared libraries");
        assert!(known || !loaded, "{limit}: {}: {}", output.code, output.err);
        assert!(
            output.code == 0 || output.err.contains("error") || !loaded,
            "{limit}: {}",
            output.err
        );
    }
}

#[test]
fn a_memory_group_of_the_budget_suffices() {
    let bench = Bench::new();
    bench.write("m.dve", GRID);
    let group = format!("/sys/fs/cgroup/spillway-test-{}", std::process::id());
    // The system creates the files of a group.
    let limit = |to: String| {
        let mut file =
            std::fs::OpenOptions::new().write(true).open(format!("{group}/memory.max"))?;
        file.write_all(to.as_bytes())
    };
    let made = std::fs::create_dir(&group).and_then(|()| limit((64u64 << 20).to_string()));
    if let Err(error) = made {
        let _ = std::fs::remove_dir(&group);
        println!("skipped: no memory group can be made here: {error}");
        return;
    }
    let flags = "--memory 64MiB --reduce none";
    let enter = format!("echo $$ > {group}/cgroup.procs && exec $S check m.dve {flags}");
    let output = bench.shell(&enter);
    std::fs::remove_dir(&group).unwrap();
    assert_eq!((output.code, output.err.as_str()), (0, ""));
}

#[test]
fn endless_transitions_are_errors() {
    let bench = Bench::new();
    let bodies = [
        "atomic { do :: gb = 0 od }",
        "atomic { do :: gb++ od }",
        "d_step { do :: gb++ od }",
        "atomic { do :: gb++ :: gb = 0 od }",
        "atomic { gb = 1; L: gb = 1 - gb; goto L }",
    ];
    for body in bodies {
        bench.write("m.pml", format!("byte gb; active proctype A() {{\n{body}\n}}"));
        for exec in ["jit", "interp"] {
            let output = bench.run(&["check", "m.pml", "--exec", exec]);
            assert_eq!(output.code, 1, "{body}, {exec}: {}{}", output.out, output.err);
            for words in ["limit exceeded", "does not end", "m.pml:2:"] {
                assert!(output.out.contains(words), "{body}, {exec}: {words}: {}", output.out);
            }
            assert!(output.out.len() < 20_000, "{body}: {} bytes", output.out.len());
        }
    }
}

#[test]
fn time_limits_hold_while_one_state_is_expanded() {
    let bench = Bench::new();
    let loops = "const N: 9999; var x: 0..N; y: boolean;
startstate x := 0; y := false; end;
ruleset i: 0..N; j: 0..N; k: 0..N do
  rule \"never\" x + i + j + k < 0 ==> begin y := true; end;
end;";
    let body = "const N: 9999; var x: 0..N;
startstate x := 0; end;
rule \"long\" true ==> var n: 0..N; begin
  n := 0;
  for i: 0..N do for j: 0..N do for k: 0..N do n := (n + i * j + k) % N; end; end; end;
  x := n;
end;";
    let guard = "const N: 9999; var x: 0..N;
startstate x := 0; end;
rule \"long\" exists i: 0..N do exists j: 0..N do exists k: 0..N do x + i + j + k < 0 end end end
==> begin x := 0; end;";
    let starts = "const N: 999; var x: 0..N; y: 0..N; z: 0..N;
ruleset i: 0..N; j: 0..N; k: 0..N do startstate x := i; y := j; z := k; end; end;
rule x > N ==> begin x := 0; end;";
    for (what, model) in [("loops", loops), ("body", body), ("guard", guard), ("starts", starts)] {
        let file = bench.write(&format!("{what}.m"), model);
        for exec in ["jit", "interp"] {
            let dir = format!("{what}-{exec}");
            let args = ["check", &file, "--exec", exec, "--max-time", "300ms", "--dir", &dir];
            let output = bench.run(&args);
            assert_eq!(output.code, 3, "{what}, {exec}: {}{}", output.out, output.err);
            assert!(output.err.contains("resume"), "{}", output.err);
            let output = bench.run(&["resume", &dir, "--exec", exec, "--max-time", "100ms"]);
            assert_eq!(output.code, 3, "{what}, {exec}: {}{}", output.out, output.err);
        }
    }
}
