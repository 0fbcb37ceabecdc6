//! Search directories with foreign files. The command does not read, change or wait for files outside. It removes no
//! foreign file, and does not trust displayed contents.

use super::{Bench, COUNTER, CommandOutput, GRID};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Puts something in the place of a model.
type PlantFile<'p> = &'p dyn Fn(&Path);

const LETTER: &str = "dear reader, this is more than a few bytes";

/// Each command ends within this time.
const PATIENCE: Duration = Duration::from_secs(60);

impl Bench {
    /// Runs a command that must not wait.
    #[track_caller]
    fn run_promptly(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.command(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("{args:?} waits");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        CommandOutput::from(child.wait_with_output().unwrap())
    }

    fn write_letter(&self) -> PathBuf {
        let write_letter = self.path("letter");
        fs::write(&write_letter, LETTER).unwrap();
        write_letter
    }
}

/// Replaces a file by something else.
fn replace_file(place: &Path, plant: impl FnOnce(&Path)) {
    let _ = fs::remove_file(place);
    plant(place);
}

fn pipe(place: &Path) {
    let made = std::process::Command::new("mkfifo").arg(place).status().unwrap();
    assert!(made.success());
}

/// All names of a search directory, with those of temporary files.
const NAMES: [&str; 16] = [
    "answer",
    "answer.new",
    "cycles",
    "events.jsonl",
    "events.jsonl.new",
    "job.new",
    "levels-000",
    "lock",
    "manifest",
    "manifest.new",
    "means",
    "means.new",
    "sitting",
    "sitting.new",
    "status.json",
    "status.json.new",
];

#[test]
fn links_in_a_directory_are_not_followed() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let write_letter = bench.write_letter();
    let commands: [&[&str]; 7] = [
        &["status", "d", "--json"],
        &["watch", "d"],
        &["report", "d", "--out", "r.html"],
        &["trace", "d"],
        &["values", "d"],
        &["task", "plan", "d", "--tasks", "2", "--thin", "5"],
        &["resume", "d", "--max-states", "20000"],
    ];
    for name in NAMES {
        for target in [write_letter.as_path(), Path::new("nowhere"), Path::new("/dev/zero")] {
            let kept = bench.path("kept");
            let _ = fs::remove_dir_all(&kept);
            copy_directory(&bench.path("d"), &kept);
            replace_file(&bench.path("d").join(name), |place| symlink(target, place).unwrap());
            for command in commands {
                let output = bench.run_promptly(command);
                assert!([0, 1, 2, 3, 4].contains(&output.code), "{name}: {}", output.err);
                assert_eq!(
                    fs::read_to_string(&write_letter).unwrap(),
                    LETTER,
                    "{name}: {command:?}"
                );
                assert!(!bench.path("d/nowhere").exists(), "{name}: {command:?}");
            }
            fs::remove_dir_all(bench.path("d")).unwrap();
            fs::rename(&kept, bench.path("d")).unwrap();
        }
    }
    assert_eq!(bench.run(&["resume", "d"]).code, 0);
}

fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn pipes_in_a_directory_are_not_waited_for() {
    for name in ["events.jsonl", "status.json", "status.json.new", "sitting.new", "manifest.new"] {
        let bench = Bench::new();
        bench.stop_grid_search();
        replace_file(&bench.path("d").join(name), pipe);
        let output = bench.run_promptly(&["resume", "d"]);
        assert_eq!(output.code, 0, "{name}: {}", output.err);
    }
    let bench = Bench::new();
    replace_file(&bench.path("pipe"), pipe);
    for command in [&["status", "pipe"][..], &["resume", "pipe"], &["trace", "pipe"]] {
        bench.run_promptly(command).assert_rejected(2, &["pipe is a file, not a search directory"]);
    }
}

#[test]
fn files_with_hard_links_are_not_written_to() {
    let bench = Bench::new();
    bench.stop_grid_search();
    for name in ["levels-000", "events.jsonl"] {
        fs::hard_link(bench.path("d").join(name), bench.path(name)).unwrap();
    }
    let before = ["levels-000", "events.jsonl"].map(|it| fs::read(bench.path(it)).unwrap());
    let message = "levels-000: it has another name (a hard link): replace it by a copy";
    bench.run(&["resume", "d"]).assert_rejected(4, &[message]);
    let after = ["levels-000", "events.jsonl"].map(|it| fs::read(bench.path(it)).unwrap());
    assert!(before == after);
    fs::remove_file(bench.path("levels-000")).unwrap();
    assert_eq!(bench.run(&["resume", "d"]).code, 0);
    assert!(before[1] == fs::read(bench.path("events.jsonl")).unwrap());
}

