//! Tests of the command line: exit codes, messages and bad input.

mod environment;
mod running;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const SPILLWAY: &str = env!("CARGO_BIN_EXE_spillway");

/// Counts to 100 and starts anew.
const COUNTER: &str = "byte x = 0;
process P { state a; init a;
trans a -> a { guard x < 100; effect x = x + 1; }, a -> a { guard x == 100; effect x = 0; }; }
system async;
";

/// A hundred thousand states, so that a search can be stopped in between.
const GRID: &str = "int x; int y;
process P { state a; init a; trans a -> a { guard x < 300; effect x = x + 1; }; }
process Q { state a; init a; trans a -> a { guard y < 300; effect y = y + 1; }; }
process R { state a; init a; trans a -> a { guard x == 300 and y == 300; effect x = 0, y = 0; }; }
system async;
";

/// Most bits of its states never vary, and some only late.
const ROOMY: &str = "int x; int y; int room[16];
process P { state a; init a; trans a -> a { guard x < 150; effect x = x + 1; },
    a -> a { guard x == 150 and y < 150; effect room[y % 16] = x * y, x = 0, y = y + 1; }; }
process Q { state a; init a; trans a -> a { guard y > 100; effect room[15] = 1 - room[15]; }; }
system async;
";

/// 600,000 initial states of 53 bytes. One of them leads to a violation in two steps.
#[cfg(target_os = "linux")]
const MANY_INITIAL_STATES: &str = "type N: 0..599999; var x: N; y: 0..2; wide: array [0..19] of N;
ruleset i: N do startstate \"s\" begin
  x := i; y := 0; wide[i % 20] := i;
end; end;
rule \"go\" y < 2 ==> begin y := y + 1; end;
invariant \"low\" !(x = 300000 & y = 2);";

/// Two processes with cycles, and a third process that is observed together with the first. Transitions are postponed
/// on cycles, and expanded again.
const POSTPONING_MODEL: &str = "byte x; byte y;
process P { state a; init a; trans a -> a { guard x < 20; effect x = x + 1; },
    a -> a { guard x == 20; effect x = 0; }; }
process Q { state a; init a; trans a -> a { guard y < 30; effect y = y + 1; },
    a -> a { guard y == 30; effect y = 0; }; }
process R { state a, b; init a; assert b: x < 40; trans a -> b { }, b -> a { }; }
system async;
";

/// The model with two transitions of process P in each state up to a value of x, so that chains store these states.
fn with_choice(model: &str, limit: u32) -> String {
    let step = format!("trans a -> a {{ guard x < {limit}; effect x = x + 2; }}, a -> a {{");
    model.replacen("trans a -> a {", &step, 1)
}

/// The grid with an observed process. Fully expanded states and proviso obligations are needed.
fn observed_grid() -> String {
    let own = "process R { state a, b; init a; assert b: x == 300;
        trans a -> b { guard x == 300 and y == 300; }, b -> a { effect x = 0, y = 0; }; }";
    GRID.lines().map(|it| if it.starts_with("process R") { own } else { it }).collect()
}

/// Flags of tests of the whole state space.
const UNREDUCED: [&str; 2] = ["--reduce", "none"];

/// A temporary folder for commands.
struct Bench {
    dir: TempDir,
}

/// The exit code and output of a command.
struct CommandOutput {
    code: i32,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> Bench {
        Bench { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), text).unwrap();
        name.to_string()
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(SPILLWAY);
        std::fs::create_dir_all(self.path("tmp")).unwrap();
        command.args(args).current_dir(&self.dir).env("TMPDIR", self.path("tmp"));
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> CommandOutput {
        CommandOutput::from(self.command(args).output().unwrap())
    }

    /// Runs a command. Also returns the peak of its resident memory in bytes, as the system reports it.
    #[cfg(target_os = "linux")]
    fn run_with_peak_memory(&self, args: &[&str]) -> (CommandOutput, u64) {
        let [out, err] = ["out", "err"].map(|name| std::fs::File::create(self.path(name)).unwrap());
        let mut child = self.command(args).stdout(out).stderr(err).spawn().unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut peak = 0;
        let code = loop {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let field = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib =
                field.and_then(|field| field.trim().trim_end_matches("kB").trim().parse().ok());
            peak = peak.max(kib.unwrap_or(0) * 1024);
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(std::time::Duration::from_millis(2)),
            }
        };
        let [stdout, stderr] = ["out", "err"].map(|name| std::fs::read(self.path(name)).unwrap());
        (CommandOutput::from(Output { status: code, stdout, stderr }), peak)
    }

    /// Checks a model given as text.
    fn check(&self, text: impl AsRef<[u8]>, args: &[&str]) -> CommandOutput {
        let file = self.write("model.dve", text);
        self.run(&[&["check", &file], args].concat())
    }

    /// Stops a search of the grid halfway, in the directory `d`.
    fn stop_grid_search(&self) {
        let output = self.check(GRID, &["--dir", "d", "--max-states", "20000", "--reduce", "none"]);
        assert_eq!(output.code, 3, "{}", output.err);
    }

    fn files(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(dir)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> CommandOutput {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let output = CommandOutput {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        };
        assert!(!output.err.contains("panicked"), "{}", output.err);
        output
    }
}

impl CommandOutput {
    /// Asserts this exit code, and one message with these words on standard error.
    #[track_caller]
    fn assert_rejected(&self, code: i32, messages: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert_eq!(self.err.matches("error:").count(), 1, "{}", self.err);
        assert!(self.err.len() < 1500, "{}", self.err);
        for words in messages {
            assert!(self.err.contains(words), "`{words}` is not in:\n{}", self.err);
        }
    }

    /// The output, with continuation lines joined.
    fn flat(&self) -> String {
        self.out.replace("\n           ", " ")
    }

    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

#[test]
fn a_verified_model_exits_with_0_and_prints_counts() {
    let output = Bench::new().check(COUNTER, &[]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert!(output.out.contains("verified") && output.out.contains("101 states, 101 transitions"));
}

#[test]
fn a_violated_model_exits_with_1_and_a_counterexample() {
    let output = Bench::new().check(COUNTER.replace("x == 100;", "x == 101;"), &[]);
    assert_eq!(output.code, 1);
    for words in
        ["VIOLATED", "deadlock", "after    100 steps (shortest)", "x: 99 -> 100", "line 3:7"]
    {
        assert!(output.out.contains(words), "{words}: {}", output.out);
    }
}

#[test]
fn failures_with_json_are_objects() {
    let bench = Bench::new();
    bench.write("model.dve", "byte x = y;");
    for args in [
        &["check", "absent.dve", "--json"][..],
        &["check", "model.dve", "--json"],
        &["resume", "absent", "--json"],
        &["status", "absent", "--json"],
        &["trace", "absent", "--json"],
    ] {
        let output = bench.run(args);
        let result = output.json();
        assert_eq!((output.code, &result["exit_code"]), (2, &json!(2)), "{args:?}");
        assert_eq!(result["error"].as_str().unwrap().trim_end(), output.err.trim_end(), "{args:?}");
    }
    assert_eq!(bench.run(&["check", "absent.dve"]).out, "");
}

#[test]
fn files_that_are_no_models_are_rejected() {
    let bench = Bench::new();
    bench.run(&["check", "absent.dve"]).assert_rejected(2, &["absent.dve", "No such file"]);
    bench.run(&["check", "model"]).assert_rejected(2, &["unknown file extension", ".dve"]);
    bench.run(&["check", "model.txt"]).assert_rejected(2, &["unknown file extension", ".dve"]);
    std::fs::create_dir(bench.path("folder.dve")).unwrap();
    bench.run(&["check", "folder.dve"]).assert_rejected(2, &["folder.dve"]);
    bench.check("", &[]).assert_rejected(2, &["empty"]);
    bench.check(" \n\t\n", &[]).assert_rejected(2, &["empty"]);
    bench.check("// nothing\n", &[]).assert_rejected(2, &["model.dve"]);
    bench.check([0u8, 1, 2, 255, 254], &[]).assert_rejected(2, &["not a text file"]);
}

#[test]
fn ten_megabytes_of_garbage_get_one_message() {
    let bench = Bench::new();
    let mut seed = 1u32;
    let noise: Vec<u8> = (0..10_000_000)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b" \nabcxyz(){}[];,=<>!?&|+-*/%.0123456789"[(seed >> 24) as usize % 39]
        })
        .collect();
    bench.check(noise, &[]).assert_rejected(2, &["model.dve:1:"]);
    for piece in ["(", "{", "[", "byte ", "x = ", "1 + ", "not ", "/* ", "process P { "] {
        bench
            .check(piece.repeat(10_000_000 / piece.len()), &[])
            .assert_rejected(2, &["model.dve:1:"]);
    }
    let deep = format!("byte x = {}1{};", "(".repeat(1_000_000), ")".repeat(1_000_000));
    bench.check(deep, &[]).assert_rejected(2, &["model.dve:1:"]);
}

#[test]
fn errors_in_a_model_have_a_position() {
    let bench = Bench::new();
    let process = |body: &str| {
        format!("byte x; byte a[3];\nprocess P {{ state p, q; init p;\n{body} }}\nsystem async;\n")
    };
    let cases: [(String, &[&str]); 12] = [
        ("byte x = ;".into(), &["model.dve:1:10", "^"]),
        (process("trans p -> q { guard x < ; };"), &["model.dve:3:", "^"]),
        (process("trans p -> q { guard y == 1; };"), &["model.dve:3:", "`y`"]),
        (process("trans p -> r { };"), &["model.dve:3:", "`r`"]),
        (process("trans p -> q { effect a = 1; };"), &["model.dve:3:", "`a`"]),
        (process("trans p -> q { effect x[0] = 1; };"), &["model.dve:3:", "`x`"]),
        (process("trans p -> q { effect P = 1; };"), &["model.dve:3:", "`P`"]),
        (process("trans p -> q { sync c!; };"), &["model.dve:3:", "`c`"]),
        ("const byte A = B; const byte B = A;\n".into(), &["model.dve:1:"]),
        ("byte a[0];\n".into(), &["model.dve:1:"]),
        ("byte x; byte x;\n".into(), &["model.dve:1:", "`x`"]),
        ("byte x = 256;\n".into(), &["model.dve:1:", "255"]),
    ];
    for (text, messages) in cases {
        let text = if text.contains("system") { text } else { text + &process("") };
        let output = bench.check(&text, &[]);
        assert_eq!(output.code, 2, "{text}: {}", output.err);
        for words in messages {
            assert!(output.err.contains(words), "{text}: `{words}` is not in:\n{}", output.err);
        }
    }
    bench
        .check("byte a[2000000000]; process P { state p; init p; } system async;", &[])
        .assert_rejected(2, &["model.dve:1:"]);
}

#[test]
fn run_time_errors_are_violations_with_a_trace() {
    let bench = Bench::new();
    let model = |effect: &str| {
        format!(
            "byte x = 3; byte a[3];\nprocess P {{ state p, q; init p;\n\
             trans p -> q {{ effect {effect}; }}, q -> p {{ }}; }}\nsystem async;\n"
        )
    };
    for (effect, messages) in [
        ("a[x] = 1", "index is 3"),
        ("x = 7 / (x - 3)", "divided by zero"),
        ("x = 7 % (x - 3)", "divided by zero"),
        ("x = x - 4", "-1 is stored"),
        ("x = 1 << (x + 40)", "shifted by 43"),
    ] {
        let output = bench.check(model(effect), &[]);
        assert_eq!(output.code, 1, "{effect}: {}", output.err);
        assert!(
            output.out.contains(messages) && output.out.contains("model.dve:3:"),
            "{}",
            output.out
        );
    }
    let wrapped = bench.check(model("x = x - 4"), &["--overflow", "wrap"]);
    assert_eq!(wrapped.code, 0);
}

