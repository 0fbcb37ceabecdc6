//! `task`: a search by several processes in tasks, some of which are killed, and its reports.

use crate::{Bench, CommandOutput, GRID, UNREDUCED};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

/// Levels of fewer states are left to one process.
const THIN: &str = "50";

impl Bench {
    fn task(&self, args: &[&str]) -> CommandOutput {
        self.run(&[&["task"], args].concat())
    }

    /// The next work of the search.
    fn plan_next(&self, tasks: &str) -> Value {
        let output = self.task(&["plan", "d", "--tasks", tasks, "--thin", THIN]);
        assert_eq!(output.code, 0, "{}", output.err);
        serde_json::from_str(&output.out).unwrap()
    }

    /// Runs plans until there is a verdict. Kills some of the processes that run tasks. Returns the number of phases.
    fn drive(&self, tasks: &str, is_killing: bool) -> u32 {
        for phases in 0.. {
            let next = self.plan_next(tasks);
            let of = |name: &str| next[name].as_str().unwrap_or_default().to_owned();
            match of("phase").as_str() {
                "done" => return phases,
                "search" => {
                    let most = next["max_states"].to_string();
                    let limit = ["--max-states", &most];
                    let limit = if most == "null" { &[][..] } else { &limit };
                    // Another driver may run the same search.
                    let output = self.run(&[&["resume", "d"], limit].concat());
                    assert!([0, 1, 2, 3].contains(&output.code), "{}", output.err);
                }
                _ => self.run_plan(&of("plan"), next["tasks"].as_u64().unwrap(), is_killing),
            }
        }
        unreachable!()
    }

    fn run_plan(&self, plan: &str, tasks: u64, is_killing: bool) {
        for task in 0..tasks {
            let args = ["task", "run", "d", "--plan", plan, "--task", &task.to_string()];
            if is_killing && task % 3 == 0 {
                let mut command = self.command(&args);
                let mut child = command.stdout(Stdio::null()).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(task % 20));
                let _ = child.kill();
                child.wait().unwrap();
            }
            match self.run(&args) {
                CommandOutput { code: 0, .. } => {}
                CommandOutput { code: 5, .. } => return,
                other => panic!("{}", other.err),
            }
        }
        let output = self.task(&["commit", "d", "--plan", plan]);
        assert!([0, 5].contains(&output.code), "{}", output.err);
    }
}

/// A process that executes lines of its input.
struct Server {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The folder of the files and that of their copies, if the process requests files.
    folders: Option<[PathBuf; 2]>,
}

impl Server {
    fn of(bench: &Bench) -> Server {
        Server::start(bench, &["task", "serve", "d", "--memory", "512MiB"], None)
    }

    /// Starts a process that has only the copies it requests.
    fn start_remote(bench: &Bench) -> Server {
        let [all, copies] = ["d", "copies"].map(|it| bench.path(it));
        std::fs::create_dir(&copies).unwrap();
        let args = ["task", "serve", "copies", "--asks", "--memory", "512MiB"];
        Server::start(bench, &args, Some([all, copies]))
    }

    fn start(bench: &Bench, args: &[&str], folders: Option<[PathBuf; 2]>) -> Server {
        let mut command = bench.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Server { child, out, folders }
    }

    fn ask(&mut self, line: &str) -> Value {
        self.ask_bytes(line.as_bytes())
    }

    /// Requests a line that may not be text.
    fn ask_bytes(&mut self, line: &[u8]) -> Value {
        let mut say = line.to_owned();
        loop {
            say.push(b'\n');
            self.child.stdin.as_ref().unwrap().write_all(&say).unwrap();
            let mut answer = String::new();
            self.out.read_line(&mut answer).unwrap();
            let answer: Value =
                serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}"));
            match &self.folders {
                Some(places) if answer.get("code").is_none() => {
                    say = json!({"done": answer_request(places, &answer)}).to_string().into_bytes();
                }
                _ => return answer,
            }
        }
    }

    /// The next work of the search.
    fn plan_next(&mut self) -> Value {
        let next = self.ask(&format!("plan --tasks 3 --thin {THIN}"));
        assert_eq!(next["code"], 0, "{next}");
        next
    }

    /// Ends the input. Returns the exit code and the standard error.
    fn ended(mut self) -> (i32, String) {
        drop(self.child.stdin.take());
        let code = self.child.wait().unwrap().code().unwrap();
        let mut messages = String::new();
        self.child.stderr.unwrap().read_to_string(&mut messages).unwrap();
        (code, messages)
    }
}

