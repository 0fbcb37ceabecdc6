//! Searches observed while they run, on a terminal, in a log and by `status`; files left by killed searches.

mod sweeps;
mod tasks;
mod walks;
mod watching;

use super::{Bench, COUNTER, GRID, Ran};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// With more levels than are searched in a day, of one state each.
const ENDLESS: &str = "int x; int y;
process P { state a; init a; trans a -> a { guard x < 30000; effect x = x + 1; },
  a -> a { guard x == 30000 and y < 30000; effect x = 0, y = y + 1; }; }
system async;
";

/// Nothing that is waited for takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A terminal: the side of whoever looks at it, and the side of a command.
fn terminal() -> (File, File) {
    let (mut ours, mut theirs) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: the two numbers are written, and nothing else is given.
    let made = unsafe { libc::openpty(&mut ours, &mut theirs, null, null.cast(), null.cast()) };
    assert_eq!(made, 0);
    // SAFETY: both were opened just now, and belong to nobody else.
    unsafe { (File::from_raw_fd(ours), File::from_raw_fd(theirs)) }
}

fn resize(terminal: &File, columns: u16) {
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request reads a size, and that is one.
    let told = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &size) };
    assert_eq!(told, 0);
}

/// What a command drew on a terminal.
struct Drawn {
    terminal: File,
    text: String,
}