/// The name of the model in a job comes from the creator of the directory.
#[test]
fn only_regular_files_count_as_a_changed_model() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let model = bench.path("model.dve");
    let changed = "note: model.dve has changed;";
    let huge = |place: &Path| {
        let file = fs::File::create(place).unwrap();
        file.set_len(3 << 30).unwrap();
    };
    let write_equal_length = |place: &Path| fs::write(place, " ".repeat(GRID.len())).unwrap();
    let plants: [(PlantFile<'_>, bool); 6] = [
        (&pipe, false),
        (&|place| symlink("/dev/zero", place).unwrap(), false),
        (&|place| fs::create_dir(place).unwrap(), false),
        (&|place| symlink("nowhere", place).unwrap(), false),
        (&huge, true),
        (&write_equal_length, true),
    ];
    for (number, (what, is_changed)) in plants.into_iter().enumerate() {
        let _ = fs::remove_dir(&model);
        replace_file(&model, what);
        let output = bench.run_promptly(&["resume", "d", "--max-states", "20000"]);
        assert_eq!(output.code, 3, "{number}: {}", output.err);
        assert_eq!(output.err.contains(changed), is_changed, "{number}: {}", output.err);
    }
    replace_file(&model, huge);
    #[cfg(target_os = "linux")]
    {
        let (output, resident) = bench.run_with_peak_memory(&[
            "resume",
            "d",
            "--max-states",
            "20000",
            "--memory",
            "64MiB",
        ]);
        assert!(output.code == 3 && resident < 200 << 20, "{resident}: {}", output.err);
    }
    // A link to the text is accepted.
    fs::write(bench.path("text"), GRID).unwrap();
    replace_file(&model, |place| symlink("text", place).unwrap());
    assert!(!bench.run_promptly(&["resume", "d"]).err.contains(changed));
}

const FOREIGN_FILES: [&str; 7] = [
    "notes.new",
    "plan-b.md",
    "receipt-2024.pdf",
    "levels-of-detail.txt",
    "merged-cells.csv",
    "manifest.old",
    "job.bak",
];

fn write_foreign_files(dir: &Path) {
    FOREIGN_FILES.iter().for_each(|name| fs::write(dir.join(name), LETTER).unwrap());
}

#[track_caller]
fn assert_foreign_files(dir: &Path) {
    for name in FOREIGN_FILES {
        assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), LETTER, "{name}");
    }
}

#[test]
fn foreign_files_are_kept_by_a_search() {
    let bench = Bench::new();
    bench.stop_grid_search();
    write_foreign_files(&bench.path("d"));
    assert_eq!(bench.run(&["resume", "d", "--max-states", "30000"]).code, 3);
    assert_foreign_files(&bench.path("d"));
    assert_eq!(bench.run(&["resume", "d"]).code, 0);
    assert_foreign_files(&bench.path("d"));
    // Orphan files of the search are removed.
    let bench = Bench::new();
    bench.stop_grid_search();
    let orphans = ["manifest.new", "levels-009", "candidates-00000003-000", "means.new"];
    orphans.iter().for_each(|name| fs::write(bench.path("d").join(name), LETTER).unwrap());
    assert_eq!(bench.run(&["resume", "d"]).code, 0);
    orphans.iter().for_each(|name| assert!(!bench.path("d").join(name).exists(), "{name}"));
}

#[test]
fn foreign_files_keep_a_temporary_directory() {
    let bench = Bench::new();
    let limit_flags = ["--reduce", "none", "--max-states", "1000"];
    assert_eq!(bench.check(GRID, &limit_flags).code, 3);
    let dir = bench.path("tmp").join(&bench.files("tmp")[0]);
    write_foreign_files(&dir);
    fs::create_dir(dir.join("mine")).unwrap();
    fs::write(dir.join("mine/job"), LETTER).unwrap();
    assert_eq!(bench.run(&["resume", dir.to_str().unwrap()]).code, 0);
    assert_foreign_files(&dir);
    assert_eq!(fs::read_to_string(dir.join("mine/job")).unwrap(), LETTER);
    let mut remaining = bench.files(dir.to_str().unwrap());
    remaining.sort();
    let mut expected = FOREIGN_FILES.map(str::to_owned).to_vec();
    expected.push("mine".to_owned());
    expected.sort();
    assert_eq!(remaining, expected, "only what is not ours is left");
    // Without foreign files the directory is deleted.
    assert_eq!(bench.check(GRID, &limit_flags).code, 3);
    let made = bench.files("tmp").into_iter().map(|it| bench.path("tmp").join(it));
    let other = made.into_iter().find(|it| *it != dir).unwrap();
    assert_eq!(bench.run(&["resume", other.to_str().unwrap()]).code, 0);
    assert!(!other.exists());
}