/// Answers a request of a server. Returns whether it was possible.
fn answer_request([all, copies]: &[PathBuf; 2], question: &Value) -> bool {
    let of = |what: &str| question[what].as_str();
    if let Some(name) = of("bring") {
        let Ok(bytes) = std::fs::read(all.join(name)) else { return false };
        let copy = copies.join(name);
        if let (Some(from), Some(until)) = (question["from"].as_u64(), question["until"].as_u64()) {
            let file = File::options().write(true).create(true).truncate(false).open(copy).unwrap();
            file.set_len(bytes.len() as u64).unwrap();
            file.write_all_at(&bytes[from as usize..until as usize], from).unwrap();
        } else {
            let new = copies.join("copy.new");
            std::fs::write(&new, bytes).unwrap();
            std::fs::rename(new, copy).unwrap();
        }
        return true;
    }
    if let Some(name) = of("take") {
        let is_taken = !(question["new"] == true && all.join(name).exists());
        return is_taken && std::fs::copy(copies.join(name), all.join(name)).is_ok();
    }
    let name = of("remove").expect("it asks for nothing else");
    let _ = (std::fs::remove_file(copies.join(name)), std::fs::remove_file(all.join(name)));
    true
}

/// One process runs all tasks, plans and commits; other processes resume in between.
#[test]
fn a_task_server_has_the_answers_of_the_commands() {
    check_server(Server::of);
}

/// The same process has only the files that it has requested.
#[test]
fn a_remote_task_server_requests_files() {
    check_server(Server::start_remote);
    // An error in an answer is reported; without an answer the process ends.
    for (line, message) in [
        (r#"{"error": "the cable is out"}"#, "the cable is out"),
        ("\u{1}", "is not an answer"),
        ("what?", "`what?` is not an answer"),
        ("", "no answer"),
    ] {
        let bench = Bench::new();
        bench.stop_grid_search();
        let server = Server::start_remote(&bench);
        let line = if line.is_empty() { String::new() } else { format!("{line}\n") };
        write!(server.child.stdin.as_ref().unwrap(), "plan --tasks 3\n{line}").unwrap();
        let (code, err) = server.ended();
        assert!(code == 3 && err.contains(message), "{code}: {err}");
    }
    let bench = Bench::new();
    bench.stop_grid_search();
    let server = Server::start_remote(&bench);
    write!(server.child.stdin.as_ref().unwrap(), "plan --tasks 3\n{{\"done\": false}}\n").unwrap();
    let (code, err) = server.ended();
    assert!(code == 2 && err.contains("or has no search yet"), "{code}: {err}");
}

fn check_server(server: fn(&Bench) -> Server) {
    let text = GRID.replace("300", "60");
    let alone = Bench::new();
    let found = alone.check(&text, &[&UNREDUCED[..], &["--dir", "d", "--json"]].concat());
    let bench = Bench::new();
    let flags = [&UNREDUCED[..], &["--dir", "d", "--max-states", "1000"]].concat();
    assert_eq!(bench.check(&text, &flags).code, 3);
    let mut server = server(&bench);
    let mut tasks = 0;
    loop {
        let next = server.plan_next();
        let plan = next["plan"].as_str().unwrap_or_default();
        match next["phase"].as_str().unwrap() {
            "done" => break,
            "search" => {
                let most = next["max_states"].to_string();
                let limit = ["--max-states", &most];
                let limit = if most == "null" { &[][..] } else { &limit };
                let output = bench.run(&[&["resume", "d"], limit].concat());
                assert!([0, 3].contains(&output.code), "{}", output.err);
            }
            _ => {
                for task in 0..next["tasks"].as_u64().unwrap() {
                    let done = server.ask(&format!("run --plan {plan} --task {task}"));
                    assert_eq!((&done["code"], &done["task"]), (&json!(0), &json!(task)));
                    tasks += 1;
                }
                let done = server.ask(&format!("commit --plan {plan}"));
                assert_eq!((&done["code"], &done["plan"]), (&json!(0), &json!(plan)), "{done}");
            }
        }
    }
    assert!(tasks > 30, "{tasks}");
    let result = bench.run(&["status", "d", "--json"]).json();
    for member in ["verdict", "states", "transitions", "levels"] {
        assert_eq!(result[member], found.json()[member], "{member}");
    }
    // The next line applies to another search in the same place.
    std::fs::remove_dir_all(bench.path("d")).unwrap();
    let flags = [&UNREDUCED[..], &["--dir", "d", "--max-states", "2000"]].concat();
    assert_eq!(bench.check(GRID, &flags).code, 3);
    assert!(server.plan_next()["states"].as_u64().unwrap() < 3000);
    assert_eq!(server.ended(), (0, String::new()));
}

#[test]
fn invalid_lines_are_answered_with_errors() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let mut server = Server::of(&bench);
    for line in ["", "go", "serve d", "run --plan 1", "plan --tasks 0", "commit --plan a b"] {
        let answer = server.ask(line);
        assert_eq!(answer["code"], 2, "{line}: {answer}");
        assert!(answer["error"].as_str().unwrap().starts_with("error: "), "{line}: {answer}");
    }
    let plan_next = server.plan_next();
    let plan = plan_next["plan"].as_str().unwrap();
    for (line, code, message) in [
        (format!("run --plan {plan} --task 9"), 2, "error: there is no task 9 in"),
        (format!("commit --plan {plan}"), 3, "error: task 0 of"),
        ("commit --plan 1-expand-a".into(), 5, "note: 1-expand-a is no longer the current plan"),
    ] {
        let answer = server.ask(&line);
        assert_eq!(answer["code"], code, "{line}: {answer}");
        assert!(answer["error"].as_str().unwrap().starts_with(message), "{line}: {answer}");
    }
    // A line that is not text, or too long, gets an answer, and so does the next line.
    let long = vec![b'x'; 3 << 20];
    for (line, message) in [
        (&b"\xff"[..], "error: standard input: a line is not UTF-8"),
        (b"plan --tasks \xc3\x28", "error: standard input: a line is not UTF-8"),
        (&long, "error: standard input: a line has more than 1 MiB"),
    ] {
        let answer = server.ask_bytes(line);
        assert_eq!((&answer["code"], &answer["error"]), (&json!(2), &json!(message)));
        assert_eq!(server.plan_next()["plan"], plan_next["plan"]);
    }
    std::fs::remove_dir_all(bench.path("d")).unwrap();
    writeln!(server.child.stdin.as_ref().unwrap(), "plan --tasks 3").unwrap();
    let (code, messages) = server.ended();
    assert!(code == 2 && messages.contains("there is no search directory"), "{code}: {messages}");
}