impl Drawn {
    /// Waits for a line that is drawn after this and is one.
    fn wait_for(&mut self, is_one: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        let from = self.text.len();
        loop {
            let mut lines: Vec<&str> = self.text[from..].split("\r").collect();
            // It may not be whole yet.
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
fn the_line_on_a_terminal_fits_it_also_when_it_is_resized() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    let (ours, theirs) = terminal();
    resize(&ours, 120);
    let mut command = bench.command(&["check", &model, "--memory", "64MiB", "--threads", "1"]);
    command.env("TERM", "xterm").stdout(Stdio::null()).stderr(Stdio::from(theirs));
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut drawn = Drawn { terminal: ours, text: String::new() };
    let is_whole = |line: &str| line.starts_with("0:0") && line.contains("/64 MiB");
    let wide = drawn.wait_for(|line| is_whole(line) && line.contains("frontier 1  "));
    assert!(wide.contains(" states  ") && wide.contains("  level "), "{wide}");
    assert!(wide.contains("/s  ") && wide.contains("  disk "), "{wide}");
    let note = drawn.wait_for(|line| line.starts_with("note: "));
    let dir = bench.path("tmp").join(&bench.files("tmp")[0]).display().to_string();
    assert!(note.contains(&dir), "{note}");
    // It is folded where the terminal has no room for all of it, but not within the command.
    drawn.wait_for(|line| line.starts_with("0:0"));
    assert!(drawn.text.contains(&format!("`spillway resume {dir}`")), "{}", drawn.text);
    for columns in [40, 20, 100, 5] {
        resize(&drawn.terminal, columns);
        // One may have been begun before.
        drawn.wait_for(|line| line.starts_with("0:0"));
        drawn.wait_for(|line| line.starts_with("0:0"));
        let from = drawn.text.len();
        for _ in 0..3 {
            drawn.wait_for(|line| line.starts_with("0:0"));
        }
        let lines = drawn.text[from..].split("\r").map(|it| it.trim_start_matches("\x1b[J"));
        for line in lines {
            assert!(line.len() <= usize::from(columns), "{columns}: {line:?}");
        }
    }
    signal(&child, "-TERM");
    drawn.wait_for(|line| line.contains("stopped at a checkpoint"));
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // The line is taken away before anything else is said.
    let (_, end) = drawn.text.rsplit_once("0:0").unwrap();
    let (_, end) = end.split_once('\r').unwrap();
    // The line may be drawn and taken away once more before the end.
    let said = end.replace("\x1b[J", "").replace('\r', "");
    let said = said.trim_start_matches("stopping at a checkpoint\n");
    assert!(said.starts_with("stopped at a checkpoint"), "{end:?}");
}

#[test]
fn a_log_gets_plain_lines_and_the_name_of_a_temporary_directory() {
    let bench = Bench::new();
    let model = bench.write("m.dve", ENDLESS);
    for json in [false, true] {
        let flags = ["--memory", "64MiB", "--threads", "1"];
        let asked = if json { &["--json"][..] } else { &[] };
        let mut command = bench.command(&[&["check", &model], &flags[..], asked].concat());
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
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 3);
    }
}

/// Waits until something is so.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Bench {
    /// Begins a search that does not end.
    fn begun(&self, flags: &[&str]) -> Child {
        let model = self.write("m.dve", ENDLESS);
        let means = ["--memory", "64MiB", "--threads", "1"];
        let mut command = self.command(&[&["check", &model], &means[..], flags].concat());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn status(&self, dir: &str) -> Value {
        let ran = self.run(&["status", dir, "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.json()
    }
}

fn killed(mut child: Child) {
    signal(&child, "-KILL");
    assert_eq!(child.wait().unwrap().code(), None);
}

/// What is said of a command that is stopped before its search begins.
const NOTHING_CHANGED: &str = "no search directory was changed; raise --max-time";

/// What `status` tells beside the result.
pub const GOING: [&str; 11] = [
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
fn status_tells_of_a_running_search_for_how_long_how_far_and_how_fast() {
    let bench = Bench::new();
    let child = bench.begun(&["--dir", "d", "--reduce", "none"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    let mut json = Value::Null;
    wait_until("a rate", || {
        json = bench.status("d");
        json["sitting_states_per_second"].is_f64()
    });
    assert_eq!(json["running"], true);
    assert_eq!(json["now"]["verdict"], Value::Null);
    assert!(json["now"]["now"]["states"].as_u64() >= json["states"].as_u64(), "{json}");
    for key in GOING.into_iter().skip(2).filter(|it| !["now", "estimate", "config"].contains(it)) {
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
    killed(child);
    let json = bench.status("d");
    assert_eq!((&json["running"], &json["running_seconds"]), (&false.into(), &Value::Null));
    assert!(json["sitting_states_per_second"].is_f64() && json["level"].is_u64());
    assert!(bench.run(&["status", "d"]).out.starts_with("killed; last checkpoint "));
    assert_eq!(bench.status("d")["state"], "killed");
    // A sitting that is stopped before it begins changes nothing.
    let ran = bench.run(&["resume", "d", "--max-time", "0s"]);
    let said = "stopped before the search began, while ";
    assert!(ran.code == 3 && ran.err.starts_with(said), "{}", ran.err);
    assert!(ran.err.contains(NOTHING_CHANGED), "{}", ran.err);
    assert_eq!(bench.status("d")["state"], "killed");
    // What was searched before is not this sitting's, which searched one state.
    let states = json["states"].to_string();
    assert_eq!(bench.run(&["resume", "d", "--max-states", &states]).code, 3);
    let after = bench.status("d");
    let rate = |json: &Value| json["sitting_states_per_second"].as_f64().unwrap();
    assert!(rate(&after) < rate(&json) / 10.0, "{after}");
    assert!(after["states"].as_u64() >= json["states"].as_u64(), "{after}");
}

#[test]
fn a_search_goes_on_where_nothing_is_known_of_the_sitting_before() {
    let bench = Bench::new();
    let child = bench.begun(&["--dir", "d"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    fs::write(bench.path("d/sitting"), "nonsense").unwrap();
    let json = bench.status("d");
    assert_eq!((&json["running"], &json["running_seconds"]), (&true.into(), &Value::Null));
    let text = bench.run(&["status", "d"]).out;
    assert!(text.starts_with("running\n  level ") && text.contains("\nlast checkpoint "), "{text}");
    killed(child);
    assert_eq!(bench.run(&["resume", "d", "--max-time", "0s"]).code, 3);
    assert_eq!(bench.status("d")["running"], false);
}

#[test]
fn status_tells_of_a_search_about_runs_that_it_is_running() {
    let bench = Bench::new();
    let child = bench.begun(&["--dir", "d", "--ltl", "[] (x == 0 -> <> y == 30001)"]);
    wait_until("a checkpoint", || bench.path("d/manifest").exists());
    let json = bench.status("d");
    assert_eq!((&json["running"], &json["stage"]), (&true.into(), &"reaching states".into()));
    assert!(
        GOING
            .iter()
            .all(|key| !json[key].is_null()
                || ["sitting_states_per_second", "estimate"].contains(key)),
        "{json}"
    );
    let text = bench.run(&["status", "d"]).out;
    assert!(text.starts_with("running for 0:0") && text.contains("\n  level "), "{text}");
    killed(child);
    assert_eq!(bench.status("d")["running"], false);
}

/// A copy of a directory without folders.
fn copied(from: &Path, to: PathBuf) -> PathBuf {
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    to
}

fn told<'j>(all: &'j Value, dir: &Path) -> Option<&'j Value> {
    let searches = all["searches"].as_array().unwrap();
    searches.iter().find(|it| it["dir"] == dir.to_str().unwrap())
}

#[test]
fn searches_in_temporary_directories_are_listed_and_stale_ones_removed_on_request() {
    let bench = Bench::new();
    let all = |flags: &[&str]| bench.run(&[&["status", "--all"], flags].concat());
    assert_eq!(bench.check(GRID, &["--max-states", "1000", "--reduce", "none"]).code, 3);
    let tmp = bench.path("tmp");
    let stale = tmp.join(&bench.files("tmp")[0]);
    let child = bench.begun(&[]);
    let mut running = PathBuf::new();
    wait_until("a second search", || {
        let mut made = bench.files("tmp").into_iter().map(|name| tmp.join(name));
        running = made.find(|it| *it != stale).unwrap_or_default();
        running.join("manifest").exists()
    });
    // With a search for something shorter in it, and what a kill may leave.
    let deep = copied(&stale, tmp.join("spillway-deep"));
    copied(&stale, deep.join("shorter"));
    fs::write(deep.join("manifest.new"), "").unwrap();
    let other_version = copied(&stale, tmp.join("spillway-other"));
    let format = spillway::search::checkpoint::FORMAT;
    let newer = spill::PayloadFormat { version: format.version + 1, ..format };
    let disk = spill::RealDisk::open(&other_version).unwrap();
    spill::commit(&disk, "job", newer, b"whatever").unwrap();
    let damaged = copied(&stale, tmp.join("spillway-damaged"));
    fs::write(damaged.join("job"), "dear reader").unwrap();
    let foreign = copied(&stale, tmp.join("spillway-foreign"));
    fs::write(foreign.join("letter.txt"), "dear reader").unwrap();
    // None of these is a search, or where one is made.
    let elsewhere = copied(&stale, tmp.join("elsewhere"));
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
        let search = told(&listed, dir).unwrap();
        assert_eq!((&search["running"], &search["model"]), (&is_running.into(), &model));
        assert_eq!(search["problem"].is_string(), model.is_null(), "{search}");
        assert!(search["bytes"].as_u64().unwrap() > 0 && search["removed"] == false, "{search}");
        assert!(search["age_seconds"].is_f64() && search["checkpoint_seconds_ago"].is_f64());
    }
    let bytes = |dir| told(&listed, dir).unwrap()["bytes"].as_u64().unwrap();
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
    let left = [&running, &damaged, &foreign, &elsewhere, &linked];
    assert!(left.iter().all(|dir| dir.join("manifest").exists() && dir.join("job").exists()));
    assert!(foreign.join("letter.txt").exists() && tmp.join("spillway-empty").exists());

    // Once it is killed it is stale, too.
    fs::remove_file(foreign.join("letter.txt")).unwrap();
    killed(child);
    let removed = all(&["--remove-stale", "--json"]).json();
    assert_eq!(told(&removed, &running).unwrap()["removed"], true);
    assert_eq!(told(&removed, &foreign).unwrap()["removed"], true);
    assert_eq!(told(&removed, &damaged).unwrap()["removed"], false);
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
        let (child, mut new) = (bench.begun(&[]), PathBuf::new());
        wait_until("a search", || {
            let mut made = bench.files("tmp").into_iter().map(|it| tmp.join(it));
            new = made.find(|it| !known.contains(&it)).unwrap_or_default();
            new.join("manifest").exists()
        });
        (child, new)
    };
    let (child, dead) = begin(&[&stopped]);
    killed(child);
    // A search that has worked for long may be resumed.
    let long = copied(&dead, tmp.join("spillway-long"));
    let job = fs::File::options().append(true).open(long.join("job")).unwrap();
    job.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    // A directory of a user is no temporary one.
    let named = copied(&dead, tmp.join("spillway-named"));
    fs::remove_file(named.join("temporary")).unwrap();
    let foreign = copied(&dead, tmp.join("spillway-foreign"));
    fs::write(foreign.join("letter.txt"), "dear reader").unwrap();
    let left = [&stopped, &long, &named, &foreign];
    let (child, running) = begin(&[&left[..], &[&dead]].concat());
    assert!(!dead.exists() && left.iter().all(|it| it.join("job").exists()));
    // One that is running stays.
    bench.check(COUNTER, &[]);
    assert!(running.join("job").exists());
    killed(child);
    bench.check(COUNTER, &[]);
    assert!(!running.exists() && left.iter().all(|it| it.join("job").exists()));
}

#[test]
fn a_search_that_cannot_be_removed_is_told_and_wrong_flags_are_refused() {
    let bench = Bench::new();
    let none = bench.run(&["status", "--all"]);
    let said = format!("no searches in {}\n", bench.path("tmp").display());
    assert_eq!((none.code, none.out), (0, said));
    let empty = bench.run(&["status", "--all", "--json"]).json();
    assert_eq!(empty["searches"], Value::Array(Vec::new()));
    bench.run(&["status"]).refused(2, &["<DIR"]);
    bench.run(&["status", "d", "--all"]).refused(2, &["cannot be used with"]);
    bench.run(&["status", "d", "--remove-stale"]).refused(2, &["cannot be used with"]);
    bench.run(&["status", "--remove-stale"]).refused(2, &["--all"]);
    let mut command = bench.command(&["status", "--all"]);
    let nowhere = Ran::from(command.env("TMPDIR", bench.path("nowhere")).output().unwrap());
    nowhere.refused(2, &["nowhere", "No such file"]);
}
