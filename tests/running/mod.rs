//! Searches observed while they run, on a terminal, in a log and by `status`; files left by killed searches.

mod sweeps;
mod tasks;
mod walks;
mod watching;

use super::{Bench, COUNTER, CommandOutput, GRID};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// More levels than a day of searching visits, of one state each.
const ENDLESS: &str = "int x; int y;
process P { state a; init a; trans a -> a { guard x < 30000; effect x = x + 1; },
  a -> a { guard x == 30000 and y < 30000; effect x = 0, y = y + 1; }; }
system async;
";

/// No wait takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A pseudoterminal: the side of the observer, and the side of a command.
fn terminal() -> (File, File) {
    let (mut controller, mut device) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: `openpty` writes the two numbers, and gets null pointers otherwise.
    let made =
        unsafe { libc::openpty(&mut controller, &mut device, null, null.cast(), null.cast()) };
    assert_eq!(made, 0);
    // SAFETY: `openpty` has just opened both, and nothing else owns them.
    unsafe { (File::from_raw_fd(controller), File::from_raw_fd(device)) }
}

fn resize(terminal: &File, columns: u16) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request reads a `winsize`, and `size` is one.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    assert_eq!(result, 0);
}

/// The output of a command on a terminal.
struct TerminalOutput {
    terminal: File,
    text: String,
}

impl TerminalOutput {
    /// Waits for a new line with a property.
    fn wait_for(&mut self, is_one: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        let from = self.text.len();
        loop {
            let mut lines: Vec<&str> = self.text[from..].split("\r").collect();
            // The last line may be incomplete.
            lines.pop();
            let lines = lines.into_iter().map(|line| line.trim_start_matches("\x1b[J").trim());
            if let Some(line) = lines.into_iter().find(|line| is_one(line)) {
                return line.to_owned();
            }
            assert!(begun.elapsed() < PATIENCE, "{}", self.text);
            let mut piece = [0; 512];
            let count = self.terminal.read(&mut piece).unwrap();
            self.text += std::str::from_utf8(&piece[..count]).unwrap();
        }
    }
}

#[test]
fn the_progress_line_fits_a_resized_terminal() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    let (controller, device) = terminal();
    resize(&controller, 120);
    let mut command = bench.command(&["check", &model, "--memory", "64MiB", "--threads", "1"]);
    command.env("TERM", "xterm").stdout(Stdio::null()).stderr(Stdio::from(device));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut screen = TerminalOutput { terminal: controller, text: String::new() };
    let is_complete = |line: &str| line.starts_with("0:0") && line.contains("/64 MiB");
    let wide = screen.wait_for(|line| is_complete(line) && line.contains("frontier 1  "));
    assert!(wide.contains(" states  ") && wide.contains("  level "), "{wide}");
    assert!(wide.contains("/s  ") && wide.contains("  disk "), "{wide}");
    let note = screen.wait_for(|line| line.starts_with("note: "));
    let dir = bench.path("tmp").join(&bench.files("tmp")[0]).display().to_string();
    assert!(note.contains(&dir), "{note}");
    // The line is wrapped at the width of the terminal, but not within the command.
    screen.wait_for(|line| line.starts_with("0:0"));
    assert!(screen.text.contains(&format!("`spillway resume {dir}`")), "{}", screen.text);
    for columns in [40, 20, 100, 5] {
        resize(&screen.terminal, columns);
        // The line before may have the old width.
        screen.wait_for(|line| line.starts_with("0:0"));
        screen.wait_for(|line| line.starts_with("0:0"));
        let from = screen.text.len();
        for _ in 0..3 {
            screen.wait_for(|line| line.starts_with("0:0"));
        }
        let lines = screen.text[from..].split("\r").map(|it| it.trim_start_matches("\x1b[J"));
        for line in lines {
            assert!(line.len() <= usize::from(columns), "{columns}: {line:?}");
        }
    }
    signal(&child, "-TERM");
    screen.wait_for(|line| line.contains("stopped at a checkpoint"));
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // The progress line is erased before other output.
    let (_, end) = screen.text.rsplit_once("0:0").unwrap();
    let (_, end) = end.split_once('\r').unwrap();
    // The progress line may be drawn and erased once more before the end.
    let message = end.replace("\x1b[J", "").replace('\r', "");
    let message = message.trim_start_matches("stopping at a checkpoint\n");
    assert!(message.starts_with("stopped at a checkpoint"), "{end:?}");
}