#[test]
fn a_wrong_command_line_is_rejected() {
    let bench = Bench::new();
    bench.write("model.dve", COUNTER);
    for args in [
        &["check"][..],
        &["chekc", "model.dve"],
        &["check", "model.dve", "--frobnicate"],
        &["check", "model.dve", "--memory", "lots"],
        &["check", "model.dve", "--threads", "0"],
        &["check", "model.dve", "--threads", "100000"],
        &["check", "model.dve", "--max-time", "soon"],
        &["check", "model.dve", "--define", "N"],
        &["check", "model.dve", "--only", "everything"],
    ] {
        let output = bench.run(args);
        output.assert_rejected(2, &[]);
        assert!(!output.err.contains("is a flag of"), "{}", output.err);
    }
    for (args, messages) in [
        (&["check", "model.dve", "--memory", "64"][..], "64MiB"),
        (&["check", "model.dve", "-a"], "--acceptance"),
        (&["check", "model.dve", "-m10000"], "--memory SIZE"),
        (&["-search", "-ltl", "p", "model.dve"], "`spillway check MODEL`"),
        (&["check", "-ndl", "model.dve"], "--no-deadlock"),
        (&["check", "-sym3", "model.dve"], "`--symmetry exact` or"),
        (&["check", "model.dve", "--symmetry-reduction=off"], "--symmetry off"),
        (&["check", "model.dve", "--max-errors", "3"], "--keep-going"),
        (&["check", "model.dve", "-o3"], "--reduce LIST"),
        (&["check", "model.dve", "-n"], "are not listed"),
        (&["simulate", "model.dve", "-n7"], "--seed N"),
        (&["check", "model.dve", "-y", "-l"], "--non-progress"),
        (&["model.dve"], "`spillway check model.dve`"),
    ] {
        bench.run(args).assert_rejected(2, &[messages]);
    }
    bench.run(&["check", "model.dve", "--define", "N=3"]).assert_rejected(2, &["`N`"]);
    bench.write(
        "m.pml",
        "#define SIZE 2\n#ifdef EXTRA\nbyte y;\n#endif\nbyte x; init { do :: x < SIZE -> x++ :: else -> break od }",
    );
    bench.write(
        "m.m",
        "const size: 2; var x: 0..size; startstate x := 0; end; rule x < size ==> x := x + 1; end;",
    );
    for (model, define, messages) in [
        ("m.pml", "SIEZ=3", "did you mean `SIZE`?"),
        ("m.pml", "SAFETY=1", "is nowhere in the model"),
        ("m.pml", "NFAIR=3", "`--fair weak`"),
        ("m.pml", "HC4=1", "states are exact"),
        ("m.pml", "SAFETY", "deadlocks, assertions and errors are checked"),
        ("m.m", "siz=3", "did you mean `size`?"),
        ("m.m", "many=3", "its constants are `size`"),
    ] {
        bench.run(&["check", model, "--define", define]).assert_rejected(2, &[messages]);
    }
    let bare = "--define NAME without =VALUE is for models in Promela, but";
    bench.run(&["check", "m.m", "-D", "size"]).assert_rejected(2, &[bare, "m.m is in murphi"]);
    bench.run(&["explain", "model.dve", "-DN"]).assert_rejected(2, &[bare, "model.dve is in dve"]);
    let text = "--define NAME=VALUE with a VALUE that is no integer is for models in Promela and TLA+, but";
    bench.run(&["check", "m.m", "-D", "size=many"]).assert_rejected(2, &[text, "m.m is in murphi"]);
    for (model, define) in
        [("m.pml", "EXTRA=1"), ("m.pml", "EXTRA"), ("m.pml", "SIZE=3"), ("m.m", "size=3")]
    {
        let output = bench.run(&["check", model, "--no-deadlock", "--define", define]);
        assert_eq!(output.code, 0, "{}", output.err);
    }
    // A name alone has the value 1, even if the model defines another one.
    let states = |define| {
        bench.run(&["check", "m.pml", "--no-deadlock", "--json", "-D", define]).json()["states"]
            .as_u64()
    };
    assert_eq!(states("SIZE"), states("SIZE=1"));
    assert_ne!(states("SIZE"), states("SIZE=2"));
    // A macro may be any text, and a resumed search keeps it.
    assert_eq!(states("SIZE=(1 + x - x) * 3"), states("SIZE=3"));
    let started = ["check", "m.pml", "--no-deadlock", "-D", "SIZE=2 + 1", "--dir", "text"];
    assert_eq!(bench.run(&[&started[..], &["--max-states", "1"]].concat()).code, 3);
    assert_eq!(
        bench.run(&["resume", "text", "--json"]).json()["states"].as_u64(),
        states("SIZE=3")
    );
    // A macro may be used by the formula alone.
    let args = ["check", "m.pml", "--define", "MOST=3", "--ltl", "[] (x < MOST)"];
    assert_eq!(bench.run(&args).code, 0);
    assert_eq!(bench.run(&["--help"]).code, 0);
    assert_eq!(bench.run(&["--version"]).code, 0);
}

#[test]
fn too_little_memory_is_rejected_with_a_sufficient_minimum() {
    let bench = Bench::new();
    bench.write("counter.dve", COUNTER);
    // Little memory means no compilation; enough memory means much compiled code.
    let rule = |number: usize| {
        let (at, next) = (number % 8, (number + 3) % 8);
        format!(
            "rule \"r{number}\" x[{at}] < 3 ==> begin x[{at}] := x[{at}] + 1;
             y[{next}] := (x[{next}] + {number}) % 4; for i: 0..7 do
             if x[i] > y[i] then y[i] := {}; end; end; end;",
            number % 4
        )
    };
    let rules: String = (0..400).map(rule).collect();
    let rows = "x: array [0..7] of 0..3; y: array [0..7] of 0..3";
    let start = "startstate for i: 0..7 do x[i] := 0; y[i] := 0; end; end;";
    bench.write("rules.m", format!("var {rows};\n{start}\n{rules}"));
    for (file, code) in [("counter.dve", 0), ("rules.m", 3)] {
        let output = bench.run(&["check", file, "--memory", "1MiB"]);
        output.assert_rejected(2, &["the minimum for this model is"]);
        let minimum =
            output.err.split("model is ").nth(1).unwrap().split_whitespace().next().unwrap();
        // Resident memory at the start differs a little from run to run.
        let mib: u64 = minimum.trim_end_matches("MiB").parse().unwrap();
        let enough = format!("{}MiB", mib + 1);
        let dir = format!("{file}.search");
        let short = ["--max-time", "1s", "--no-dive", "--dir", &dir];
        let output = bench.run(&[&["check", file, "--memory", &enough], &short[..]].concat());
        assert_eq!(output.code, code, "{file} in {enough}: {}", output.err);
    }
}

/// Created and removed variables are shown by name: another variable may take the same slot.
#[test]
fn created_and_ended_processes_are_shown_in_traces() {
    let bench = Bench::new();
    let model = "byte x;
        proctype Q(byte a) { byte own = 5; x = a; assert(x != 2) }
        init { run Q(1); _nr_pr == 1; run Q(2) }";
    bench.write("q.pml", model);
    let output = bench.run(&["simulate", "q.pml", "--steps", "20"]);
    assert_eq!(output.code, 1, "{}", output.err);
    let output = bench.run(&["check", "q.pml"]);
    for line in ["Q[1] = line 2:44", "Q[1].own = 5", "Q[1].own: 5, removed", "x: 0 -> 1"] {
        assert!(output.out.contains(line), "{line}: {}", output.out);
    }
    let output = bench.run(&["check", "q.pml", "--json", "--dir", "q"]);
    assert_eq!(output.code, 1);
    let result = bench.run(&["trace", "q", "--json"]).json();
    let steps = result["counterexamples"][0]["steps"].as_array().unwrap().clone();
    let changes = |name: &str| -> Vec<Value> {
        steps.iter().map(|it| it["changes"][name].clone()).filter(|it| !it.is_null()).collect()
    };
    assert_eq!(changes("Q[1].own"), [json!([null, 5]), json!([5, null]), json!([null, 5])]);
    let code = bench.run(&["explain", "q.pml", "--asm", "0"]);
    assert!(code.code == 0 && code.out.contains("action 0"), "{}", code.err);
}

#[test]
fn flags_select_the_kinds_of_violations() {
    let bench = Bench::new();
    let stuck = "byte x; process P { state p, q; init p; assert q: x == 1; trans p -> q { }; } system async;";
    assert_eq!(bench.check(stuck, &["--only", "deadlock"]).code, 1);
    assert_eq!(bench.check(stuck, &["--only", "error,invariant"]).code, 0);
    let output = bench.check(stuck, &["--no-deadlock", "--keep-going", "--json"]);
    assert_eq!((output.code, &output.json()["violations"][0]["kind"]), (1, &Value::from("assert")));
}

/// An assertion has the same kind in a step and at a location.
#[test]
fn failed_assertions_are_assertions_in_every_language() {
    let bench = Bench::new();
    let models = [
        ("a.pml", "active proctype P() { assert(false) }"),
        ("a.m", "var x: 0..1; startstate x := 0; end; rule \"r\" true ==> assert x = 1; end;"),
        (
            "a.dve",
            "byte x; process P { state p; init p; assert p: x == 1; trans p -> p { }; } system async;",
        ),
    ];
    for (name, text) in models {
        bench.write(name, text);
        let output = bench.run(&["check", name, "--only", "assert"]);
        assert_eq!(output.code, 1, "{name}: {}", output.out);
        assert!(output.out.contains("assert: "), "{}", output.out);
        assert!(output.out.contains("  checked  assertions\n"), "{}", output.out);
        let output = bench.run(&["check", name, "--only", "assert", "--json"]);
        assert_eq!(output.json()["violations"][0]["kind"], "assert", "{name}");
        let output = bench.run(&["check", name, "--only", "error", "--json"]);
        assert_eq!(
            (output.code, &output.json()["violations"]),
            (0, &serde_json::json!([])),
            "{name}"
        );
        assert_eq!(output.json()["left_out"], serde_json::json!(["deadlocks", "assertions"]));
    }
    let error = "var x: 0..1; startstate x := 0; end; rule true ==> error \"no\"; end;";
    bench.write("e.m", error);
    let output = bench.run(&["check", "e.m", "--json"]);
    assert_eq!(output.json()["violations"][0]["kind"], "error");
}

#[test]
fn a_verdict_lists_checked_and_unchecked_properties() {
    let bench = Bench::new();
    let clean = bench.check(COUNTER, &[]);
    let words = "verified: every reachable state was visited, no violation was found\n";
    assert!(clean.flat().contains(words), "{}", clean.out);
    assert!(clean.out.contains("  checked  deadlocks, run-time errors\n"), "{}", clean.out);
    assert!(!clean.out.contains("NOT checked") && !clean.out.contains("not checked"));
    let output = bench.check(COUNTER, &["--only", "deadlock"]);
    for words in ["  checked  deadlocks\n", "  not checked  run-time errors\n"] {
        assert!(output.out.contains(words), "{}", output.out);
    }
}

