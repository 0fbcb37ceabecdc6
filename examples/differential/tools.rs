//! Runs SPIN and Rumur on a model. Each writes a program in C, which is compiled and run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time limit; a program that takes longer is killed.
const TIME_LIMIT: Duration = Duration::from_secs(40);

/// The answer of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolAnswer {
    /// States stored.
    pub states: u64,
    /// The number of transitions, as the tool counts them.
    pub transitions: u64,
    /// The number of errors.
    pub errors: u64,
    /// Its messages about the errors, at least about the first.
    pub messages: Vec<String>,
    /// Whether it stopped before it had visited all states.
    pub stopped: bool,
}

/// The outcome of running a tool.
pub enum ToolOutcome<T = ToolAnswer> {
    /// The tool gave an answer.
    Answer(T),
    /// The tool rejected the text. Contains the reason.
    Refused(String),
    /// The tool did not finish. Contains the reason.
    GaveUp(String),
}

/// Returns whether a program can be run.
pub fn is_installed(program: &str, flag: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(flag).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Runs a program. Returns the exit code and both outputs, or `None` if it took too long.
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
            None if begun.elapsed() > TIME_LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let printed = std::fs::read(&path).ok()?;
    // Without an exit code, the process was ended by a signal.
    Some((status.code().unwrap_or(-1), String::from_utf8_lossy(&printed).into_owned()))
}

/// Returns the number before a word in a text.
fn number_before(text: &str, word: &str) -> Option<u64> {
    let (front, _) = text.split_once(word)?;
    front.rsplit(|c: char| !c.is_ascii_digit()).find(|it| !it.is_empty())?.parse().ok()
}

/// Makes SPIN's verifier of a model, compiled with these macros. Returns the failure, if there is one.
///
/// `CC` is the compiler. A fast compiler such as `tcc` is best.
pub fn make_verifier<T>(text: &str, macros: &[&str], folder: &Path) -> Option<ToolOutcome<T>> {
    let compiler = std::env::var("CC").unwrap_or("cc".into());
    if std::fs::write(folder.join("model.pml"), text).is_err() {
        return Some(ToolOutcome::GaveUp("the model cannot be written".into()));
    }
    let mut spin = Command::new("spin");
    spin.args(["-o1", "-o2", "-o3", "-a", "model.pml"]);
    let Some((code, printed)) = run(&mut spin, folder) else {
        return Some(ToolOutcome::GaveUp("spin does not end".into()));
    };
    if code != 0 || printed.contains("Error:") {
        return Some(ToolOutcome::Refused(printed));
    }
    let mut compile = Command::new(compiler);
    compile.args(["-O0", "-w"]).args(macros).args(["-o", "pan", "pan.c"]);
    match run(&mut compile, folder) {
        Some((0, _)) => None,
        Some((_, printed)) => {
            Some(ToolOutcome::GaveUp(format!("pan.c is not compiled: {printed}")))
        }
        None => Some(ToolOutcome::GaveUp("the compiler does not end".into())),
    }
}

/// Runs SPIN's verifier for all errors, over the whole state space. The model's graph is not optimised.
pub fn spin(text: &str, folder: &Path) -> ToolOutcome {
    if let Some(failed) = make_verifier(text, &["-DSAFETY", "-DNOREDUCE"], folder) {
        return failed;
    }
    let mut pan = Command::new(folder.join("pan"));
    pan.args(["-c0", "-w18", "-m200000"]);
    let Some((_, printed)) = run(&mut pan, folder) else {
        return ToolOutcome::GaveUp("pan does not end".into());
    };
    if printed.contains("max search depth too small") {
        return ToolOutcome::GaveUp("deeper than pan was told to search".into());
    }
    let message = printed.lines().find_map(|line| line.strip_prefix("pan:")).unwrap_or_default();
    let (states, transitions) =
        (number_before(&printed, " states, stored"), number_before(&printed, " transitions (="));
    let errors = printed.split_once(", errors: ").map(|(_, rest)| rest);
    let errors = errors.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    match (states, transitions, errors) {
        (Some(states), Some(transitions), Some(errors)) => ToolOutcome::Answer(ToolAnswer {
            states,
            transitions,
            errors,
            messages: vec![message.to_owned()],
            stopped: printed.contains("Search not completed"),
        }),
        _ => ToolOutcome::GaveUp(format!("pan says {printed:?}")),
    }
}

/// Runs Rumur's verifier for all errors, with or without symmetry reduction. A state is a deadlock if it has no other
/// successor.
///
/// `CC` does not compile it, since it needs C features that small compilers lack.
pub fn rumur(text: &str, symmetry: bool, folder: &Path) -> ToolOutcome {
    if std::fs::write(folder.join("model.m"), text).is_err() {
        return ToolOutcome::GaveUp("the model cannot be written".into());
    }
    let symmetry_option = if symmetry { "exhaustive" } else { "off" };
    let mut rumur = Command::new("rumur");
    rumur.arg(format!("--symmetry-reduction={symmetry_option}"));
    rumur.args(["--output-format", "machine-readable", "--deadlock-detection", "stuttering"]);
    rumur.args(["--max-errors", "2000000000", "--threads", "1", "--counterexample-trace", "off"]);
    rumur.args(["--output", "model.c", "model.m"]);
    match run(&mut rumur, folder) {
        Some((0, _)) => {}
        Some((_, printed)) => return ToolOutcome::Refused(printed),
        None => return ToolOutcome::GaveUp("rumur does not end".into()),
    }
    let mut compile = Command::new("gcc");
    compile.args(["-O0", "-w", "-std=c11", "-o", "model", "model.c", "-pthread"]);
    if cfg!(target_arch = "x86_64") {
        compile.arg("-mcx16");
    }
    compile.arg("-latomic");
    match run(&mut compile, folder) {
        Some((0, _)) => {}
        Some((_, printed)) => {
            return ToolOutcome::GaveUp(format!("model.c is not compiled: {printed}"));
        }
        None => return ToolOutcome::GaveUp("the compiler does not end".into()),
    }
    let Some((_, printed)) = run(&mut Command::new(folder.join("model")), folder) else {
        return ToolOutcome::GaveUp("the verifier does not end".into());
    };
    let Some((_, summary)) = printed.split_once("<summary ") else {
        return ToolOutcome::GaveUp(format!("the verifier says {:?}", printed.lines().last()));
    };
    let number = |name: &str| {
        let (_, rest) = summary.split_once(&format!("{name}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    let message = |line: &str| {
        let (text, _) = line.strip_prefix("<message>")?.split_once("</message>")?;
        Some(text.to_owned())
    };
    let mut messages: Vec<String> = printed.lines().filter_map(message).collect();
    messages.sort();
    match (number("states"), number("rules_fired"), number("errors")) {
        (Some(states), Some(transitions), Some(errors)) => ToolOutcome::Answer(ToolAnswer {
            states,
            transitions,
            errors,
            messages,
            stopped: false,
        }),
        _ => ToolOutcome::GaveUp(format!("the verifier says {summary:?}")),
    }
}
