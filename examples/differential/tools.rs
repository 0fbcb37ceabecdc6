//! Runs SPIN and Rumur on a model. Each writes a program in C, which is compiled and run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit; a program that takes longer is killed.
const PATIENCE: Duration = Duration::from_secs(40);

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Theirs {
    /// States stored.
    pub states: u64,
    /// The number of transitions, as the tool counts them.
    pub transitions: u64,
    /// The number of errors.
    pub errors: u64,
    /// Its messages about the errors, at least about the first.
    pub messages: Vec<String>,
    /// Whether it stopped before it had visited everything.
    pub stopped: bool,
}

/// The outcome of running a tool.
pub enum Ran<T = Theirs> {
    /// An answer.
    Answer(T),
    /// It rejected the text, with the reason.
    Refused(String),
    /// It did not finish, with the reason.
    GaveUp(String),
}

/// Returns whether a program can be run.
pub fn is_installed(program: &str, flag: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(flag).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Runs a program. Returns the exit code and both outputs; `None` if it took too long.
pub fn run(command: &mut Command, folder: &Path) -> Option<(i32, String)> {
    let path = folder.join("output");
    let output = std::fs::File::create(&path).ok()?;
    command.stdin(Stdio::null()).current_dir(folder);
    command.stderr(output.try_clone().ok()?).stdout(output);
    let mut child = command.spawn().ok()?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().ok()? {
            Some(status) => break status,
            None if begun.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let said = std::fs::read(&path).ok()?;
    // Without a code, a signal ended it.
    Some((status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned()))
}

/// Returns the number before a word in a text.
fn before(text: &str, word: &str) -> Option<u64> {
    let (front, _) = text.split_once(word)?;
    front.rsplit(|c: char| !c.is_ascii_digit()).find(|it| !it.is_empty())?.parse().ok()
}

/// Makes SPIN's verifier of a model, compiled with these macros. `CC` compiles it; a fast compiler such as `tcc` is
/// best. Returns the failure, if there is one.
pub fn make_verifier<T>(text: &str, macros: &[&str], folder: &Path) -> Option<Ran<T>> {
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    if std::fs::write(folder.join("model.pml"), text).is_err() {
        return Some(Ran::GaveUp("the model cannot be written".into()));
    }
    let mut spin = Command::new("spin");
    spin.args(["-o1", "-o2", "-o3", "-a", "model.pml"]);
    let Some((code, said)) = run(&mut spin, folder) else {
        return Some(Ran::GaveUp("spin does not end".into()));
    };
    if code != 0 || said.contains("Error:") {
        return Some(Ran::Refused(said));
    }
    let mut compile = Command::new(compiler);
    compile.args(["-O0", "-w"]).args(macros).args(["-o", "pan", "pan.c"]);
    match run(&mut compile, folder) {
        Some((0, _)) => None,
        Some((_, said)) => Some(Ran::GaveUp(format!("pan.c is not compiled: {said}"))),
        None => Some(Ran::GaveUp("the compiler does not end".into())),
    }
}

/// Runs SPIN's verifier: without optimisations of its graph, with all errors, over the whole state space.
pub fn spin(text: &str, folder: &Path) -> Ran {
    if let Some(failed) = make_verifier(text, &["-DSAFETY", "-DNOREDUCE"], folder) {
        return failed;
    }
    let mut pan = Command::new(folder.join("pan"));
    pan.args(["-c0", "-w18", "-m200000"]);
    let Some((_, said)) = run(&mut pan, folder) else {
        return Ran::GaveUp("pan does not end".into());
    };
    if said.contains("max search depth too small") {
        return Ran::GaveUp("deeper than pan was told to search".into());
    }
    let message = said.lines().find_map(|line| line.strip_prefix("pan:")).unwrap_or_default();
    let (states, transitions) =
        (before(&said, " states, stored"), before(&said, " transitions (="));
    let errors = said.split_once(", errors: ").map(|(_, rest)| rest);
    let errors = errors.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    match (states, transitions, errors) {
        (Some(states), Some(transitions), Some(errors)) => Ran::Answer(Theirs {
            states,
            transitions,
            errors,
            messages: vec![message.to_owned()],
            stopped: said.contains("Search not completed"),
        }),
        _ => Ran::GaveUp(format!("pan says {said:?}")),
    }
}

/// Runs Rumur's verifier: with all errors, without a check for deadlocks, with or without symmetry reduction. `CC`
/// does not compile it, since it needs C features that small compilers lack.
pub fn rumur(text: &str, symmetry: bool, folder: &Path) -> Ran {
    if std::fs::write(folder.join("model.m"), text).is_err() {
        return Ran::GaveUp("the model cannot be written".into());
    }
    let how = if symmetry { "exhaustive" } else { "off" };
    let mut rumur = Command::new("rumur");
    rumur.arg(format!("--symmetry-reduction={how}"));
    rumur.args(["--output-format", "machine-readable", "--deadlock-detection", "stuttering"]);
    rumur.args(["--max-errors", "2000000000", "--threads", "1", "--counterexample-trace", "off"]);
    rumur.args(["--output", "model.c", "model.m"]);
    match run(&mut rumur, folder) {
        Some((0, _)) => {}
        Some((_, said)) => return Ran::Refused(said),
        None => return Ran::GaveUp("rumur does not end".into()),
    }
    let mut compile = Command::new("gcc");
    compile.args(["-O0", "-w", "-std=c11", "-o", "model", "model.c", "-pthread"]);
    if cfg!(target_arch = "x86_64") {
        compile.arg("-mcx16");
    }
    compile.arg("-latomic");
    match run(&mut compile, folder) {
        Some((0, _)) => {}
        Some((_, said)) => return Ran::GaveUp(format!("model.c is not compiled: {said}")),
        None => return Ran::GaveUp("the compiler does not end".into()),
    }
    let Some((_, said)) = run(&mut Command::new(folder.join("model")), folder) else {
        return Ran::GaveUp("the verifier does not end".into());
    };
    let Some((_, summary)) = said.split_once("<summary ") else {
        return Ran::GaveUp(format!("the verifier says {:?}", said.lines().last()));
    };
    let number = |name: &str| {
        let (_, rest) = summary.split_once(&format!("{name}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    let message = |line: &str| {
        let (text, _) = line.strip_prefix("<message>")?.split_once("</message>")?;
        Some(text.to_owned())
    };
    let mut messages: Vec<String> = said.lines().filter_map(message).collect();
    messages.sort();
    match (number("states"), number("rules_fired"), number("errors")) {
        (Some(states), Some(transitions), Some(errors)) => {
            Ran::Answer(Theirs { states, transitions, errors, messages, stopped: false })
        }
        _ => Ran::GaveUp(format!("the verifier says {summary:?}")),
    }
}