/// Two drivers of one search with different options, and a third process that resumes it meanwhile.
#[test]
fn two_drivers_have_the_result_of_one_process() {
    let (alone, text) = (Bench::new(), GRID.replace("300", "80"));
    let found = alone.check(&text, &[&UNREDUCED[..], &["--dir", "d", "--json"]].concat());
    let bench = Bench::new();
    let flags = [&UNREDUCED[..], &["--dir", "d", "--max-states", "1000"]].concat();
    assert_eq!(bench.check(&text, &flags).code, 3);
    let phases = std::thread::scope(|scope| {
        let first = scope.spawn(|| bench.drive("3", true));
        let second = scope.spawn(|| bench.drive("5", false));
        first.join().unwrap() + second.join().unwrap()
    });
    assert!(phases > 50, "{phases}");
    let output = bench.run(&["status", "d", "--json"]);
    let [expected, result]: [Value; 2] =
        [&found.out, &output.out].map(|it| serde_json::from_str(it).unwrap());
    for member in ["verdict", "states", "transitions", "levels", "coverage"] {
        assert_eq!(result[member], expected[member], "{member}");
    }
    assert_eq!(expected["verdict"], "verified");
    let files = bench.files("d");
    let is_plan_or_receipt = |it: &&String| it.starts_with("plan-") || it.starts_with("receipt-");
    assert!(!files.iter().any(|it| is_plan_or_receipt(&it)), "{files:?}");
}

/// The counterexample is that of a search by one process.
#[test]
fn counterexamples_of_tasks_are_those_of_one_process() {
    let text = GRID.replace("init a;", "init a; assert a: x < 170 or y < 120;");
    let alone = Bench::new();
    // Tasks do not hunt.
    let found = alone.check(&text, &[&UNREDUCED[..], &["--no-dive", "--dir", "d"]].concat());
    assert_eq!(found.code, 1);
    let bench = Bench::new();
    let flags = [&UNREDUCED[..], &["--dir", "d", "--max-states", "1000"]].concat();
    assert_eq!(bench.check(&text, &flags).code, 3);
    bench.drive("4", false);
    let (expected, result) = (alone.run(&["trace", "d"]), bench.run(&["trace", "d"]));
    assert_eq!((result.code, result.out), (1, expected.out));
}