#[test]
fn a_log_has_plain_lines_and_the_temporary_directory() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    for json in [false, true] {
        let flags = ["--memory", "64MiB", "--threads", "1"];
        let json_flag = if json { &["--json"][..] } else { &[] };
        let mut command = bench.command(&[&["check", &model], &flags[..], json_flag].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        let note = next();
        assert!(note.starts_with("note: the search is kept in "), "{note}");
        if !json {
            let line = next();
            assert!(line.starts_with("0:") && line.contains("/64 MiB"), "{line}");
            assert!(line.len() <= 80 && line.is_ascii(), "{line}");
        }
        signal(&child, "-TERM");
        let end = next();
        assert!(end.starts_with("stopped at a checkpoint"), "{end}");
        let kept = next();
        assert!(kept.contains("`spillway status --all --clean` removes"), "{kept}");
        assert!(lines.next().is_none());
        let output = CommandOutput::from(child.wait_with_output().unwrap());
        assert_eq!(output.code, 3);
    }
}

/// Waits until a condition holds.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Bench {
    /// Starts a search that does not end.
    fn start_endless_search(&self, flags: &[&str]) -> Child {
        let model = self.write("m.dve", ENDLESS);
        let means = ["--memory", "64MiB", "--threads", "1"];
        let mut command = self.command(&[&["check", &model], &means[..], flags].concat());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn status(&self, dir: &str) -> Value {
        let output = self.run(&["status", dir, "--json"]);
        assert_eq!(output.code, 0, "{}", output.err);
        output.json()
    }
}

fn kill_search(mut child: Child) {
    signal(&child, "-KILL");
    assert_eq!(child.wait().unwrap().code(), None);
}

/// The message of a command that is stopped before its search begins.
const NOTHING_CHANGED: &str = "no search directory was changed; raise --max-time";

/// The members of `status --json` other than the result.
pub const STATUS_MEMBERS: [&str; 11] = [
    "running",
    "state",
    "running_seconds",
    "checkpoint_seconds_ago",
    "level",
    "frontier",
    "frontier_expanded",
    "sitting_states_per_second",
    "now",
    "estimate",
    "config",
];