/// The pilot search finds too few instances, so the search restarts with more slots.
const GROWING_MODEL: &str = "int n; byte w;
active proctype Counter() { do :: n < 4000 -> n++ :: else -> break od;
  byte i; do :: i < 3 -> run Late(); i++ :: else -> break od }
proctype Late() { w++; end: false }
";

/// A search is killed while it deletes its directory before a restart. Whatever was deleted, the directory is accepted.
#[test]
fn a_half_deleted_directory_is_accepted_as_new() {
    let bench = Bench::new();
    let (flags, text) = (["--dir", "d", "--reduce", "none"], GRID.replace("300", "40"));
    let uninterrupted = bench.check(&text, &flags);
    assert_eq!(uninterrupted.code, 0);
    fs::remove_dir_all(bench.path("d")).unwrap();
    let stopped = bench.check(&text, &[&flags[..], &["--max-states", "500"]].concat());
    assert_eq!(stopped.code, 3);
    fs::rename(bench.path("d"), bench.path("stopped")).unwrap();
    fs::rename(bench.path("stopped/job"), bench.path("stopped/job.new")).unwrap();
    let mut files = bench.files("stopped");
    files.sort_by_key(|it| (it != "manifest", it.clone()));
    for gone in 0..=files.len() {
        copy_directory(&bench.path("stopped"), &bench.path("d"));
        for name in files.iter().take(gone).filter(|it| !["job.new", "lock"].contains(&&***it)) {
            fs::remove_file(bench.path("d").join(name)).unwrap();
        }
        bench.run(&["resume", "d"]).assert_rejected(2, &["has no search yet"]);
        let output = bench.check(&text, &flags);
        assert_eq!(
            (output.code, printed_counts(&output)),
            (0, printed_counts(&uninterrupted)),
            "{gone}: {}",
            output.err
        );
        fs::remove_dir_all(bench.path("d")).unwrap();
    }
    // A directory with a foreign file is rejected.
    copy_directory(&bench.path("stopped"), &bench.path("d"));
    fs::write(bench.path("d/notes.txt"), LETTER).unwrap();
    bench.check(&text, &flags).assert_rejected(2, &["not empty"]);
    assert!(bench.path("d/manifest").exists());
}

/// The printed states, transitions and levels.
fn printed_counts(output: &CommandOutput) -> &str {
    let line = output.out.lines().find(|it| it.trim_start().starts_with("found")).unwrap();
    line.split(';').next().unwrap()
}