/// Each task of a merge would open all levels.
#[test]
fn plans_leave_very_many_levels_to_one_process() {
    for (states, phase) in [("15000", "merge"), ("17000", "search")] {
        let bench = Bench::new();
        let flags = [&UNREDUCED[..], &["--dir", "d", "--max-states", states]].concat();
        assert_eq!(bench.check(super::ENDLESS, &flags).code, 3);
        let output = bench.task(&["plan", "d", "--tasks", "2", "--thin", "1"]);
        assert_eq!(output.json()["phase"], phase, "{states}: {}", output.err);
    }
}

#[test]
fn unsuitable_task_requests_are_rejected() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let plan = bench.plan_next("3");
    let (plan, tasks) = (plan["plan"].as_str().unwrap(), plan["tasks"].as_u64().unwrap());
    let run = |plan: &str, task: &str| bench.task(&["run", "d", "--plan", plan, "--task", task]);
    let missing = format!(
        "error: there is no task 9 in {plan}\n  help: `spillway task plan` prints the number of tasks"
    );
    run(plan, "9").assert_rejected(2, &[&missing]);
    let undone = format!(
        "error: task 0 of {plan} is not done\n  help: run it with `spillway task run`, then commit"
    );
    bench.task(&["commit", "d", "--plan", plan]).assert_rejected(3, &[&undone]);
    let stale = "note: 00000001-expand-aaaaaaaaaaaa is no longer the current plan: plan again";
    let output = run("00000001-expand-aaaaaaaaaaaa", "0");
    assert_eq!((output.code, output.err.trim_end()), (5, stale));
    assert_eq!(bench.task(&["commit", "d", "--plan", "../manifest"]).code, 5);
    // A finished task is not run again. A damaged receipt counts as missing.
    let done = |code: i32| {
        let output = run(plan, "0");
        assert_eq!(output.code, code, "{}", output.err);
        serde_json::from_str::<Value>(&output.out).unwrap()["again"].clone()
    };
    assert_eq!((done(0), done(0)), (false.into(), true.into()));
    let receipt = bench.path(&format!("d/receipt-{plan}-00000"));
    let mut bytes = std::fs::read(&receipt).unwrap();
    bytes[50] ^= 1;
    std::fs::write(&receipt, bytes).unwrap();
    assert_eq!((done(0), done(0)), (false.into(), true.into()));
    assert!(tasks <= 3);
    bench
        .task(&["plan", "nowhere", "--tasks", "3"])
        .assert_rejected(2, &["there is no search directory"]);

    let shared = "this search cannot be divided into tasks: ";
    for (flags, why) in [
        (
            &["--store", "comback"][..],
            "states are stored as hashes and back-edges (--store comback)",
        ),
        (
            &["--reduce", "por", "-X", "por-proviso=levels"],
            "transitions are postponed (-X por-proviso=levels)",
        ),
        (&["--reduce", "por", "--por", "sleep"], "transitions are in sleep sets (--por sleep)"),
        (&["--ltl", "[] x < 400"], "it checks infinite runs"),
    ] {
        let bench = Bench::new();
        let started = bench.check(
            crate::observed_grid(),
            &[flags, &["--dir", "d", "--max-states", "900"]].concat(),
        );
        assert!([0, 3].contains(&started.code), "{}", started.err);
        bench
            .task(&["plan", "d", "--tasks", "3"])
            .assert_rejected(2, &[&format!("d: {shared}{why}")]);
    }
}

impl Bench {
    /// Runs all tasks of a plan with several tasks. Returns the plan.
    fn finish_tasks(&self) -> String {
        self.stop_grid_search();
        loop {
            let next = self.plan_next("3");
            let tasks = next["tasks"].as_u64().unwrap_or(0);
            match next["plan"].as_str() {
                Some(plan) if tasks > 1 => {
                    for task in 0..tasks {
                        let task = task.to_string();
                        let output = self.task(&["run", "d", "--plan", plan, "--task", &task]);
                        assert_eq!(output.code, 0, "{}", output.err);
                    }
                    return plan.to_owned();
                }
                Some(plan) => self.run_plan(plan, tasks, false),
                None => {
                    let most = next["max_states"].to_string();
                    assert_eq!(self.run(&["resume", "d", "--max-states", &most]).code, 3);
                }
            }
        }
    }
}