/// Properties of a model that are not checked are listed with the verdict and their position: in the text, in JSON, and
/// by commands on the directory.
#[test]
fn unchecked_properties_of_a_model_are_listed() {
    let bench = Bench::new();
    let promela = "byte x;
active proctype P() {
accept_it: do :: x = 1 - x;
progress_1: skip od }
never first { do :: x < 5 od }
never second { do :: x < 6 od }
ltl p { [] (x < 2) }
ltl q { <> (x == 1) }
";
    let dve = "byte x; process P { state a, b; init a; accept b; trans a -> b { }, b -> a { }; }
process M { state m; init m; accept m; trans m -> m { guard x == 0; }; }
system async property M;
";
    let murphi = "var x: 0..1; startstate x := 0; end; rule true ==> x := 1 - x; end;
cover \"one\" x = 1;
liveness \"again\" x = 1;
";
    let cases = [
        (
            "a.pml",
            promela,
            vec![
                ("ltl", "p", 7),
                ("ltl", "q", 8),
                ("never claim", "second", 6),
                ("accept label", "accept_it", 3),
                ("progress label", "progress_1", 4),
            ],
        ),
        ("a.dve", dve, vec![("property process", "M", 3), ("accepting state", "P.b", 1)]),
        ("a.m", murphi, vec![("liveness", "again", 3)]),
    ];
    for (name, text, expected) in cases {
        bench.write(name, text);
        let text = bench.run(&["check", name, "--no-deadlock", "--keep-going"]);
        assert_eq!(text.code, 0, "{}{}", text.out, text.err);
        assert!(!text.out.contains("verified"), "{}", text.out);
        let words = "every reachable state was visited, no violation was found\n";
        assert!(text.flat().contains(words), "{}", text.out);
        let dir = format!("{name}.d");
        let args = ["check", name, "--no-deadlock", "--keep-going", "--json", "--dir", &dir];
        let checked = bench.run(&args).json();
        let missed = checked["unchecked"].as_array().unwrap();
        assert_eq!(missed.len(), expected.len(), "{checked:#}");
        for (missed, (what, of, line)) in missed.iter().zip(expected) {
            assert_eq!(missed["what"], what);
            assert_eq!(missed["name"], of);
            let place = missed["place"].as_str().unwrap();
            assert!(place.starts_with(&format!("{name}:{line}:")), "{place}");
            let words = format!("{what} {of} ({name}:{line})");
            let flat = text.flat();
            let line = flat.lines().find(|line| line.contains("NOT checked")).unwrap();
            assert!(line.contains(&words), "{words}: {line}");
            match missed["flag"].as_str() {
                Some(flag) => {
                    let flags = line.split_once(" use ").map(|(_, flags)| flags);
                    assert!(flags.is_some_and(|it| it.contains(flag)), "{flag}: {line}");
                }
                None => assert_eq!(what, "liveness"),
            }
            for command in ["status", "trace"] {
                let output = bench.run(&[command, &dir]);
                assert!(output.flat().contains(&words), "{command}: {}", output.out);
            }
        }
        for command in ["status", "trace"] {
            let json = bench.run(&[command, &dir, "--json"]).json();
            for key in ["checked", "left_out", "unchecked"] {
                assert_eq!(json[key], checked[key], "{command}");
            }
        }
        let resumed = bench.run(&["resume", &dir, "--json"]).json();
        assert_eq!(resumed["unchecked"], checked["unchecked"]);
    }
}

#[test]
fn flags_that_exclude_all_checks_are_rejected() {
    let bench = Bench::new();
    bench
        .check(COUNTER, &["--only", "claim"])
        .assert_rejected(2, &["no never claim", "model.dve", "help:"]);
    bench.check(COUNTER, &["--only", "invariant"]).assert_rejected(2, &["no invariant"]);
    bench.check(COUNTER, &["--only", "assert"]).assert_rejected(2, &["no assertion"]);
    let both = ["--only", "deadlock", "--no-deadlock"];
    bench.check(COUNTER, &both).assert_rejected(2, &["--no-deadlock", "excludes"]);
    let claim = "active proctype P() { skip } never c { do :: true od }";
    let file = bench.write("c.pml", claim);
    let output = bench.run(&["check", &file, "--only", "deadlock"]);
    output.assert_rejected(2, &["with the never claim c, deadlocks are not checked"]);
}

/// A rejected budget does not change the directory, so the next `resume` is accepted.
#[test]
fn a_budget_rejected_by_resume_is_not_kept() {
    let bench = Bench::new();
    bench.write("m.dve", "byte x; process P { state a; init a; trans a -> a { guard x < 99; effect x = x + 1; }; } system async;");
    let check =
        ["check", "m.dve", "--dir", "d", "--max-states", "9", "--reduce", "none", "--no-deadlock"];
    assert_eq!(bench.run(&check).code, 3);
    bench.run(&["resume", "d", "--memory", "1MiB"]).assert_rejected(2, &["too small"]);
    bench
        .run(&["resume", "d", "--memory", "64MiB", "--threads", "256"])
        .assert_rejected(2, &["too small"]);
    assert_eq!(bench.run(&["resume", "d"]).code, 0);
}

/// States after an unchecked error are not visited, and not reported as visited.
#[test]
fn transitions_cut_off_by_errors_are_counted() {
    let bench = Bench::new();
    let wrong = "byte x; process P { state a, b; init a; trans a -> b { effect x = 300; },
a -> a { effect x = 1 - x; }; } system async;";
    // No property reads `x`: a reduced search would have one state, with one such transition.
    let flags = ["--only", "deadlock", "--reduce", "none"];
    let output = bench.check(wrong, &flags);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(!output.out.contains("every reachable state"), "{}", output.out);
    assert!(
        output.flat().contains("2 steps ended in errors that were not checked"),
        "{}",
        output.out
    );
    let json = bench.check(wrong, &[&flags[..], &["--json"]].concat()).json();
    assert_eq!(json["steps_cut_off"], 2);
    let failing_property = "byte x; byte z; process P { state a; init a; assert a: 1 / z == 1;
trans a -> a { }; } system async;";
    let output = bench.check(failing_property, &["--only", "assert"]);
    assert_eq!(output.code, 0, "{}{}", output.out, output.err);
    assert!(!output.out.contains("verified"), "{}", output.out);
    assert!(
        output.out.contains("in 1 state, the evaluation of a property ended in an unchecked error"),
        "{}",
        output.out
    );
    // A failed assertion ends its step in Murphi, and not in Promela.
    let murphi = "var x: 0..1; startstate x := 0; end; rule true ==> assert x = 1; end;";
    let promela = "active proctype P() { assert(false) }";
    for (file, text, cut_off) in [("c.m", murphi, 1), ("c.pml", promela, 0)] {
        bench.write(file, text);
        let output = bench.run(&["check", file, "--only", "error", "--json"]);
        assert_eq!(output.json()["steps_cut_off"], cut_off, "{file}");
    }
}

#[test]
fn coverage_counts_all_sessions_or_none() {
    let bench = Bench::new();
    let uninterrupted = bench.check(COUNTER, &["--reduce", "none", "--json"]).json();
    assert_eq!(uninterrupted["coverage"]["actions"][0]["taken"], 100);
    for (flags, counted) in
        [(&[][..], &uninterrupted["coverage"]), (&["--no-coverage"], &Value::Null)]
    {
        let stopped = ["--reduce", "none", "--dir", "d", "--max-states", "40"];
        assert_eq!(bench.check(COUNTER, &[&stopped[..], flags].concat()).code, 3);
        assert_eq!(&bench.run(&["resume", "d", "--json"]).json()["coverage"], counted);
        std::fs::remove_dir_all(bench.path("d")).unwrap();
    }
}

#[test]
fn json_has_exactly_the_documented_members() {
    let bench = Bench::new();
    let output = bench.check(COUNTER, &["--json", "--dir", "d"]);
    assert_eq!(output.err, "");
    let keys = [
        "model",
        "language",
        "verdict",
        "states",
        "transitions",
        "levels",
        "deadlocks",
        "violations",
        "answers",
        "examples",
        "state_bits",
        "key_order",
        "store",
        "store_parts",
        "rebuilt",
        "exec",
        "compile_seconds",
        "code_bytes",
        "seconds",
        "states_per_second",
        "peak_rss_bytes",
        "disk_bytes_peak",
        "disk_bytes_written",
        "disk_bytes_read",
        "store_bytes",
        "reductions",
        "reduced",
        "not_reduced",
        "tried",
        "states_partly_expanded",
        "states_expanded_again",
        "states_run_through",
        "steps_not_followed",
        "shortened",
        "hunt",
        "claim",
        "steps_cut_off",
        "states_unjudged",
        "checked",
        "left_out",
        "unchecked",
        "coverage",
        "warnings",
        "dir",
    ];
    let more = [&["counterexample"][..], &running::STATUS_MEMBERS];
    let results = [output.json(), bench.run(&["status", "d", "--json"]).json()];
    for (json, more) in results.iter().zip(more) {
        let object = json.as_object().unwrap();
        assert_eq!(object.len(), keys.len() + more.len());
        assert!(more.iter().all(|key| object.contains_key(*key)), "{json}");
        assert!(keys.iter().all(|key| object.contains_key(*key)), "{json}");
        assert_eq!((&json["states"], &json["verdict"]), (&101.into(), &"verified".into()));
        assert!(json["violations"].is_array() && json["seconds"].is_f64());
    }
}

#[test]
fn a_stopped_search_exits_with_3_and_resumes_to_the_same_counts() {
    let bench = Bench::new();
    for (model, stop) in [
        (GRID, ["--max-states", "1000"]),
        (GRID, ["--max-time", "0s"]),
        (ROOMY, ["--max-states", "3000"]),
    ] {
        let uninterrupted = bench.check(model, &["--json", "--reduce", "none"]).json();
        let output = bench.check(model, &[&["--dir", "d"], &stop[..], &UNREDUCED].concat());
        assert_eq!(output.code, 3, "{}", output.err);
        assert!(output.err.contains("spillway resume d"));
        let output = bench.run(&["resume", "d", "--json"]);
        assert_eq!(output.code, 0, "{}", output.err);
        let json = output.json();
        for key in ["verdict", "states", "transitions", "levels", "deadlocks", "violations"] {
            assert_eq!(json[key], uninterrupted[key]);
        }
        // `resume` of a complete search prints its verdict.
        assert_eq!(bench.run(&["resume", "d"]).code, 0);
        std::fs::remove_dir_all(bench.path("d")).unwrap();
    }
}

#[test]
fn postponing_searches_have_the_same_counts_for_all_threads_memory_and_stops() {
    let bench = Bench::new();
    let keys = ["verdict", "states", "transitions", "levels", "deadlocks", "reductions"];
    let more = ["states_partly_expanded", "states_expanded_again"];
    let counts = |json: &Value| keys.iter().chain(&more).map(|key| json[key].clone()).collect();
    for method in ["local", "overman", "stubborn"] {
        let way = ["--por", method, "-X", "por-proviso=levels"];
        let uninterrupted = bench.check(POSTPONING_MODEL, &[&way[..], &["--json"]].concat()).json();
        let expected: Vec<Value> = counts(&uninterrupted);
        let count = |key: &str| uninterrupted[key].as_u64().unwrap();
        assert!(count("states_expanded_again") > 0, "{uninterrupted}");
        // The whole state space has more transitions.
        assert!(count("transitions") < 3 * count("states"), "{uninterrupted}");
        for (threads, memory) in [("1", "64MiB"), ("2", "64MiB"), ("2", "1GiB")] {
            let how = ["--threads", threads, "--memory", memory];
            let args = [&way[..], &["--json"], &how[..]].concat();
            assert_eq!(counts(&bench.check(POSTPONING_MODEL, &args).json()), expected, "{how:?}");
            for stop in [["--max-states", "70"], ["--max-states", "600"], ["--max-time", "0s"]] {
                let args = [&way[..], &["--dir", "d"], &how[..], &stop].concat();
                assert_eq!(bench.check(POSTPONING_MODEL, &args).code, 3, "{how:?} {stop:?}");
                let resumed = bench.run(&["resume", "d", "--json", "--threads", "1"]);
                assert_eq!(counts(&resumed.json()), expected, "{how:?} {stop:?}");
                std::fs::remove_dir_all(bench.path("d")).unwrap();
            }
        }
    }
}

