//! The real command, killed at random instants and resumed: no state is lost or counted twice.
//!
//! A search is killed and resumed repeatedly until it ends; then the next one begins, until the required number of
//! kills is reached. The quick version, on a search of about a second, always runs. `SPILLWAY_KILLS=100` sets the
//! number of kills, on the model that `SPILLWAY_KILL_MODEL` describes (`FILE NAME=VALUE ...`), so that the search may
//! take minutes.

use spill::RealDisk;
use spillway::search::checkpoint::SavedSearch;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const SPILLWAY: &str = env!("CARGO_BIN_EXE_spillway");

/// The settings of all sessions of a search.
struct KillSettings {
    model: Vec<String>,
    run: Vec<String>,
    kills: usize,
    /// The longest time until a session is disturbed.
    patience: Duration,
    seed: u64,
}

/// The counts that must not depend on interruptions.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    levels: Vec<u64>,
    transitions: u64,
    deadlocks: u64,
}

fn settings(store: &str) -> KillSettings {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let described = std::env::var("SPILLWAY_KILL_MODEL")
        .unwrap_or_else(|_| "models/dve/two_phase_commit.dve N=8".into());
    let mut words = described.split_whitespace();
    let file = folder.join(words.next().unwrap());
    let mut model = vec![file.display().to_string(), "--keep-going".into()];
    model.extend(["--store".into(), store.into()]);
    words.for_each(|define| model.extend(["--define".into(), define.into()]));
    // A few MiB more than the minimum, which depends on the resident size of the program.
    let run = ["--memory", "48MiB", "--checkpoint-every", "1s", "--json"];
    let kills = std::env::var("SPILLWAY_KILLS").ok().map(|kills| kills.parse().unwrap());
    KillSettings {
        model,
        run: run.map(String::from).to_vec(),
        kills: kills.unwrap_or(6),
        patience: Duration::from_millis(if kills.is_some() { 10_000 } else { 700 }),
        seed: 7,
    }
}

impl KillSettings {
    fn check(&self, dir: &Path) -> Command {
        let mut command = Command::new(SPILLWAY);
        command.arg("check").args(&self.model).arg("--dir").arg(dir).args(&self.run);
        command
    }

    fn resume(&self, dir: &Path) -> Command {
        let mut command = Command::new(SPILLWAY);
        command.arg("resume").arg(dir).args(&self.run);
        command
    }

    /// Begins or resumes a search. A kill may come before the search has begun.
    fn start_session(&self, dir: &Path) -> Child {
        let has_job = dir.join("job").exists();
        let mut command = if has_job { self.resume(dir) } else { self.check(dir) };
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn random(&mut self, below: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.seed >> 33) % below
    }
}

fn counts(dir: &Path) -> Counts {
    let saved = SavedSearch::load(&RealDisk::open(dir).unwrap()).unwrap();
    let outcome = saved.outcome().unwrap();
    let deadlocks = outcome.deadlocks();
    Counts { levels: outcome.levels, transitions: outcome.counters.transitions, deadlocks }
}

fn undisturbed(settings: &KillSettings, dir: &Path) -> Counts {
    let begun = Instant::now();
    let mut child = settings.start_session(dir);
    assert!(child.wait().unwrap().code().is_some_and(|code| code <= 1));
    println!("undisturbed: {:.1} s", begun.elapsed().as_secs_f64());
    counts(dir)
}

/// Waits for the end, or sends `signals` in turn after `time`. Returns the exit code, if there is one.
fn disturb(child: &mut Child, time: Duration, signals: &[&str]) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for signal in signals {
        // The search may have ended after the first signal.
        let mut kill = Command::new("kill");
        let sent = kill.arg(signal).arg(child.id().to_string()).stderr(Stdio::null()).status();
        assert!(sent.unwrap().success() || signals.len() > 1);
    }
    child.wait().unwrap().code()
}

/// Disturbs searches by one of `choices` each time, until enough signals were sent. Returns the number of searches that
/// ended.
fn disturb_searches(
    settings: &mut KillSettings,
    choices: &[&[&str]],
    expected: &Counts,
    folder: &Path,
) -> usize {
    let (mut disturbed, mut ended) = (0, 0);
    let mut dir = new_dir(folder, 0);
    while disturbed < settings.kills || dir.exists() {
        let micros = settings.patience.as_micros() as u64;
        // Half of the instants are early, while a search begins or is restored.
        let below = if settings.random(2) == 0 { micros } else { micros / 8 };
        let time = match disturbed < settings.kills {
            true => Duration::from_micros(settings.random(below)),
            false => Duration::MAX,
        };
        let mut child = settings.start_session(&dir);
        let signals = choices[settings.random(choices.len() as u64) as usize];
        match disturb(&mut child, time, signals) {
            // The session was killed, stopped at a checkpoint, or interrupted before its handlers were set.
            None | Some(3) => disturbed += 1,
            Some(0 | 1) => {
                assert_eq!(&counts(&dir), expected);
                std::fs::remove_dir_all(&dir).unwrap();
                ended += 1;
                if disturbed < settings.kills {
                    dir = new_dir(folder, ended);
                }
            }
            Some(code) => {
                let output = child.wait_with_output().unwrap();
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                panic!("exit code {code} after {disturbed} signals: {message}");
            }
        }
    }
    println!("{choices:?}: {disturbed} survived, {ended} searches ended, all with the same counts");
    ended
}

fn new_dir(folder: &Path, number: usize) -> PathBuf {
    let dir = folder.join(format!("search-{number}"));
    std::fs::create_dir(&dir).unwrap();
    dir
}

#[test]
fn killed_and_interrupted_searches_end_with_the_same_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings("sorted");
    let expected = undisturbed(&settings, &folder.path().join("undisturbed"));
    let gentle: [&[&str]; 5] =
        [&["-INT"], &["-TERM"], &["-HUP"], &["-INT", "-INT"], &["-XFSZ", "-HUP", "-TERM"]];
    for choices in [&[["-KILL"].as_slice()], gentle.as_slice()] {
        assert!(disturb_searches(&mut settings, choices, &expected, folder.path()) > 0);
    }
}

#[test]
fn killed_searches_of_other_stores_end_with_the_same_counts() {
    for store in ["huffman", "comback"] {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = settings(store);
        let expected = undisturbed(&settings, &folder.path().join("undisturbed"));
        assert!(disturb_searches(&mut settings, &[&["-KILL"]], &expected, folder.path()) > 0);
    }
}
