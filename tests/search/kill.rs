//! The real command, killed at random instants and resumed: no state is lost, none counted twice.
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

/// What every sitting of a search is given.
struct Setting {
    model: Vec<String>,
    run: Vec<String>,
    kills: usize,
    /// The longest time a sitting is left alone.
    patience: Duration,
    seed: u64,
}

/// All that must not depend on interruptions.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    levels: Vec<u64>,
    transitions: u64,
    deadlocks: u64,
}

fn setting(store: &str) -> Setting {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let described = std::env::var("SPILLWAY_KILL_MODEL")
        .unwrap_or_else(|_| "models/dve/two_phase_commit.dve N=8".into());
    let mut words = described.split_whitespace();
    let file = folder.join(words.next().unwrap());
    let mut model = vec![file.display().to_string(), "--keep-going".into()];
    model.extend(["--store".into(), store.into()]);
    words.for_each(|define| model.extend(["--define".into(), define.into()]));
    // A few MiB more than the least, which differs with how much of a program of this size the system makes resident.
    let run = ["--memory", "48MiB", "--checkpoint-every", "1s", "--json"];
    let kills = std::env::var("SPILLWAY_KILLS").ok().map(|kills| kills.parse().unwrap());
    Setting {
        model,
        run: run.map(String::from).to_vec(),
        kills: kills.unwrap_or(6),
        patience: Duration::from_millis(if kills.is_some() { 10_000 } else { 700 }),
        seed: 7,
    }
}

impl Setting {
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

    /// Begins a search or goes on with it: a kill may come before the search has begun.
    fn sitting(&self, dir: &Path) -> Child {
        let begun = dir.join("job").exists();
        let mut command = if begun { self.resume(dir) } else { self.check(dir) };
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

fn undisturbed(setting: &Setting, dir: &Path) -> Counts {
    let begun = Instant::now();
    let mut child = setting.sitting(dir);
    assert!(child.wait().unwrap().code().is_some_and(|code| code <= 1));
    println!("undisturbed: {:.1} s", begun.elapsed().as_secs_f64());
    counts(dir)
}

/// Waits for the end, or sends `signals`, one after another, after `time`. The exit code, if it ended by itself.
fn disturb(child: &mut Child, time: Duration, signals: &[&str]) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    for signal in signals {
        // After the first, the search may have ended.
        let mut kill = Command::new("kill");
        let sent = kill.arg(signal).arg(child.id().to_string()).stderr(Stdio::null()).status();
        assert!(sent.unwrap().success() || signals.len() > 1);
    }
    child.wait().unwrap().code()
}

/// Disturbs searches until enough signals have been survived, each time by one of `choices`; gives the
/// number of searches ended.
fn survive(setting: &mut Setting, choices: &[&[&str]], expected: &Counts, folder: &Path) -> usize {
    let (mut survived, mut ended) = (0, 0);
    let mut dir = new_dir(folder, 0);
    while survived < setting.kills || dir.exists() {
        let micros = setting.patience.as_micros() as u64;
        // Half of the instants fall early, where a search begins or is restored.
        let below = if setting.random(2) == 0 { micros } else { micros / 8 };
        let time = match survived < setting.kills {
            true => Duration::from_micros(setting.random(below)),
            false => Duration::MAX,
        };
        let mut child = setting.sitting(&dir);
        let signals = choices[setting.random(choices.len() as u64) as usize];
        match disturb(&mut child, time, signals) {
            // Killed, or stopped in good order, or interrupted before handlers were set.
            None | Some(3) => survived += 1,
            Some(0 | 1) => {
                assert_eq!(&counts(&dir), expected);
                std::fs::remove_dir_all(&dir).unwrap();
                ended += 1;
                if survived < setting.kills {
                    dir = new_dir(folder, ended);
                }
            }
            Some(code) => {
                let output = child.wait_with_output().unwrap();
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                panic!("exit code {code} after {survived} signals: {message}");
            }
        }
    }
    println!("{choices:?}: {survived} survived, {ended} searches ended, all with the same counts");
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
    let mut setting = setting("sorted");
    let expected = undisturbed(&setting, &folder.path().join("undisturbed"));
    let gentle: [&[&str]; 5] =
        [&["-INT"], &["-TERM"], &["-HUP"], &["-INT", "-INT"], &["-XFSZ", "-HUP", "-TERM"]];
    for choices in [&[["-KILL"].as_slice()], gentle.as_slice()] {
        assert!(survive(&mut setting, choices, &expected, folder.path()) > 0);
    }
}

#[test]
fn so_do_searches_that_store_states_in_other_ways() {
    for store in ["huffman", "comback"] {
        let folder = tempfile::tempdir().unwrap();
        let mut setting = setting(store);
        let expected = undisturbed(&setting, &folder.path().join("undisturbed"));
        assert!(survive(&mut setting, &[&["-KILL"]], &expected, folder.path()) > 0);
    }
}