/// By default a pilot search decides whether partial order is applied. The report contains the decision and the reason.
#[test]
fn applied_and_omitted_reductions_are_reported() {
    let bench = Bench::new();
    let full_search = bench.check(observed_grid(), &["--json", "--reduce", "none"]).json();
    assert_eq!((&full_search["reductions"], &full_search["not_reduced"]), (&json!([]), &json!([])));
    // A search that continues after violations uses the same reductions.
    let [usual, continued] = [&["--json"][..], &["--json", "--keep-going"]]
        .map(|it| bench.check(observed_grid(), it).json());
    assert_eq!(usual["reductions"], continued["reductions"]);
    assert_eq!(usual["states"], continued["states"]);
    let by = |proviso| {
        let flags = ["--reduce", "por", "-X", &format!("por-proviso={proviso}"), "--json"];
        bench.check(observed_grid(), &flags).json()
    };
    let (levels, order) = (by("levels"), by("static"));
    assert_eq!(levels["reduced"][0]["proviso"], "obligations");
    assert_eq!(order["reduced"][0]["proviso"], "static order");
    assert_eq!(order["states_expanded_again"], 0);
    let states = levels["states"].as_u64().min(order["states"].as_u64());
    for flags in [&[][..], &["--reduce", "auto"], &["--reduce", "auto", "--keep-going"]] {
        let found = bench.check(observed_grid(), &[&["--json"], flags].concat()).json();
        assert_eq!(found["reductions"], json!(["partial order conditional"]), "{flags:?}");
        assert_eq!(found["reduced"][0]["proviso"], "static order and chains");
        assert!(found["states"].as_u64() < states, "chains store fewer than both");
        assert_eq!(found["not_reduced"], json!([]));
        assert!(found["states"].as_u64() < full_search["states"].as_u64(), "{found}");
    }
    let output = bench.check(observed_grid(), &["--only", "deadlock"]);
    let flat = output.flat();
    let line = flat.lines().find(|line| line.starts_with("  reduced  by")).unwrap();
    for words in [
        "partial order conditional, which preserves deadlocks",
        "passed through without being stored",
        "proviso: none needed",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
    let output = bench.check(COUNTER, &["--dir", "d", "--verbose"]);
    let line = "  not reduced  by partial order conditional: there are only 101 states\n";
    assert!(output.out.contains(line) && output.err.is_empty(), "{}{}", output.out, output.err);
    assert!(!bench.run(&["resume", "d"]).out.contains("not reduced"));
    for output in [bench.run(&["status", "d"]), bench.run(&["resume", "d", "-v"])] {
        assert!(output.out.contains(line), "{}", output.out);
    }
    let json = bench.run(&["status", "d", "--json"]).json();
    let why = "there are only 101 states";
    assert_eq!(json["not_reduced"], json!([{ "name": "partial order conditional", "why": why }]));
}

#[test]
fn a_resumed_search_keeps_its_reductions() {
    let bench = Bench::new();
    let counts = |json: &Value| {
        ["verdict", "states", "transitions", "levels", "reductions", "not_reduced"]
            .map(|key| json[key].clone())
    };
    for (model, on) in [
        (&with_choice(&observed_grid(), 299), "partial order conditional"),
        (&with_choice(ROOMY, 149), "dead variables"),
    ] {
        let expected = bench.check(model, &["--json"]).json();
        assert_eq!(expected["reductions"], json!([on]));
        for stop in [["--max-states", "200"], ["--max-time", "0s"]] {
            assert_eq!(bench.check(model, &[&["--dir", "d"], &stop[..]].concat()).code, 3);
            assert_eq!(bench.run(&["status", "d"]).code, 0);
            // No time suffices for the decision.
            if stop[0] == "--max-time" {
                assert_eq!(bench.run(&["resume", "d", "--max-time", "0s"]).code, 3);
            }
            let resumed = bench.run(&["resume", "d", "--json"]);
            assert_eq!(counts(&resumed.json()), counts(&expected), "{stop:?}");
            assert_eq!(counts(&bench.run(&["status", "d", "--json"]).json()), counts(&expected));
            std::fs::remove_dir_all(bench.path("d")).unwrap();
        }
    }
}

/// `tests/printed/screens/explained.md` shows the output of `explain --reductions` for this model.
#[test]
fn reductions_are_omitted_with_a_reason() {
    let bench = Bench::new();
    let text = "process P { byte x; state a, b; init a;
  trans a -> b { effect x = 1; }, a -> b { effect x = 2; }, b -> a { guard x < 5; }; }
system async;";
    bench.write("m.dve", text);
    let found = bench.run(&["check", "m.dve", "--json"]).json();
    let both = json!(["equivalent values", "dead variables"]);
    assert_eq!((&found["states"], &found["reductions"]), (&json!(2), &both));
    let all = bench.run(&["check", "m.dve", "--json", "--keep-going"]).json();
    assert_eq!((&all["states"], &all["reductions"]), (&json!(2), &both));
    let all = bench.run(&["check", "m.dve", "--json", "--reduce", "none"]).json();
    assert_eq!((&all["states"], &all["reductions"]), (&json!(5), &json!([])));
    let output = bench.run(&["check", "m.dve", "--reduce", "dead,symmetry"]);
    let why = "warning: symmetry is not applied: nothing in the model is symmetric\n";
    assert!(output.err.contains(why) && !output.err.contains("dead is left out"), "{}", output.err);
    let output = bench.check(COUNTER, &["--reduce", "dead"]);
    assert!(output.err.contains("warning: dead is not applied: no variable"), "{}", output.err);
    let ends = "process P { state a, b; init a; trans a -> b { }; } system async;";
    let output = bench.check(ends, &["--reduce", "slice"]);
    assert!(
        output.err.contains("warning: slice is not applied: every part of the model"),
        "{}",
        output.err
    );
    let output = bench.run(&["check", "m.dve", "--reduce", "slice", "--json"]);
    assert_eq!(
        (&output.json()["states"], &output.json()["reductions"]),
        (&json!(1), &json!(["slice"]))
    );
    let output = bench.check(COUNTER, &["--reduce", "values"]);
    assert!(
        output.err.contains("warning: values is not applied: no variable has"),
        "{}",
        output.err
    );
    let output = bench.check(COUNTER, &["--reduce", "states"]);
    assert!(
        output.err.contains("warning: states is not applied: no process has"),
        "{}",
        output.err
    );
    bench.write("t.dve", BISIMILAR_LOCATIONS);
    let output = bench.run(&["explain", "t.dve", "--reductions"]);
    let expected =
        "states        saves 33 % of all 3 states\n  P.b (t.dve:1:22): bisimilar to c (line 1)\n";
    assert!(output.out.contains(expected), "{}", output.out);
    let output = bench.check(COUNTER, &["--reduce", "linear"]);
    assert!(output.err.contains("warning: linear is not applied: no linear set"), "{}", output.err);
    let output = bench.run(&["check", "m.dve", "--reduce", "dominate"]);
    let why = "warning: dominated values is not applied: pruning by";
    assert!(output.err.contains(why), "{}", output.err);
}

/// `b` and `c` are bisimilar.
const BISIMILAR_LOCATIONS: &str = "process P { state a, b, c; init a; trans a -> b { }, a -> c { }, b -> a { }, c -> a { }; } system async;";

#[test]
fn contradicting_flags_are_rejected_by_name() {
    let bench = Bench::new();
    bench.write("m.dve", POSTPONING_MODEL);
    let wrong: [(&[&str], [&str; 2]); 13] = [
        (&["--reduce", "none", "--por", "local"], ["--por local", "--reduce none"]),
        (&["--reduce", "symmetry", "--por", "stubborn"], ["--por stubborn", "--reduce symmetry"]),
        (&["--reduce", "none", "--symmetry", "exact"], ["--symmetry exact", "--reduce none"]),
        (&["--reduce", "por", "--symmetry", "fast"], ["--symmetry fast", "--reduce por"]),
        (
            &["--reduce", "por,symmetry", "--symmetry", "off"],
            ["--symmetry off", "--reduce por,symmetry"],
        ),
        (&["--reduce", "none,por"], ["--reduce none,por", "cannot be combined with others"]),
        (
            &["--reduce", "symmetry,auto"],
            ["--reduce symmetry,auto", "cannot be combined with others"],
        ),
        (&["--reduce", "slices"], ["slices", "--reduce"]),
        (&["--reduce", ""], ["a value is required", "--reduce"]),
        (&["--por", "persistent"], ["persistent", "--por"]),
        (
            &["--por", "local", "-X", "por-proviso=stack"],
            ["por-proviso=stack", "the values of `por-proviso` are static, levels"],
        ),
        (
            &["-X", "por-proviso=static"],
            ["-X por-proviso=static", "choose one with --reduce or --por"],
        ),
        (
            &["--reduce", "symmetry", "-X", "por-proviso=levels"],
            ["-X por-proviso=levels", "--reduce"],
        ),
    ];
    for (flags, messages) in wrong {
        for command in ["check", "explain"] {
            bench.run(&[&[command, "m.dve"], flags].concat()).assert_rejected(2, &messages);
        }
    }
    for flags in [["--por", "conditional"], ["--reduce", "por"]] {
        let args = [&["check", "m.dve", "--store", "comback", "--json"], &flags[..]].concat();
        let levels = [&args[..], &["-X", "por-proviso=levels"]].concat();
        let output = bench.run(&levels);
        output.assert_rejected(2, &[&flags.join(" "), "-X por-proviso=levels", "--store comback"]);
        let deadlocks = [&levels[..], &["--only", "deadlock"]].concat();
        for args in [args, deadlocks] {
            let found = bench.run(&args).json();
            assert_eq!(found["reductions"], json!(["partial order conditional"]));
        }
    }
    for store in ["comback", "huffman"] {
        let output = bench.run(&["check", "m.dve", "--por", "sleep", "--store", store]);
        output.assert_rejected(2, &["--por sleep", &format!("--store {store}"), "leave out one"]);
    }
    // These flags can be combined.
    for flags in [
        &["--reduce", "auto", "--por", "local"][..],
        &["--reduce", "por", "--por", "local", "--symmetry", "off"],
        &["--por", "local", "--keep-going"],
    ] {
        let output = bench.run(&[&["check", "m.dve", "--json"], flags].concat());
        assert_eq!(output.json()["reductions"], json!(["partial order local"]), "{}", output.err);
    }
}