#[test]
fn a_restarted_search_keeps_foreign_files() {
    let bench = Bench::new();
    fs::create_dir(bench.path("d")).unwrap();
    let file = bench.write("more.pml", GROWING_MODEL);
    let mut command = bench.command(&["check", &file, "--dir", "d"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !bench.path("d/job").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    write_foreign_files(&bench.path("d"));
    assert!(child.wait().unwrap().code().is_some());
    assert_foreign_files(&bench.path("d"));
}

/// Well-formed events with impossible numbers.
fn hostile_events() -> Vec<String> {
    let max = u64::MAX;
    let levels = |first: u64, last: u64, states: u64| json!({ "event": "levels", "first": first, "last": last, "states": states, "transitions": max });
    let mut all = vec![
        levels(0, 1 << 60, max),
        levels(1 << 60, max, max),
        levels(max, max, max),
        levels(9, 3, max),
        levels(0, u64::from(u32::MAX), max),
        levels(5, u64::from(u32::MAX), 1),
        json!({ "event": "ended", "seconds": 1e300, "verdict": "verified\u{1b}]0;x\u{7}", "error": null }),
        json!({ "event": "sitting", "version": 1, "at": max, "command": "x", "expanded": max, "before": 1e308,
            "budget": max, "threads": u32::MAX }),
        json!({ "event": "sitting", "version": 1, "at": max, "command": null, "expanded": max, "before": 1e11,
            "budget": max, "threads": 0 }),
    ];
    for (seconds, level) in [(1e308, 0), (-5.0, 0), (1e11, u64::from(u32::MAX)), (0.0, 1 << 60)] {
        all.push(json!({ "event": "progress", "seconds": seconds, "phase": "x", "level": level, "states": max,
            "transitions": max, "frontier": max, "expanded": max, "memory": max, "disk": max, "checkpoints": max }));
    }
    all.iter().map(Value::to_string).collect()
}

#[test]
fn displayed_files_are_not_trusted() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let shown: [&[&str]; 5] = [
        &["watch", "d"],
        &["status", "d"],
        &["status", "d", "--json"],
        &["report", "d", "--out", "r.html"],
        &["resume", "d", "--max-states", "20000"],
    ];
    let good = fs::read_to_string(bench.path("d/events.jsonl")).unwrap();
    let status: Value =
        serde_json::from_slice(&fs::read(bench.path("d/status.json")).unwrap()).unwrap();
    let lines = hostile_events();
    let mut files: Vec<String> = lines.iter().map(|it| format!("{good}{it}\n")).collect();
    files.push(format!("{good}{}\n", lines.join("\n")));
    files.push(format!("{}\n{good}", lines.join("\n")));
    // Many overlapping levels.
    let over = (0..3_000_u64).map(|at| {
        json!({ "event": "levels", "first": at, "last": u32::MAX, "states": u64::MAX, "transitions": 1 })
            .to_string()
            + "\n"
    });
    files.push(over.collect());
    files.push("\n".repeat(1 << 16) + &"{".repeat(1 << 20));
    for (number, file) in files.iter().enumerate() {
        fs::write(bench.path("d/events.jsonl"), file).unwrap();
        let mut hostile = status.clone();
        for member in ["states", "frontier", "expanded", "memory", "disk"] {
            hostile["now"][member] = json!(u64::MAX);
        }
        hostile["now"]["level"] = json!([0, u64::from(u32::MAX), 1 << 60][number % 3]);
        (hostile["at"], hostile["rate"]) = (json!(u64::MAX), json!(1e308));
        fs::write(bench.path("d/status.json"), hostile.to_string()).unwrap();
        for command in shown {
            let output = bench.run_promptly(command);
            assert!([0, 3].contains(&output.code), "{number} {command:?}: {}", output.err);
            assert!(output.out.len() < 100_000, "{number} {command:?}: {} bytes", output.out.len());
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn long_displayed_files_take_little_memory() {
    let bench = Bench::new();
    bench.stop_grid_search();
    let mut line = hostile_events().swap_remove(4);
    line.push('\n');
    fs::write(bench.path("d/events.jsonl"), line.repeat(400_000)).unwrap();
    fs::OpenOptions::new()
        .write(true)
        .open(bench.path("d/events.jsonl"))
        .unwrap()
        .set_len(3 << 30)
        .unwrap();
    fs::File::create(bench.path("d/status.json")).unwrap().set_len(3 << 30).unwrap();
    fs::File::create(bench.path("d/sitting")).unwrap().set_len(3 << 30).unwrap();
    for command in
        [&["watch", "d"][..], &["status", "d", "--json"], &["report", "d", "--out", "r.html"]]
    {
        let (output, resident) = bench.run_with_peak_memory(command);
        assert!(
            output.code == 0 && resident < 250 << 20,
            "{command:?}: {resident}: {}",
            output.err
        );
    }
    // The next session shortens the file.
    assert_eq!(bench.run(&["resume", "d"]).code, 0);
    assert!(fs::metadata(bench.path("d/events.jsonl")).unwrap().len() < 2 << 20);
}

#[test]
fn a_link_in_place_of_a_subfolder_is_rejected() {
    let bench = Bench::new();
    let text = COUNTER.replace("init a;", "init a; assert a: x < 50;");
    assert_eq!(bench.check(&text, &["--dir", "d", "--reduce", "none"]).code, 1);
    fs::create_dir(bench.path("elsewhere")).unwrap();
    symlink("../elsewhere", bench.path("d/shorter")).unwrap();
    let output = bench.run_promptly(&["trace", "d"]);
    output.assert_rejected(4, &["cannot search in shorter: it is a link or a file, not a folder"]);
    assert!(bench.files("elsewhere").is_empty());
}