#[test]
fn status_reports_time_level_and_rate_of_a_running_search() {
    let bench = Bench::new();
    let child = bench.start_endless_search(&["--dir", "d", "--reduce", "none"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    let mut json = Value::Null;
    wait_until("a rate", || {
        json = bench.status("d");
        json["sitting_states_per_second"].is_f64()
    });
    assert_eq!(json["running"], true);
    assert_eq!(json["now"]["verdict"], Value::Null);
    assert!(json["now"]["now"]["states"].as_u64() >= json["states"].as_u64(), "{json}");
    for key in
        STATUS_MEMBERS.into_iter().skip(2).filter(|it| !["now", "estimate", "config"].contains(it))
    {
        assert!(json[key].as_f64().is_some_and(|it| it >= 0.0), "{key}: {json}");
    }
    // Each level has one state.
    assert_eq!(json["level"].as_u64().unwrap() + 1, json["states"].as_u64().unwrap());
    assert_eq!(json["frontier"], 1);
    let text = bench.run(&["status", "d"]).out;
    let mut lines = text.lines();
    let (first, second) = (lines.next().unwrap(), lines.next().unwrap());
    assert!(first.starts_with("running for 0:0"), "{text}");
    assert!(lines.next().unwrap().starts_with("  in all   no estimate yet: "), "{text}");
    let checkpoint = lines.next().unwrap();
    assert!(checkpoint.starts_with("last checkpoint ") && checkpoint.ends_with(" ago:"), "{text}");
    for words in ["  level ", " states, ", "/s, ", "frontier 1, "] {
        assert!(second.contains(words), "{text}");
    }
    kill_search(child);
    let json = bench.status("d");
    assert_eq!((&json["running"], &json["running_seconds"]), (&false.into(), &Value::Null));
    assert!(json["sitting_states_per_second"].is_f64() && json["level"].is_u64());
    assert!(bench.run(&["status", "d"]).out.starts_with("killed; last checkpoint "));
    assert_eq!(bench.status("d")["state"], "killed");
    // A session that is stopped before it begins does not change the directory.
    let output = bench.run(&["resume", "d", "--max-time", "0s"]);
    let message = "stopped before the search began, while ";
    assert!(output.code == 3 && output.err.starts_with(message), "{}", output.err);
    assert!(output.err.contains(NOTHING_CHANGED), "{}", output.err);
    assert_eq!(bench.status("d")["state"], "killed");
    // The rate counts only the states of this session, which is one.
    let states = json["states"].to_string();
    assert_eq!(bench.run(&["resume", "d", "--max-states", &states]).code, 3);
    let after = bench.status("d");
    let rate = |json: &Value| json["sitting_states_per_second"].as_f64().unwrap();
    assert!(rate(&after) < rate(&json) / 10.0, "{after}");
    assert!(after["states"].as_u64() >= json["states"].as_u64(), "{after}");
}

#[test]
fn a_search_resumes_without_a_readable_session_log() {
    let bench = Bench::new();
    let child = bench.start_endless_search(&["--dir", "d"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    fs::write(bench.path("d/sitting"), "nonsense").unwrap();
    let json = bench.status("d");
    assert_eq!((&json["running"], &json["running_seconds"]), (&true.into(), &Value::Null));
    let text = bench.run(&["status", "d"]).out;
    assert!(text.starts_with("running\n  level ") && text.contains("\nlast checkpoint "), "{text}");
    kill_search(child);
    assert_eq!(bench.run(&["resume", "d", "--max-time", "0s"]).code, 3);
    assert_eq!(bench.status("d")["running"], false);
}

#[test]
fn status_reports_a_running_liveness_check() {
    let bench = Bench::new();
    let child =
        bench.start_endless_search(&["--dir", "d", "--ltl", "[] (x == 0 -> <> y == 30001)"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    let json = bench.status("d");
    assert_eq!((&json["running"], &json["stage"]), (&true.into(), &"reaching states".into()));
    assert!(
        STATUS_MEMBERS
            .iter()
            .all(|key| !json[key].is_null()
                || ["sitting_states_per_second", "estimate"].contains(key)),
        "{json}"
    );
    let text = bench.run(&["status", "d"]).out;
    assert!(text.starts_with("running for 0:0") && text.contains("\n  level "), "{text}");
    kill_search(child);
    assert_eq!(bench.status("d")["running"], false);
}

/// A copy of a directory without its folders.
fn copy_directory(from: &Path, to: PathBuf) -> PathBuf {
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to
}

fn directory_entry<'j>(all: &'j Value, dir: &Path) -> Option<&'j Value> {
    let searches = all["searches"].as_array().unwrap();
    searches.iter().find(|it| it["dir"] == dir.to_str().unwrap())
}

#[test]
fn status_lists_temporary_directories_and_removes_stale_ones() {
    let bench = Bench::new();
    let all = |flags: &[&str]| bench.run(&[&["status", "--all"], flags].concat());
    assert_eq!(bench.check(GRID, &["--max-states", "1000", "--reduce", "none"]).code, 3);
    let tmp = bench.path("tmp");
    let stale = tmp.join(&bench.files("tmp")[0]);
    let child = bench.start_endless_search(&[]);
    let mut running = PathBuf::new();
    wait_until("a second search", || {
        let mut made = bench.files("tmp").into_iter().map(|name| tmp.join(name));
        running = made.find(|it| *it != stale).unwrap_or_default();
        running.join("manifest").exists()
    });
    // A directory with a search for a shorter counterexample, and a file that a kill may leave.
    let deep = copy_directory(&stale, tmp.join("spillway-deep"));
    copy_directory(&stale, deep.join("shorter"));
    fs::write(deep.join("manifest.new"), "").unwrap();
    let other_version = copy_directory(&stale, tmp.join("spillway-other"));
    let format = spillway::search::checkpoint::FORMAT;
    let newer = spill::PayloadFormat { version: format.version + 1, ..format };
    let disk = spill::RealDisk::open(&other_version).unwrap();
    spill::commit(&disk, "job", newer, b"whatever").unwrap();
    let damaged = copy_directory(&stale, tmp.join("spillway-damaged"));
    fs::write(damaged.join("job"), "dear reader").unwrap();
    let foreign = copy_directory(&stale, tmp.join("spillway-foreign"));
    fs::write(foreign.join("letter.txt"), "dear reader").unwrap();
    // These are not search directories, or not in the place of temporary ones.
    let elsewhere = copy_directory(&stale, tmp.join("elsewhere"));
    let linked = tmp.join("spillway-linked");
    std::os::unix::fs::symlink(&elsewhere, &linked).unwrap();
    fs::create_dir(tmp.join("spillway-empty")).unwrap();
    fs::write(tmp.join("spillway-file"), "").unwrap();

    let listed = all(&["--json"]).json();
    assert_eq!(listed["folder"], tmp.to_str().unwrap());
    assert_eq!(listed["searches"].as_array().unwrap().len(), 6, "{listed}");
    for (dir, is_running, model) in [
        (&stale, false, Value::from("model.dve")),
        (&running, true, Value::from("m.dve")),
        (&deep, false, Value::from("model.dve")),
        (&other_version, false, Value::Null),
        (&damaged, false, Value::Null),
        (&foreign, false, Value::from("model.dve")),
    ] {
        let search = directory_entry(&listed, dir).unwrap();
        assert_eq!((&search["running"], &search["model"]), (&is_running.into(), &model));
        assert_eq!(search["problem"].is_string(), model.is_null(), "{search}");
        assert!(search["bytes"].as_u64().unwrap() > 0 && search["removed"] == false, "{search}");
        assert!(search["age_seconds"].is_f64() && search["checkpoint_seconds_ago"].is_f64());
    }
    let bytes = |dir| directory_entry(&listed, dir).unwrap()["bytes"].as_u64().unwrap();
    assert_eq!(bytes(&deep), 2 * bytes(&stale));
    let text = all(&[]);
    assert_eq!((text.code, text.err.as_str()), (0, ""));
    let line = |dir: &Path| {
        let line = text.out.lines().find(|line| line.contains(dir.to_str().unwrap()));
        line.unwrap_or_else(|| panic!("{}", text.out))
    };
    assert!(line(&stale).starts_with("stopped ") && line(&stale).ends_with("  model.dve"));
    assert!(line(&running).starts_with("running") && line(&running).ends_with("  m.dve"));
    assert!(line(&damaged).starts_with("damaged"), "{}", text.out);
    assert!(text.out.ends_with("removes all searches that are not running\n"), "{}", text.out);

    let removed = all(&["--remove-stale"]);
    assert_eq!(removed.code, 0, "{}", removed.err);
    assert!(removed.out.contains("\n3 searches removed, "), "{}", removed.out);
    for (dir, why) in [(&damaged, "its job is damaged"), (&foreign, "letter.txt in it")] {
        let note = format!("note: {} is not removed: {why}", dir.display());
        assert!(removed.err.contains(&note), "{}", removed.err);
    }
    for gone in [&stale, &deep, &other_version] {
        assert!(!gone.exists(), "{}", gone.display());
    }
    let remaining = [&running, &damaged, &foreign, &elsewhere, &linked];
    assert!(remaining.iter().all(|dir| dir.join("manifest").exists() && dir.join("job").exists()));
    assert!(foreign.join("letter.txt").exists() && tmp.join("spillway-empty").exists());

    // A killed search is stale, too.
    fs::remove_file(foreign.join("letter.txt")).unwrap();
    kill_search(child);
    let removed = all(&["--remove-stale", "--json"]).json();
    assert_eq!(directory_entry(&removed, &running).unwrap()["removed"], true);
    assert_eq!(directory_entry(&removed, &foreign).unwrap()["removed"], true);
    assert_eq!(directory_entry(&removed, &damaged).unwrap()["removed"], false);
    assert!(!running.exists() && !foreign.exists() && damaged.exists());
}

/// The next search removes what a search left that was killed soon after it began, and nothing else.
#[test]
fn a_new_search_removes_the_directories_of_searches_that_were_killed_soon() {
    let bench = Bench::new();
    let tmp = bench.path("tmp");
    assert_eq!(bench.check(GRID, &["--max-states", "1000", "--reduce", "none"]).code, 3);
    let stopped = tmp.join(&bench.files("tmp")[0]);
    let begin = |known: &[&PathBuf]| {
        let (child, mut new) = (bench.start_endless_search(&[]), PathBuf::new());
        wait_until("a search", || {
            let mut made = bench.files("tmp").into_iter().map(|it| tmp.join(it));
            new = made.find(|it| !known.contains(&it)).unwrap_or_default();
            new.join("manifest").exists()
        });
        (child, new)
    };
    let (child, dead) = begin(&[&stopped]);
    kill_search(child);
    // A search that has worked for long may be resumed.
    let long = copy_directory(&dead, tmp.join("spillway-long"));
    let job = fs::File::options().append(true).open(long.join("job")).unwrap();
    job.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    // A directory of a user is no temporary one.
    let named = copy_directory(&dead, tmp.join("spillway-named"));
    fs::remove_file(named.join("temporary")).unwrap();
    let foreign = copy_directory(&dead, tmp.join("spillway-foreign"));
    fs::write(foreign.join("letter.txt"), "dear reader").unwrap();
    let left = [&stopped, &long, &named, &foreign];
    let (child, running) = begin(&[&left[..], &[&dead]].concat());
    assert!(!dead.exists() && left.iter().all(|it| it.join("job").exists()));
    // One that is running stays.
    bench.check(COUNTER, &[]);
    assert!(running.join("job").exists());
    kill_search(child);
    bench.check(COUNTER, &[]);
    assert!(!running.exists() && left.iter().all(|it| it.join("job").exists()));
}

#[test]
fn wrong_flags_of_status_are_rejected() {
    let bench = Bench::new();
    let none = bench.run(&["status", "--all"]);
    let message = format!("no searches in {}\n", bench.path("tmp").display());
    assert_eq!((none.code, none.out), (0, message));
    let empty = bench.run(&["status", "--all", "--json"]).json();
    assert_eq!(empty["searches"], Value::Array(Vec::new()));
    bench.run(&["status"]).assert_rejected(2, &["<DIR"]);
    bench.run(&["status", "d", "--all"]).assert_rejected(2, &["cannot be used with"]);
    bench.run(&["status", "d", "--remove-stale"]).assert_rejected(2, &["cannot be used with"]);
    bench.run(&["status", "--remove-stale"]).assert_rejected(2, &["--all"]);
    let mut command = bench.command(&["status", "--all"]);
    let nowhere =
        CommandOutput::from(command.env("TMPDIR", bench.path("nowhere")).output().unwrap());
    nowhere.assert_rejected(2, &["nowhere", "No such file"]);
}