#[test]
fn inapplicable_reductions_are_omitted_with_one_line() {
    let bench = Bench::new();
    let claimed =
        "byte x; active proctype P() { do :: x = 1 - x od } never { x == 0; x == 0; x == 1 }";
    bench.write("c.pml", claimed);
    bench.write("counter.dve", COUNTER);
    bench.write("lockstep.dve", COUNTER.replace("async", "sync"));
    for (file, flags, messages) in [
        ("c.pml", ["--reduce", "por"], "partial order conditional is not applied: the never claim"),
        (
            "c.pml",
            ["--por", "local"],
            "partial order local is not applied: the never claim never_0 is not stutter-invariant",
        ),
        ("c.pml", ["--por", "sleep"], "the never claim never_0 may observe sleep sets"),
        ("lockstep.dve", ["--reduce", "por"], "its processes move in lockstep"),
        ("counter.dve", ["--reduce", "symmetry"], "nothing in the model is symmetric"),
    ] {
        let output = bench.run(&[&["check", file], &flags[..]].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        assert_eq!(output.err.lines().count(), 1, "{}", output.err);
        assert!(
            output.err.starts_with("warning: ") && output.err.contains(messages),
            "{}",
            output.err
        );
    }
    let output = bench.run(&["check", "c.pml", "--por", "local", "-X", "por-proviso=levels"]);
    assert!(output.err.contains("explored at once: use `-X por-proviso=static`"), "{}", output.err);
    let output = bench.run(&["check", "c.pml", "--por", "local", "-X", "por-proviso=chains"]);
    assert!(
        output.err.contains("chains are not used: use `-X por-proviso=static`"),
        "{}",
        output.err
    );
    let flags = ["--por", "conditional", "-X", "por-proviso=static+chains", "--shortest"];
    let output = bench.check(observed_grid(), &flags);
    assert!(output.err.contains("--shortest is ignored"), "{}", output.err);
    assert!(output.out.contains(" passed through without being stored"), "{}", output.out);
    // Without a flag, only the report has the line.
    let output = bench.run(&["check", "c.pml", "--verbose"]);
    let line = "  not reduced  by partial order conditional: there are only ";
    assert!(output.err.is_empty() && output.out.contains(line), "{}{}", output.err, output.out);
    let none = bench.run(&["check", "c.pml", "--reduce", "none", "--verbose"]);
    assert!(!none.out.contains("not reduced"), "{}", none.out);
}

#[test]
fn the_memory_plan_follows_the_reductions() {
    let bench = Bench::new();
    bench.write("watched.dve", observed_grid());
    bench.write("counter.dve", COUNTER);
    let explained = |file: &str, flags: &[&str]| {
        let output = bench.run(&[&["explain", file], flags].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        output.out
    };
    for flags in [&[][..], &["--reduce", "por"], &["--por", "stubborn"]] {
        let out = explained("watched.dve", flags);
        assert!(out.contains("\nreduced by partial order "), "{out}");
    }
    for (proviso, are_owed) in [("levels", true), ("static", false)] {
        let out = explained(
            "watched.dve",
            &["--por", "stubborn", "-X", &format!("por-proviso={proviso}")],
        );
        assert_eq!(out.contains("\n  obligations  "), are_owed, "{out}");
    }
    assert!(!explained("watched.dve", &UNREDUCED).contains("obligations"));
    let out = explained("counter.dve", &[]);
    let line = "\nnot reduced by partial order conditional: there are only 101 states\n";
    assert!(!out.contains("obligations") && out.contains(line), "{out}");
}

/// The violation needs some steps of two processes. Under the reduction, invisible steps come first.
fn detour_model(least: u64) -> String {
    let steps = format!("a -> b {{ guard z == 0 and y == {least}; effect z = 7; }}");
    let late = "a -> b { guard x == 300 and y > 3; effect z = 9; }";
    let own = format!(
        "process R {{ state a, b; init a; assert b: z < 5; trans {steps}, {late}, b -> a {{ guard z == 9; }}; }}"
    );
    let lines = GRID.lines().map(|it| if it.starts_with("process R") { &own } else { it });
    format!("byte z; {}", lines.collect::<String>())
}

#[test]
fn shortest_searches_for_a_shorter_counterexample() {
    let bench = Bench::new();
    let model = detour_model(150);
    let reduced = ["--por", "conditional", "-X", "por-proviso=levels", "--no-deadlock"];
    let steps = |out: &str| {
        let line = out.lines().find(|line| line.starts_with("counterexample in ")).unwrap();
        let words: Vec<_> = line.split([' ', ';']).collect();
        let at = words.iter().position(|&word| word == "steps").unwrap();
        words[at - 1].parse::<u64>().unwrap()
    };
    let perhaps = "there may be a shorter one\n";
    let unreduced = bench.check(&model, &["--reduce", "none", "--no-deadlock"]);
    assert_eq!((steps(&unreduced.out), unreduced.out.contains(perhaps)), (151, false));
    let output = bench.check(&model, &[&reduced[..], &["--dir", "long"]].concat());
    assert!(
        output.code == 1 && steps(&output.out) > 151 && output.out.contains(perhaps),
        "{}",
        output.out
    );
    assert!(bench.run(&["trace", "long"]).out.contains(perhaps));
    // With and without a stop: the first counterexample stays.
    for stop in [&[][..], &["--max-states", "1000"]] {
        let flags = [&reduced[..], &["--shortest", "--dir", "d"], stop].concat();
        let mut output = bench.check(&model, &flags);
        assert_eq!(output.code, 1, "{}", output.err);
        if !stop.is_empty() {
            assert!(steps(&output.out) > 151 && output.out.contains(perhaps), "{}", output.out);
            assert!(output.err.contains("`spillway resume d` continues the search for a shorter"));
            let status = bench.run(&["status", "d", "--json"]).json();
            assert_eq!(
                (&status["verdict"], &status["shortened"]["done"]),
                (&json!("violated"), &json!(false))
            );
            assert!(bench.run(&["trace", "d"]).out.contains(perhaps));
            output = bench.run(&["resume", "d"]);
            assert_eq!(output.code, 1, "{}", output.err);
        }
        assert!(steps(&output.out) == 151 && !output.out.contains(perhaps), "{}", output.out);
        let flat = output.flat();
        assert!(flat.contains("  shortest full search: the minimum is 151 steps ("));
        let traced = bench.run(&["trace", "d"]);
        assert!(steps(&traced.out) == 151 && !traced.out.contains(perhaps), "{}", traced.out);
        for output in [bench.run(&["status", "d", "--json"]), bench.run(&["resume", "d", "--json"])]
        {
            let shortened = &output.json()["shortened"];
            assert_eq!((&shortened["depth"], &shortened["done"]), (&json!(151), &json!(true)));
        }
        std::fs::remove_dir_all(bench.path("d")).unwrap();
    }
    // Too little disk space leaves the first counterexample.
    let first = bench.check(&model, &[&reduced[..], &["--json"]].concat()).json();
    let enough = format!("{}B", first["disk_bytes_peak"].as_u64().unwrap() + 2000);
    let flags = [&reduced[..], &["--shortest", "--disk-limit", &enough, "--dir", "d"]].concat();
    let output = bench.check(&model, &flags);
    assert!(
        output.code == 1 && steps(&output.out) > 151 && output.out.contains(perhaps),
        "{}{}",
        output.out,
        output.err
    );
    assert!(
        output.err.contains("warning: the search for a shorter counterexample failed"),
        "{}",
        output.err
    );
    bench.run(&["resume", "d"]).assert_rejected(3, &["with a larger --disk-limit"]);
    assert_eq!(steps(&bench.run(&["resume", "d", "--disk-limit", "10MB"]).out), 151);
    bench
        .check(&model, &["--shortest", "--keep-going"])
        .assert_rejected(2, &["--shortest", "--keep-going"]);
}

/// With reversed rules, the number of levels to search is unknown.
#[test]
fn shortest_is_ignored_with_reversible_rules() {
    let bench = Bench::new();
    let model = bench.write(
        "flags.m",
        "var flag: array [0..1] of boolean; x: 0..3;
        startstate for i: 0..1 do flag[i] := false; end; x := 0; end;
        ruleset i: 0..1 do rule \"want\" !flag[i] ==> flag[i] := true; end; end;
        rule \"go\" flag[0] & x < 3 ==> x := x + 1; end;
        invariant \"low\" x < 2;",
    );
    let left_out = "warning: --shortest is ignored: a level is not a step where rules are reversed";
    let output = bench.run(&["check", &model, "--reversible", "--shortest"]);
    assert!(output.code == 1 && output.err.contains(left_out), "{}", output.err);
    assert!(output.out.contains("; there may be a shorter one\n"), "{}", output.out);
    let output = bench.run(&["check", &model, "--shortest"]);
    assert!(output.code == 1 && !output.err.contains(left_out), "{}", output.err);
}

/// The static proviso postpones transitions that two processes count with.
#[test]
fn counterexamples_under_the_static_proviso_may_not_be_shortest() {
    let bench = Bench::new();
    let counts = |name: &str| {
        format!(
            "active proctype p{name}() {{ do :: {name} < 90 -> {name}++ :: else -> break od }} "
        )
    };
    let fails = "active proctype fails() { byte z; z = 2; assert(z == 1) }";
    let text = format!("byte x, y; {}{}{fails}", counts("x"), counts("y"));
    let model = bench.write("counts.pml", &text);
    let perhaps = "there may be a shorter one\n";
    let flags = ["check", &model, "--por", "conditional", "--no-deadlock"];
    let output = bench.run(&flags);
    assert!(output.code == 1 && output.out.contains(perhaps), "{}", output.out);
    let shortest = "assert: assertion failed in fails: assert(z == 1), 2 steps";
    assert!(!output.flat().contains(shortest), "{}", output.out);
    let output = bench.run(&[&flags[..], &["--shortest"]].concat());
    assert!(output.code == 1 && !output.out.contains(perhaps), "{}", output.out);
    assert!(
        output.flat().contains("  shortest full search: the minimum is 2 steps ("),
        "{}",
        output.out
    );
}

/// If no shorter counterexample exists, or no transition was postponed, the counterexample is shortest.
#[test]
fn shortest_counterexamples_have_no_note_about_shorter_ones() {
    let bench = Bench::new();
    let stuck =
        observed_grid().replace("x == 300;", "x == 299;").replace("state a, b", "state a, c, b");
    let flags =
        ["--por", "conditional", "-X", "por-proviso=levels", "--shortest", "--only", "assert"];
    let output = bench.check(&stuck, &[&flags[..], &["--dir", "d"]].concat());
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    assert!(
        output.flat().contains("  shortest full search: none has less than 601 steps ("),
        "{}",
        output.out
    );
    for out in [&output.out, &bench.run(&["trace", "d"]).out] {
        assert!(out.contains(", 601 steps\n"), "{out}");
    }
    for flags in [["--reduce", "none"], ["--only", "deadlock"]] {
        let output = bench.check(detour_model(150), &[&["--shortest"], &flags[..]].concat());
        assert!(output.code == 1 && !output.out.contains("full search"), "{}", output.out);
        assert!(!output.out.contains("may be a shorter"), "{}", output.out);
    }
}

#[test]
fn temporary_directories_are_deleted_after_a_verdict_and_kept_after_a_stop() {
    let bench = Bench::new();
    bench.check(COUNTER, &[]);
    assert!(bench.files("tmp").is_empty());
    let output = bench.check(GRID, &["--max-states", "1000", "--reduce", "none"]);
    assert_eq!((output.code, bench.files("tmp").len()), (3, 1));
    let dir = bench.path("tmp").join(&bench.files("tmp")[0]);
    assert!(output.err.contains(dir.to_str().unwrap()), "{}", output.err);
    assert_eq!(bench.run(&["resume", dir.to_str().unwrap()]).code, 0);
}

#[test]
fn unsuitable_directories_are_rejected() {
    let bench = Bench::new();
    bench.write("other.dve", COUNTER);
    std::fs::create_dir(bench.path("full")).unwrap();
    bench.write("full/letter.txt", "dear reader");
    bench
        .check(GRID, &["--dir", "full"])
        .assert_rejected(2, &["not empty", "not a search directory"]);
    assert_eq!(bench.files("full"), ["letter.txt"]);
    bench.check(GRID, &["--dir", "model.dve"]).assert_rejected(2, &["model.dve"]);
    bench.stop_grid_search();
    bench.check(GRID, &["--dir", "d"]).assert_rejected(2, &["already holds", "spillway resume d"]);
    bench
        .run(&["check", "other.dve", "--dir", "d"])
        .assert_rejected(2, &["another model", "model.dve"]);
    for command in ["resume", "status", "trace"] {
        bench.run(&[command, "full"]).assert_rejected(2, &["not a search directory"]);
        bench.run(&[command, "absent"]).assert_rejected(2, &["absent"]);
    }
    assert_eq!(bench.check(GRID, &["--dir", "new/deep/er"]).code, 0);
}

#[test]
fn a_directory_in_use_is_rejected_but_has_a_status() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let lock = spill::RealDisk::open(bench.path("d")).unwrap();
    lock.lock().unwrap();
    bench.run(&["resume", "d"]).assert_rejected(2, &["in use by a running search"]);
    bench.check(GRID, &["--dir", "d"]).assert_rejected(2, &["in use by a running search"]);
    let output = bench.run(&["status", "d"]);
    assert_eq!(output.code, 0);
    assert!(output.out.starts_with("running"), "{}", output.out);
    drop(lock);
    assert!(bench.run(&["status", "d"]).out.starts_with("stopped "));
}

#[test]
fn damage_exits_with_4_and_names_the_file() {
    let bench = Bench::new();
    for name in ["manifest", "job", "levels-000"] {
        bench.stop_grid_search();
        let path = bench.path("d").join(name);
        let bytes = std::fs::read(&path).unwrap();
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 4;
        std::fs::write(&path, flipped).unwrap();
        bench.run(&["resume", "d"]).assert_rejected(4, &[name, "damaged at byte"]);
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        bench.run(&["resume", "d"]).assert_rejected(4, &[name, "damaged at byte"]);
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(bench.run(&["resume", "d"]).code, 0);
        std::fs::remove_dir_all(bench.path("d")).unwrap();
    }
}

#[test]
fn a_missing_file_exits_with_4_and_is_named() {
    let bench = Bench::new();
    bench.stop_grid_search();
    std::fs::remove_file(bench.path("d/levels-000")).unwrap();
    bench.run(&["resume", "d"]).assert_rejected(4, &["levels-000", "restore it"]);
}

#[test]
fn another_format_version_is_rejected_by_number() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let disk = spill::RealDisk::open(bench.path("d")).unwrap();
    let format = spillway::search::checkpoint::FORMAT;
    let newer = spill::PayloadFormat { version: format.version + 1, ..format };
    let [current_version, newer_version] =
        [format, newer].map(|it| format!("version {}", it.version));
    spill::commit(&disk, "manifest", newer, b"whatever").unwrap();
    bench
        .run(&["resume", "d"])
        .assert_rejected(2, &["manifest", &current_version, &newer_version, "help"]);
}