/// A receipt belongs to one task of one plan, whatever its name.
#[test]
fn a_copied_receipt_is_rejected() {
    let bench = Bench::new();
    let plan = bench.finish_tasks();
    let receipt = |task: u32| bench.path(&format!("d/receipt-{plan}-{task:05}"));
    std::fs::copy(receipt(0), receipt(1)).unwrap();
    let message = format!(
        "error: the result of task 1 of {plan} is invalid: its receipt is that of task 0\n  help: run it again with `spillway task run`, then commit"
    );
    bench.task(&["commit", "d", "--plan", &plan]).assert_rejected(3, &[&message]);
    let repeated = bench.task(&["run", "d", "--plan", &plan, "--task", "1"]);
    assert_eq!((repeated.code, &repeated.json()["again"]), (0, &json!(false)));
    let output = bench.task(&["commit", "d", "--plan", &plan]);
    assert_eq!(output.code, 0, "{}", output.err);
    bench.task(&["commit", "d", "--plan", &plan]);
    // One process that resumes has the result of a search by one process.
    let alone = Bench::new();
    let expected = alone.check(GRID, &[&UNREDUCED[..], &["--dir", "d", "--json"]].concat()).json();
    let result = bench.run(&["resume", "d", "--json"]).json();
    for member in ["verdict", "states", "transitions", "levels"] {
        assert_eq!(result[member], expected[member], "{member}");
    }
}

#[test]
fn a_plan_of_another_version_is_rejected() {
    let bench = Bench::new();
    let plan = bench.finish_tasks();
    let file = format!("plan-{plan}");
    let original = std::fs::read(bench.path(&format!("d/{file}"))).unwrap();
    let format = spillway::search::checkpoint::FORMAT;
    let disk = spill::RealDisk::open(bench.path("d")).unwrap();
    let newer = spill::PayloadFormat { version: format.version + 1, ..format };
    spill::commit(&disk, &file, newer, &original[28..]).unwrap();
    let (version, current) = (newer.version, format.version);
    let message =
        format!("d: {file} has format version {version}, but this build reads version {current}");
    let plan_next = || bench.task(&["plan", "d", "--tasks", "3", "--thin", THIN]);
    let run = || bench.task(&["run", "d", "--plan", &plan, "--task", "0"]);
    let commit = || bench.task(&["commit", "d", "--plan", &plan]);
    for output in [plan_next(), run(), commit()] {
        output.assert_rejected(2, &[&message]);
        assert!(!output.err.contains("once the disk works"), "{}", output.err);
    }
    std::fs::write(bench.path(&format!("d/{file}")), &original[..40]).unwrap();
    let help = format!(
        "help: remove {file}: a missing plan is written again, and the search itself is undamaged"
    );
    for output in [plan_next(), run(), commit()] {
        output.assert_rejected(4, &[&format!("{file} is damaged at byte 12: "), &help]);
    }
    std::fs::remove_file(bench.path(&format!("d/{file}"))).unwrap();
    assert_eq!(plan_next().json()["plan"], json!(plan));
}

/// New values of a specification get their numbers between tasks.
#[test]
fn a_specification_has_the_same_dictionaries_in_tasks() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/models/tla");
    let benches = [Bench::new(), Bench::new()];
    for bench in &benches {
        for file in ["mailboxes.tla", "mailboxes.cfg"] {
            bench.write(file, std::fs::read_to_string(format!("{models}/{file}")).unwrap());
        }
    }
    let [alone, bench] = &benches;
    let check = |bench: &Bench, more: &[&str]| {
        bench.run(&[&["check", "mailboxes.tla", "--dir", "d", "--memory", "256MiB"], more].concat())
    };
    assert_eq!(check(alone, &["--json"]).code, 0);
    assert_eq!(check(bench, &["--max-states", "300"]).code, 3);
    assert!(bench.drive("3", true) > 20);
    let status = |bench: &Bench| -> Value {
        serde_json::from_str(&bench.run(&["status", "d", "--json"]).out).unwrap()
    };
    let [expected, found] = [status(alone), status(bench)];
    for member in ["verdict", "states", "states_generated", "transitions", "levels", "coverage"] {
        assert_eq!(found[member], expected[member], "{member}");
    }
    assert_eq!((&found["verdict"], &found["states"]), (&json!("verified"), &json!(8312)));
    let journal = |bench: &Bench| {
        let files = bench.files("d").into_iter().filter(|it| it.starts_with("encoding-"));
        let [file] = &files.collect::<Vec<_>>()[..] else { panic!("there is one journal") };
        std::fs::read(bench.path("d").join(file)).unwrap()
    };
    assert!(journal(alone) == journal(bench));
}
