//! `task`: a search that several processes do in parts, some of which are killed, and what is said of it.

use crate::{Bench, GRID, Ran, WHOLE};
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;

/// Levels of fewer states are left to one process.
const THIN: &str = "50";

impl Bench {
    fn task(&self, args: &[&str]) -> Ran {
        self.run(&[&["task"], args].concat())
    }

    /// What is to be done next.
    fn planned(&self, tasks: &str) -> Value {
        let ran = self.task(&["plan", "d", "--tasks", tasks, "--thin", THIN]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Follows what is planned until there is a verdict; kills some of those who do tasks. Gives how many phases were.
    fn driven(&self, tasks: &str, is_killing: bool) -> u32 {
        for phases in 0.. {
            let next = self.planned(tasks);
            let of = |name: &str| next[name].as_str().unwrap_or_default().to_owned();
            match of("phase").as_str() {
                "done" => return phases,
                "search" => {
                    let most = next["max_states"].to_string();
                    let limit = ["--max-states", &most];
                    let limit = if most == "null" { &[][..] } else { &limit };
                    // Another driver may be at it.
                    let ran = self.run(&[&["resume", "d"], limit].concat());
                    assert!([0, 1, 2, 3].contains(&ran.code), "{}", ran.err);
                }
                _ => self.follow(&of("plan"), next["tasks"].as_u64().unwrap(), is_killing),
            }
        }
        unreachable!()
    }

    fn follow(&self, plan: &str, tasks: u64, is_killing: bool) {
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
                Ran { code: 0, .. } => {}
                Ran { code: 5, .. } => return,
                other => panic!("{}", other.err),
            }
        }
        let ran = self.task(&["commit", "d", "--plan", plan]);
        assert!([0, 5].contains(&ran.code), "{}", ran.err);
    }
}

/// Two drivers at one search, with other wishes, and a third process that goes on with it meanwhile, as one may.
#[test]
fn two_follow_one_plan_and_find_what_one_finds() {
    let (alone, text) = (Bench::new(), GRID.replace("300", "80"));
    let found = alone.check(&text, &[&WHOLE[..], &["--dir", "d", "--json"]].concat());
    let bench = Bench::new();
    let begun = [&WHOLE[..], &["--dir", "d", "--max-states", "1000"]].concat();
    assert_eq!(bench.check(&text, &begun).code, 3);
    let phases = std::thread::scope(|scope| {
        let first = scope.spawn(|| bench.driven("3", true));
        let second = scope.spawn(|| bench.driven("5", false));
        first.join().unwrap() + second.join().unwrap()
    });
    assert!(phases > 50, "{phases}");
    let told = bench.run(&["status", "d", "--json"]);
    let [expected, told]: [Value; 2] =
        [&found.out, &told.out].map(|it| serde_json::from_str(it).unwrap());
    for member in ["verdict", "states", "transitions", "levels", "coverage"] {
        assert_eq!(told[member], expected[member], "{member}");
    }
    assert_eq!(expected["verdict"], "verified");
    let files = bench.files("d");
    let is_left = |it: &&String| it.starts_with("plan-") || it.starts_with("receipt-");
    assert!(!files.iter().any(|it| is_left(&it)), "{files:?}");
}

/// A counterexample is told as that of a search of one process.
#[test]
fn what_is_found_in_tasks_is_told() {
    let text = GRID.replace("init a;", "init a; assert a: x < 170 or y < 120;");
    let alone = Bench::new();
    let found = alone.check(&text, &[&WHOLE[..], &["--dir", "d"]].concat());
    assert_eq!(found.code, 1);
    let bench = Bench::new();
    let begun = [&WHOLE[..], &["--dir", "d", "--max-states", "1000"]].concat();
    assert_eq!(bench.check(&text, &begun).code, 3);
    bench.driven("4", false);
    let (expected, told) = (alone.run(&["trace", "d"]), bench.run(&["trace", "d"]));
    assert_eq!((told.code, told.out), (1, expected.out));
}

#[test]
fn what_cannot_be_done_in_tasks_is_refused() {
    let bench = Bench::new();
    bench.stopped();
    let plan = bench.planned("3");
    let (plan, tasks) = (plan["plan"].as_str().unwrap(), plan["tasks"].as_u64().unwrap());
    let run = |plan: &str, task: &str| bench.task(&["run", "d", "--plan", plan, "--task", task]);
    let missing = format!(
        "error: there is no task 9 in {plan}\n  help: `spillway task plan` says how many there are"
    );
    run(plan, "9").refused(2, &[&missing]);
    let undone = format!(
        "error: task 0 of {plan} is not done\n  help: do it by `spillway task run`, then commit"
    );
    bench.task(&["commit", "d", "--plan", plan]).refused(3, &[&undone]);
    let stale = "note: 00000001-expand-aaaaaaaaaaaa is not the current plan any more: plan again";
    let ran = run("00000001-expand-aaaaaaaaaaaa", "0");
    assert_eq!((ran.code, ran.err.trim_end()), (5, stale));
    assert_eq!(bench.task(&["commit", "d", "--plan", "../manifest"]).code, 5);
    // One that has been done is not done again; a receipt that is damaged is no receipt.
    let done = |code: i32| {
        let ran = run(plan, "0");
        assert_eq!(ran.code, code, "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap()["again"].clone()
    };
    assert_eq!((done(0), done(0)), (false.into(), true.into()));
    let receipt = bench.path(&format!("d/receipt-{plan}-00000"));
    let mut bytes = std::fs::read(&receipt).unwrap();
    bytes[50] ^= 1;
    std::fs::write(&receipt, bytes).unwrap();
    assert_eq!((done(0), done(0)), (false.into(), true.into()));
    assert!(tasks <= 3);
    bench.task(&["plan", "nowhere", "--tasks", "3"]).refused(2, &["there is no search directory"]);

    let shared = "this search cannot be shared out in tasks: ";
    for (flags, why) in [
        (
            &["--store", "comback"][..],
            "states are stored as hashes and steps back (--store comback)",
        ),
        (
            &["--reduce", "por", "--por-proviso", "levels"],
            "steps are put off (--por-proviso levels)",
        ),
        (&["--reduce", "por", "--por", "sleep"], "steps are asleep (--por sleep)"),
        (&["--ltl", "[] x < 400"], "it asks about whole runs"),
    ] {
        let bench = Bench::new();
        let begun = bench
            .check(crate::watched(), &[flags, &["--dir", "d", "--max-states", "900"]].concat());
        assert!([0, 3].contains(&begun.code), "{}", begun.err);
        bench.task(&["plan", "d", "--tasks", "3"]).refused(2, &[&format!("d: {shared}{why}")]);
    }
}