#[test]
fn a_full_disk_stops_the_search_until_there_is_more_space() {
    let bench = Bench::new();
    let uninterrupted = bench.check(GRID, &["--json", "--reduce", "none"]).json();
    bench
        .check(GRID, &["--dir", "d", "--disk-limit", "30000B", "--reduce", "none"])
        .assert_rejected(3, &["disk limit of 30000 bytes", "spillway resume d", "--disk-limit"]);
    // The search keeps its limit until another one is given.
    bench.run(&["resume", "d"]).assert_rejected(3, &["disk limit of 30000 bytes", "--disk-limit"]);
    let output = bench.run(&["resume", "d", "--json", "--disk-limit", "10MB"]);
    assert_eq!(
        (output.code, &output.json()["states"]),
        (0, &uninterrupted["states"]),
        "{}",
        output.err
    );
}

#[test]
fn resume_keeps_the_run_limits_unless_flags_change_them() {
    let bench = Bench::new();
    let begin = ["--dir", "d", "--max-states", "20000", "--reduce", "none"];
    let means = ["--memory", "40MiB", "--threads", "1", "--exec", "interp"];
    assert_eq!(bench.check(GRID, &[&begin[..], &means].concat()).code, 3);
    let exec = |args: &[&str]| {
        let json = bench.run(&[&["resume", "d", "--json"], args].concat()).json();
        json["exec"].as_str().unwrap().to_owned()
    };
    assert_eq!(exec(&["--max-states", "25000"]), "interp");
    assert_eq!(exec(&["--max-states", "26000", "--exec", "jit"]), "jit");
    assert_eq!(exec(&["--max-states", "27000"]), "jit");
    let (output, peak) = bench.run_with_peak_memory(&["resume", "d"]);
    assert!(peak <= 40 << 20, "{peak}");
    assert!(!output.err.contains("note: "), "{}", output.err);
    bench.write("model.dve", format!("{GRID}\n"));
    let output = bench.run(&["resume", "d"]);
    for note in ["model.dve has changed", "this search is complete"] {
        assert!(output.err.contains(note), "{}", output.err);
    }
}

#[test]
fn strict_checks_fail_with_unchecked_properties() {
    let bench = Bench::new();
    bench.write(
        "asks.pml",
        "byte x; ltl p { [] (x < 9) } ltl q { <> (x == 3) }
        active proctype P() { do :: x < 3 -> x++ :: else -> break od }",
    );
    for (flags, lax, strict) in [
        (&["--no-claim"][..], 0, 1),
        (&["--ltl", "p"], 0, 1),
        (&["--ltl", "[] (x < 3)"], 1, 1),
        (&["--no-claim", "--max-states", "1"], 3, 3),
    ] {
        let args = [&["check", "asks.pml"], flags].concat();
        assert_eq!(bench.run(&args).code, lax, "{flags:?}");
        let output = bench.run(&[&args[..], &["--strict"]].concat());
        assert_eq!(output.code, strict, "{flags:?}: {}", output.out);
        assert_eq!(output.err.contains("with --strict"), lax != strict, "{}", output.err);
    }
    bench.write("model.dve", COUNTER);
    let counts = bench.run(&["check", "model.dve"]).code;
    assert_eq!(bench.run(&["check", "model.dve", "--strict"]).code, counts);
}

#[test]
fn trace_prints_counterexamples_as_text_and_json() {
    let bench = Bench::new();
    let stuck = COUNTER.replace("x == 100;", "x == 101;");
    assert_eq!(bench.check(&stuck, &["--dir", "d"]).code, 1);
    let output = bench.run(&["trace", "d"]);
    assert!(
        output.code == 1 && output.out.contains("counterexample in model.dve: deadlock"),
        "{}",
        output.out
    );
    let json = bench.run(&["trace", "d", "--json"]).json();
    let trace = &json["counterexamples"][0];
    assert_eq!(
        trace["steps"].as_array().unwrap().len() as u64,
        trace["depth"].as_u64().unwrap() + 1
    );
    assert_eq!(trace["last_state"]["x"], 100);
    bench.check(COUNTER, &["--dir", "e"]);
    assert_eq!(bench.run(&["trace", "e"]).code, 0);
}

#[test]
fn explain_describes_a_model() {
    let bench = Bench::new();
    bench.write("model.dve", COUNTER);
    let output = bench.run(&["explain", "model.dve"]);
    assert_eq!(output.code, 0);
    for words in ["process", "x", "bits", "location of P", "memory budget"] {
        assert!(output.out.contains(words), "{words}: {}", output.out);
    }
}

#[test]
fn never_claims_are_selected_by_name_and_kept_by_the_directory() {
    let bench = Bench::new();
    bench.write(
        "model.pml",
        "byte x;
        active proctype P() { x = 1; x = 2; x = 3 }
        never one { do :: x == 2 -> break :: else od }
        never two { do :: x == 3 -> break :: else od }",
    );
    let first = bench.run(&["check", "model.pml", "--keep-going", "--json"]);
    assert!(first.err.contains("only the first, one, is searched"), "{}", first.err);
    assert_eq!((first.code, &first.json()["claim"]), (1, &"one".into()));
    assert_eq!(first.json()["states"], 4);
    let second = bench.run(&["check", "model.pml", "--claim", "two", "--dir", "d"]);
    assert!(second.err.is_empty(), "{}", second.err);
    assert!(second.out.contains("claim    two; deadlocks are not checked"), "{}", second.out);
    assert!(second.out.contains("here the claim `two` of line 4:15 ends"));
    for output in [bench.run(&["status", "d"]), bench.run(&["trace", "d"])] {
        assert!(output.out.contains("two"), "{}", output.out);
    }
    assert_eq!(bench.run(&["trace", "d", "--json"]).json()["counterexamples"][0]["depth"], 3);
    let without = bench.run(&["check", "model.pml", "--no-claim", "--json"]);
    assert_eq!((without.code, &without.json()["claim"]), (0, &Value::Null));
    assert_eq!(without.json()["states"], 5);
    let only = bench.run(&["check", "model.pml", "--only", "error", "--claim", "two"]);
    assert_eq!(only.code, 0, "{}", only.out);
    assert!(only.out.contains("not checked  deadlocks, never claim two"), "{}", only.out);
    let unknown = bench.run(&["check", "model.pml", "--claim", "three"]);
    unknown.assert_rejected(2, &["there is no never claim `three`", "the model has: one, two"]);
    bench
        .run(&["check", "model.pml", "--claim", "two", "--no-claim"])
        .assert_rejected(2, &["--no-claim"]);
    let elsewhere = bench.check(COUNTER, &["--claim", "x"]);
    elsewhere.assert_rejected(2, &["--claim is for models in Promela"]);
    bench.write("model.m", "var x: 0..1; startstate x := 0; end; rule x := 1 - x; end;");
    let elsewhere = bench.run(&["check", "model.m", "--no-claim"]);
    elsewhere.assert_rejected(2, &["--no-claim is for models in DVE and Promela"]);
    let walk = bench.run(&["simulate", "model.pml", "--claim", "two"]);
    assert_eq!(walk.code, 1);
    assert!(walk.out.contains("the claim `two` ends here"), "{}", walk.out);
}

#[test]
fn a_search_with_a_claim_resumes_to_the_same_counts() {
    let bench = Bench::new();
    bench.write(
        "model.pml",
        "byte x, y, z;
        active proctype P() { do :: x < 20 -> x++ :: x == 20 -> x = 0 od }
        active proctype Q() { do :: y < 20 -> y++ :: y == 20 -> y = 0 od }
        active proctype R() { do :: z < 20 -> z++ :: z == 20 -> z = 0 od }
        never { do :: true :: x == 3 && y == 7 -> goto late od; late: do :: z < 11 od }",
    );
    let uninterrupted = bench.run(&["check", "model.pml", "--json"]).json();
    for store in ["sorted", "comback"] {
        let args = ["check", "model.pml", "--store", store, "--dir", store, "--max-states", "900"];
        assert_eq!(bench.run(&args).code, 3);
        let resumed = bench.run(&["resume", store, "--json", "--exec", "interp"]).json();
        for field in ["states", "transitions", "levels", "verdict", "claim"] {
            assert_eq!(resumed[field], uninterrupted[field], "{store} {field}");
        }
    }
}

#[test]
fn explain_prints_machine_code() {
    let bench = Bench::new();
    bench.write("model.dve", COUNTER);
    let by_number = bench.run(&["explain", "model.dve", "--asm", "1"]);
    assert_eq!(by_number.code, 0, "{}", by_number.err);
    assert!(by_number.out.starts_with("action 1: P.a -> a\n"), "{}", by_number.out);
    // Both actions have the same name.
    let by_name = bench.run(&["explain", "model.dve", "--asm", "P.a -> a"]);
    assert!(by_name.out.ends_with(&by_number.out), "{}", by_name.out);
    assert!(by_name.out.len() > by_number.out.len() + 100);
    let unknown = bench.run(&["explain", "model.dve", "--asm", "P.b -> a"]);
    unknown.assert_rejected(2, &["has no action `P.b -> a`", "lists the actions"]);
}

#[test]
fn models_are_compiled_by_default() {
    let bench = Bench::new();
    let counts = |json: &Value| {
        ["verdict", "states", "transitions", "levels", "deadlocks", "violations"]
            .map(|field| json[field].clone())
    };
    let compiled = bench.check(GRID, &["--json", "--reduce", "none"]).json();
    assert_eq!(compiled["exec"], "jit");
    assert!(compiled["compile_seconds"].as_f64() > Some(0.0) && compiled["code_bytes"].is_u64());
    let args = ["--json", "--exec", "interp", "--reduce", "none"];
    let interpreted = bench.check(GRID, &args).json();
    assert_eq!(
        (&interpreted["exec"], &interpreted["code_bytes"]),
        (&"interp".into(), &Value::Null)
    );
    assert_eq!(counts(&compiled), counts(&interpreted));

    // A search may continue with the other executor.
    bench.stop_grid_search();
    let resumed = bench.run(&["resume", "d", "--json", "--exec", "interp"]).json();
    assert_eq!((counts(&resumed), &resumed["exec"]), (counts(&compiled), &"interp".into()));

    let lockstep = COUNTER.replace("async", "sync");
    let output = bench.check(&lockstep, &[]);
    assert!(output.out.contains("interpreted, its processes move in lockstep"), "{}", output.out);
    bench.check(COUNTER, &["--exec", "guess"]).assert_rejected(2, &["--exec"]);
}

#[test]
fn states_have_bits_for_the_values_that_occur() {
    let bench = Bench::new();
    bench.write("model.dve", COUNTER);
    let output = bench.run(&["explain", "model.dve"]);
    // A byte that counts to 100 takes 7 bits; a process with one location takes none.
    assert!(output.out.contains("state of 7 bits in 1 bytes"), "{}", output.out);
}

#[test]
fn the_key_order_is_selected_and_kept() {
    let bench = Bench::new();
    let counts = |json: &Value| {
        ["verdict", "states", "transitions", "levels"].map(|field| json[field].clone())
    };
    let args = ["--json", "-X", "key-order=declared", "--reduce", "none"];
    let declared = bench.check(GRID, &args).json();
    for order in ["declared", "static", "sampled"] {
        let args = ["--dir", order, "--max-states", "20000", "-X", &format!("key-order={order}")];
        assert_eq!(bench.check(GRID, &[&args[..], &UNREDUCED].concat()).code, 3);
        let json = bench.run(&["resume", order, "--json"]).json();
        assert_eq!(counts(&json), counts(&declared), "{order}");
        bench
            .check(GRID, &["--dir", order])
            .assert_rejected(2, &["already holds a search of this model"]);
        let output = bench.run(&["explain", "model.dve", "-X", &format!("key-order={order}")]);
        assert!(output.out.contains("key order "), "{}", output.out);
    }
    assert_eq!(declared["key_order"], "declared");
    bench
        .check(GRID, &["-X", "key-order=alphabetical"])
        .assert_rejected(2, &["key-order=alphabetical", "declared, static, sampled"]);
}

#[test]
fn simulations_repeat_by_seed_and_are_interactive() {
    let bench = Bench::new();
    bench.write("model.dve", GRID);
    let walk = |seed| bench.run(&["simulate", "model.dve", "--seed", seed, "--steps", "50"]).out;
    assert_eq!(walk("1"), walk("1"));
    assert_ne!(walk("1"), walk("2"));
    let mut child = bench
        .command(&["simulate", "model.dve", "--interactive", "--steps", "4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let answers = b"b\n1\nx\n7\ns\nh\nb\n1\n0\nl\n";
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), answers).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    for words in [
        "x: 0 -> 1",
        "there is no command `x`; the commands are a number, Enter, random, ",
        "there is no step `7`",
        "       y = 1\n",
        "back  (b)          goes back to the last choice\n",
        "back to step 0\n       x = 0\n       y = 0\n",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    // The step was taken, undone, and taken again.
    assert_eq!(out.matches("y: 0 -> 1").count(), 2, "{out}");
}

#[test]
fn a_closed_reader_causes_no_panic() {
    let bench = Bench::new();
    bench.write("model.dve", COUNTER);
    let mut child = bench
        .command(&["explain", "model.dve"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    drop(CommandOutput::from(child.wait_with_output().unwrap()));
}

#[test]
fn a_directory_without_permission_is_rejected() {
    let bench = Bench::new();
    let closed = Path::new("/proc/spillway");
    let output = bench.check(COUNTER, &["--dir", closed.to_str().unwrap()]);
    output.assert_rejected(2, &["/proc/spillway"]);
}

#[test]
fn every_store_has_the_same_counts_and_is_kept_by_the_directory() {
    let bench = Bench::new();
    bench.write("grid.dve", GRID);
    bench.write("bytes.txt", "# the bytes of a state\n0 100\n1 20\n");
    let counts = |json: &Value| {
        ["states", "transitions", "levels", "deadlocks"].map(|name| json[name].as_u64().unwrap())
    };
    let expected = bench.run(&["check", "grid.dve", "--json", "--reduce", "none"]);
    let expected: Value = serde_json::from_str(&expected.out).unwrap();
    for (number, flags) in [
        &["--store", "raw"][..],
        &["--store", "rle"],
        &["--store", "huffman"],
        &["--store", "huffman", "-X", "huffman-table=bytes.txt"],
        &["--store", "comback", "-X", "comback-cache=heuristic:500"],
        &["--store", "comback", "-X", "comback-hash=64", "-X", "comback-cache=stratified-5"],
    ]
    .into_iter()
    .enumerate()
    {
        let dir = format!("search-{number}");
        let stopped = ["--dir", &dir, "--max-states", "30000", "--memory", "64MiB"];
        let stopped = bench.run(&[&["check", "grid.dve"], flags, &stopped, &UNREDUCED].concat());
        assert_eq!(stopped.code, 3, "{flags:?}: {}", stopped.err);
        let status = bench.run(&["status", &dir, "--json"]);
        let status: Value = serde_json::from_str(&status.out).unwrap();
        assert_eq!(status["store"], flags[1]);
        let parts = |json: &Value| json["store_parts"].as_object().unwrap().clone();
        let bytes = |part: &Value| ["memory", "disk"].map(|it| part[it].as_u64().unwrap());
        let names: &[&str] = match flags[1] {
            "comback" => &["state table", "back-edges", "last level", "cache"],
            _ => &["levels", "young runs", "merged runs", "filter"],
        };
        let has = |name: &&str| parts(&status).contains_key(&name.replace([' ', '-'], "_"));
        assert!(names.iter().all(has), "{status}");
        assert!(parts(&status).values().map(bytes).any(|[_, disk]| disk > 0), "{status}");
        let text = bench.run(&["status", &dir]).out;
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
        let output = bench.run(&["resume", &dir, "--memory", "64MiB", "--json"]);
        assert_eq!(output.code, 0, "{flags:?}: {}", output.err);
        let found: Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(counts(&found), counts(&expected), "{flags:?}");
        assert_eq!(found["store"], flags[1]);
        assert!(parts(&found).values().flat_map(bytes).sum::<u64>() > 0);
        let rebuilt = found["rebuilt"]["states"].as_u64();
        assert_eq!(rebuilt.is_some_and(|states| states > 0), flags[1] == "comback", "{found}");
    }
}

#[test]
fn counterexamples_of_comback_have_the_same_length() {
    let bench = Bench::new();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dve/bounded_buffer.dve");
    let model = model.display().to_string();
    for bug in ["BUG=1", "BUG=2"] {
        let depth = |store: &str| {
            let dir = format!("{bug}-{store}");
            let output = bench.run(&["check", &model, "-D", bug, "--store", store, "--dir", &dir]);
            assert_eq!(output.code, 1, "{}", output.err);
            assert!(output.out.contains("counterexample in "), "{}", output.out);
            let traced = bench.run(&["trace", &dir, "--json"]);
            let traced: Value = serde_json::from_str(&traced.out).unwrap();
            let steps = traced["counterexamples"][0]["steps"].as_array().unwrap().len();
            (traced["counterexamples"][0]["depth"].as_u64().unwrap(), steps)
        };
        let expected = depth("sorted");
        assert_eq!(depth("comback"), expected, "{bug}");
        assert_eq!(depth("huffman"), expected, "{bug}");
    }
}

#[test]
fn flags_of_another_store_and_bad_tables_are_rejected() {
    let bench = Bench::new();
    bench.write("counter.dve", COUNTER);
    bench.write("bad.txt", "0 1\n7 seven\n");
    bench.write("wide.txt", "1 0 10\n");
    for (flags, message) in [
        (&["-X", "huffman-table=bad.txt"][..], "-X huffman-table is for --store huffman"),
        (&["--store", "huffman", "-X", "huffman-table=bad.txt"], "bad.txt:2: `seven`"),
        (&["--store", "huffman", "-X", "huffman-table=none.txt"], "cannot read the table none.txt"),
        (&["-X", "comback-hash=64"], "-X comback-hash is for --store comback"),
        (&["--store", "comback", "-X", "comback-cache=lru"], "expected none, random, fifo"),
        (&["--store", "comback", "-X", "comback-cache=fifo:900000000"], "is too large"),
        (
            &["--store", "huffman", "-X", "comback-cache=none"],
            "-X comback-cache is for --store comback",
        ),
        (&["--store", "comback", "-X", "huffman-table=bad.txt"], "is for --store huffman"),
        (
            &["--store", "comback", "-X", "comback-hash=12"],
            "the values of `comback-hash` are 8, 16, 32, 64",
        ),
        (&["--store", "comback", "-X", "comback-cache=none:5"], "none has no size"),
        (
            &["--store", "huffman", "-X", "huffman-table=wide.txt"],
            "wide.txt:1: there is no column 1",
        ),
    ] {
        let output = bench.run(&[&["check", "counter.dve"], flags].concat());
        assert!(output.code == 2 && output.err.contains(message), "{flags:?}: {}", output.err);
    }
}

/// Each of three symmetric processes counts to two; the first at two is a violation.
const RACE: &str = "type P: scalarset(3); var n: array [P] of 0..2;
ruleset p: P do rule \"count\" n[p] < 2 ==> n[p] := n[p] + 1; end; end;
startstate for p: P do n[p] := 0; end; end;
invariant \"nobody is there\" forall p: P do n[p] < 2 end;
";

#[test]
fn symmetric_states_are_visited_once_by_default() {
    let bench = Bench::new();
    let model = bench.write("race.m", RACE);
    let states = |symmetry: &str| {
        let flags = ["check", &model, "--json", "--keep-going", "--symmetry", symmetry];
        let result: Value = serde_json::from_str(&bench.run(&flags).out).unwrap();
        (result["states"].as_u64().unwrap(), result["reductions"].clone())
    };
    assert_eq!(states("off"), (27, serde_json::json!([])));
    assert_eq!(states("exact"), (10, serde_json::json!(["symmetry exact"])));
    assert_eq!(states("fast"), (10, serde_json::json!(["symmetry fast"])));
}

#[test]
fn counterexamples_under_symmetry_are_runs_of_the_model() {
    let bench = Bench::new();
    let model = bench.write("race.m", RACE);
    let checked = bench.run(&["check", &model, "--dir", "d", "--only", "invariant"]);
    assert_eq!(checked.code, 1, "{}", checked.err);
    let counts = ["n = [P_1: 0, P_2: 0, P_3: 0]", "n[P_1]: 0 -> 1", "n[P_1]: 1 -> 2"];
    counts.into_iter().for_each(|piece| assert!(checked.out.contains(piece), "{}", checked.out));
    let counts = ["1  count (p: P_1)    ", "2  count (p: P_1)    ", "reduced  by symmetry exact"];
    counts.into_iter().for_each(|piece| assert!(checked.out.contains(piece), "{}", checked.out));
    // One process counts twice. Representatives, sorted anew in each state, could not show that.
    let trace: Value = serde_json::from_str(&bench.run(&["trace", "d", "--json"]).out).unwrap();
    let steps = trace["counterexamples"][0]["steps"].as_array().unwrap();
    let changed = |step: usize| {
        let changes = steps[step]["changes"].as_object().unwrap();
        assert_eq!(changes.len(), 1, "step {step}");
        let (name, values) = changes.iter().next().unwrap();
        (name.clone(), steps[step]["parameters"]["p"].clone(), values.clone())
    };
    let named = |number: u64| (format!("n[P_{number}]"), json!(format!("P_{number}")));
    let (name, process, values) = changed(1);
    let mine = (1..=3).map(named).find(|it| *it == (name.clone(), process.clone()));
    assert!(mine.is_some() && values == json!([0, 1]), "{name} {process} {values}");
    assert_eq!(changed(2), (name, process, json!([1, 2])));
}

#[test]
fn a_resumed_search_keeps_its_symmetry_and_deadlock_rule() {
    let bench = Bench::new();
    let model = bench.write("race.m", RACE);
    let stop = ["check", &model, "--dir", "d", "--keep-going", "--max-states", "4", "--symmetry"];
    let flags = [&stop[..], &["fast", "--deadlock", "stuck"]].concat();
    assert_eq!(bench.run(&flags).code, 3);
    let resumed = bench.run(&["resume", "d", "--json"]);
    let result: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!(result["reductions"], serde_json::json!(["symmetry fast"]));
    assert_eq!(result["states"], 10);
    let idle = bench.write("idle.m", "var x: 0..1; rule x := x; end; startstate x := 0; end;");
    assert_eq!(bench.run(&["check", &idle]).code, 1);
    assert_eq!(bench.run(&["check", &idle, "--deadlock", "stuck"]).code, 0);
}

#[test]
fn a_former_flag_is_accepted_as_its_option() {
    let bench = Bench::new();
    let dve = bench.write("counter.dve", COUNTER);
    for (reduce, flags, option) in [
        ("por", &["--por-proviso", "levels"][..], "-X por-proviso=levels"),
        ("none", &["--key-order=static"], "-X key-order=static"),
        ("none", &["--key-order", "sampled"], "-X key-order=sampled"),
    ] {
        let check = ["check", &dve, "--json", "--reduce", reduce];
        let former = bench.run(&[&check, flags].concat());
        let flag = flags[0].split('=').next().unwrap();
        let warning = format!("warning: {flag} is now {option}");
        assert!(former.err.contains(&warning), "{}", former.err);
        let (option, value) = option.split_once(' ').unwrap();
        let now = bench.run(&[&check[..], &[option, value]].concat());
        assert_eq!((former.code, now.code), (now.code, 0), "{}", former.err);
        let [former, now] = [former, now].map(|it| serde_json::from_str::<Value>(&it.out).unwrap());
        assert_eq!(former["states"], now["states"]);
        assert_eq!(former["warnings"][0], warning.as_str());
    }
    // A flag without its value is rejected, and the help names the value.
    let output = bench.run(&["check", &dve, "--por-proviso"]);
    let help = "help: --por-proviso is an option of -X: -X por-proviso=PROVISO\n";
    assert!(output.code == 2 && output.err.ends_with(help), "{}", output.err);
    let output = bench.run(&["check", &dve, "--huffman-table", "a file"]);
    assert!(output.code == 2 && output.err.contains("-X huffman-table='a file'"), "{}", output.err);
    // A command without the option has no help for it.
    let output = bench.run(&["simulate", &dve, "--key-order", "static"]);
    assert!(output.code == 2 && !output.err.contains("-X"), "{}", output.err);
}

#[test]
fn expert_options_are_listed_and_the_last_value_counts() {
    let bench = Bench::new();
    let dve = bench.write("counter.dve", COUNTER);
    let list = bench.run(&["check", "-X", "help"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    assert!(list.out.contains("\n  -X por-proviso=PROVISO\n"), "{}", list.out);
    assert_eq!(bench.run(&["check", &dve, "-Xhelp"]).out, list.out);
    let list = bench.run(&["simulate", "-X", "help"]).out;
    assert!(list.contains("\n  -X slots=N\n") && !list.contains("por-proviso"), "{list}");
    let orders = ["-X", "key-order=sampled", "-X", "key-order=static"];
    let dir = ["--dir", "d", "--max-states", "1"];
    assert_eq!(bench.run(&[&["check", &dve], &orders[..], &dir].concat()).code, 3);
    let status = bench.run(&["status", "d", "--json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    assert_eq!(status["config"]["search"]["key-order"], "static");
}

#[test]
fn flags_without_a_meaning_in_the_language_are_rejected() {
    let bench = Bench::new();
    let dve = bench.write("counter.dve", COUNTER);
    let murphi = bench.write("race.m", RACE);
    let promela = bench.write("late.pml", LATE_PROCESSES);
    let wrong: [(&[&str], &str, &[&String]); 6] = [
        (&["--overflow", "wrap"], "--overflow is for models in DVE", &[&murphi, &promela]),
        (&["--overflow", "error"], "--overflow is for models in DVE", &[&murphi, &promela]),
        (&["-X", "slots=3"], "-X slots is for models in Promela", &[&dve, &murphi]),
        (&["--deadlock", "stuck"], "--deadlock is for models in Murphi", &[&dve, &promela]),
        (&["--claim", "c"], "--claim is for models in Promela", &[&dve, &murphi]),
        (&["--no-claim"], "--no-claim is for models in DVE and Promela", &[&murphi]),
    ];
    for (flags, message, models) in wrong {
        for command in ["check", "explain", "simulate"] {
            for model in models {
                bench
                    .run(&[&[command, model], flags].concat())
                    .assert_rejected(2, &[message, model]);
            }
        }
    }
    // A language with such a meaning accepts the flags.
    for (model, flags) in [(&dve, ["--overflow", "wrap"]), (&promela, ["-X", "slots=3"])] {
        assert_eq!(bench.run(&[&["explain", model], &flags[..]].concat()).code, 0, "{model}");
    }
}

/// Counts for longer than the pilot search, and only then starts processes in a loop.
const LATE_PROCESSES: &str = "short n; byte started;
proctype worker() { end: started == 9 }
init { do :: n < 9000 -> n++ :: n == 9000 && started < 3 -> run worker(); started++
       :: started == 3 -> break od }
";

#[test]
fn late_processes_restart_the_search_with_more_slots() {
    let bench = Bench::new();
    let model = bench.write("late.pml", LATE_PROCESSES);
    for flags in [&[][..], &["--dir", "d"]] {
        let output = bench.run(&[&["check", &model, "--json"], flags].concat());
        assert_eq!(output.code, 0, "{}", output.err);
        let message = "worker needs more than 1 slot: restarting the search with 16";
        assert!(output.err.contains(message), "{}", output.err);
        let result: Value = serde_json::from_str(&output.out).unwrap();
        let with_slots = bench.run(&["check", &model, "--json", "-X", "slots=16"]);
        let expected: Value = serde_json::from_str(&with_slots.out).unwrap();
        let counts = ["states", "transitions", "verdict"];
        counts.into_iter().for_each(|name| assert_eq!(result[name], expected[name], "{name}"));
    }
    let few = bench.run(&["check", &model, "-X", "slots=2"]);
    assert!(few.code == 1 && few.out.contains("`-X slots=16`"), "{}", few.out);
    // A search that was stopped before it needs more slots restarts in its directory. A trial of reductions would need
    // the slots.
    let begin = ["check", &model, "--dir", "stopped", "--max-states", "100", "--reduce", "none"];
    let stopped = bench.run(&begin);
    assert_eq!(stopped.code, 3, "{}", stopped.err);
    let resumed = bench.run(&["resume", "stopped", "--json"]);
    assert!(resumed.err.contains("restarting the search with 16"), "{}", resumed.err);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    let result: Value = serde_json::from_str(&resumed.out).unwrap();
    let with_slots = bench.run(&["check", &model, "--json", "-X", "slots=16", "--reduce", "none"]);
    let expected: Value = serde_json::from_str(&with_slots.out).unwrap();
    assert_eq!(result["states"], expected["states"]);
    assert_eq!(bench.run(&["status", "stopped"]).code, 0);
}

/// The maximum number of processes that SPIN allows, started in each way. The counts are SPIN's. One more process is an
/// error, as in SPIN.
#[test]
fn loops_and_recursion_start_up_to_255_processes() {
    let bench = Bench::new();
    let idle = "proctype W() { end: false }";
    let models = [
        (format!("byte n; {idle} init {{ do :: n < 20 -> run W(); n++ :: else -> break od }}"), 62, 0),
        (format!("byte n; active [20] {idle} init {{ do :: n < 30 -> run W(); n++ :: else -> break od }}"), 92, 0),
        ("proctype P(byte n) { if :: n > 0 -> run P(n-1) :: else fi; end: false } init { run P(40) }".into(), 83, 0),
        (
            "proctype A(byte n) { if :: n > 0 -> run B(n-1) :: else fi; end: false }
            proctype B(byte n) { if :: n > 0 -> run A(n-1) :: else fi; end: false }
            init { run A(50) }".into(),
            103,
            0,
        ),
        (
            "byte n, m; proctype A() { end: false } proctype C() { int a; a = 5; end: false }
            proctype B() { byte x, y, z; x = 1; run C(); end: false }
            init { do :: n < 30 -> run A(); n++ :: else -> break od;
                do :: m < 3 -> run B(); m++ :: else -> break od }".into(),
            705,
            0,
        ),
        (
            "chan q = [3] of { byte, chan };
            proctype W(chan c; byte i) { chan own = [1] of { byte }; q!i,own; own?_; c!i; end: false }
            init { chan c = [2] of { byte }; byte i, x; chan o;
                for (i : 1 .. 20) { run W(c, i); q?x,o; o!x; c?x } }".into(),
            183,
            0,
        ),
        ("proctype P() { run P() } init { run P() }".into(), 255, 1),
    ];
    for (number, (text, states, code)) in models.into_iter().enumerate() {
        let model = bench.write(&format!("{number}.pml"), &text);
        let flags = ["--keep-going", "--reduce", "none", "--json", "--no-trace"];
        let output = bench.run(&[&["check", &model], &flags[..]].concat());
        assert_eq!(output.code, code, "{text}\n{}{}", output.out, output.err);
        let result: Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(result["states"], states, "{text}");
    }
}

#[test]
fn all_commands_have_enough_slots_and_too_wide_states_are_rejected() {
    let bench = Bench::new();
    let idle = "proctype W() { end: false }";
    // Liveness checks, walks and graphs get the same number of slots.
    let model = bench.write(
        "many.pml",
        format!("byte n; {idle} init {{ do :: n < 20 -> run W(); n++ :: else -> break od }}"),
    );
    for args in [
        &["check", &model, "--ltl", "[] (n <= 20)"][..],
        &["check", &model, "--ltl", "<> (n == 20)"],
        &["simulate", &model, "--steps", "100"],
        &["graph", &model],
    ] {
        let output = bench.run(args);
        assert_eq!(
            output.code,
            if args[0] == "simulate" { output.code } else { 0 },
            "{args:?}{}",
            output.err
        );
        assert!(!output.out.contains("no free slot"), "{args:?}\n{}", output.out);
    }
    let wide = "byte n, done; proctype W() { int big[1200]; atomic { big[n] = n * 70000; done++ }; end: false }
        init { do :: n < 60 -> n++; run W(); done == n :: else -> break od }";
    let wide = bench.write("wide.pml", wide);
    let output = bench.run(&["check", &wide, "--exec", "interp", "--reduce", "none"]);
    assert!(
        output.code == 2 && output.err.contains("slots, which is the maximum"),
        "{}",
        output.err
    );
}

#[test]
fn the_language_is_selected_by_a_flag() {
    let bench = Bench::new();
    let model = bench.write("late", LATE_PROCESSES);
    bench.run(&["check", &model]).assert_rejected(2, &["unknown file extension", "--language"]);
    assert_eq!(bench.run(&["check", &model, "--language", "promela"]).code, 0);
}

#[test]
#[cfg(target_os = "linux")]
fn initial_states_and_counterexamples_stay_within_the_budget() {
    const BUDGET: u64 = 48 << 20;
    let bench = Bench::new();
    let model = bench.write("model.m", MANY_INITIAL_STATES);
    let flags = ["--memory", "48MiB", "--no-deadlock", "--dir", "d"];
    let (output, peak) = bench.run_with_peak_memory(&[&["check", &model], &flags[..]].concat());
    assert_eq!(output.code, 1, "{}{}", output.out, output.err);
    assert!(output.out.contains("invariant: low, 2 steps") && output.out.contains("x = 300000"));
    assert!(peak <= BUDGET, "{} KiB resident", peak >> 10);
    for args in [["trace", "d"].as_slice(), &["trace", "d", "--memory", "40MiB"], &["status", "d"]]
    {
        let (output, peak) = bench.run_with_peak_memory(args);
        let is_trace = args[0] == "trace";
        assert_eq!(output.code, i32::from(is_trace), "{}{}", output.out, output.err);
        assert!(output.out.contains("x = 300000") || !is_trace, "{}", output.out);
        assert!(peak <= BUDGET, "{} KiB resident", peak >> 10);
    }
}

#[test]
fn json_counterexamples_are_complete_with_changes() {
    let bench = Bench::new();
    let output = bench.check(COUNTER, &["--dir", "d", "--no-deadlock"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let json = bench.run(&["trace", "d", "--json"]).json();
    assert_eq!(json["counterexamples"], serde_json::json!([]));
    assert_eq!(json["checked"], serde_json::json!(["run-time errors"]));
    let text = COUNTER.replace("effect x = 0;", "effect x = 3 / (x - 100);");
    let output = bench.check(text, &["--dir", "e"]);
    assert_eq!(output.code, 1, "{}", output.err);
    let output = bench.run(&["trace", "e", "--json"]);
    let result = output.json();
    assert_eq!(output.out, format!("{result:#}\n"), "written in pieces as it would be at once");
    let steps = result["counterexamples"][0]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 102);
    assert_eq!(steps[100]["changes"], serde_json::json!({ "x": [99, 100] }));
    let error = &steps[101]["error"];
    assert_eq!((&error["file"], &error["line"]), (&json!("model.dve"), &json!(3)), "{error}");
    assert!(error["message"].is_string() && error["column"].is_u64(), "{error}");
    assert_eq!(result["counterexamples"][0]["last_state"]["x"], 100);
}
