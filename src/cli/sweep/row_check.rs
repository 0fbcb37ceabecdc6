//! The check of a row, in a process of its own: its memory limit is that of the process, and a row that fails leaves
//! the others alone.

use super::constants::{RowConstants, row_folder, row_name};
use crate::cli::command::ModelInput;
use crate::cli::failure::{self, CommandFailure};
use crate::cli::model;
use crate::cli::model_digest::model_digest;
use crate::search::SearchControl;
use crate::session::config::{format_duration, format_size};
use crate::session::{CheckConfig, Error, RunLimits, SavedCheck, SearchDirectory};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The interval between two looks at the process.
const LOOK: Duration = Duration::from_millis(20);

/// What all rows have in common.
pub(super) struct SweepSetup<'s> {
    /// The file of the model.
    pub model: &'s Path,
    /// The configuration without the constants of rows.
    pub config: &'s CheckConfig,
    /// The directory of the sweep, if it is kept.
    pub dir: Option<&'s Path>,
    /// The control, which knows of signals.
    pub control: &'s SearchControl,
}

/// The result of a row.
pub(super) struct RowResult {
    /// The constants.
    pub constants: RowConstants,
    /// The exit code of its check.
    pub code: u8,
    /// The JSON object that it printed.
    pub document: Value,
    /// Whether an earlier sweep in the same directory had this result.
    pub is_reused: bool,
}

impl RowResult {
    /// Returns the JSON objects of its searches.
    fn searches(&self) -> Vec<&Value> {
        match self.document["searches"].as_array() {
            Some(all) => all.iter().collect(),
            None => vec![&self.document],
        }
    }

    /// Returns the sum of a figure over its searches, if any has it.
    pub fn sum(&self, member: &str) -> Option<u64> {
        self.searches().iter().filter_map(|it| it[member].as_u64()).reduce(|one, other| one + other)
    }

    /// Returns the largest figure of its searches, if any has it.
    pub fn largest(&self, member: &str) -> Option<u64> {
        self.searches().iter().filter_map(|it| it[member].as_u64()).max()
    }

    /// Returns the time of its searches in seconds, if it is known.
    pub fn seconds(&self) -> Option<f64> {
        let all = self.searches();
        all.iter().filter_map(|it| it["seconds"].as_f64()).reduce(|one, other| one + other)
    }

    /// Returns whether all states of one search were visited, so that their number is the size of the state space.
    pub fn is_whole(&self) -> bool {
        self.code == failure::VERIFIED && self.searches().len() == 1
    }

    /// Returns the name of its verdict.
    pub fn verdict(&self) -> &str {
        match self.code {
            failure::VERIFIED => "verified",
            failure::VIOLATED => "violated",
            failure::STOPPED => "stopped",
            _ => "error",
        }
    }

    /// Returns why it has no verdict.
    pub fn error(&self) -> Option<&str> {
        self.document["error"].as_str()
    }
}

/// Checks a row, or takes its result from the directory.
pub(super) fn check_row(
    setup: &SweepSetup<'_>,
    constants: RowConstants,
) -> Result<RowResult, CommandFailure> {
    let kept = setup.dir.map(|dir| KeptRow::open(dir, setup, &constants)).transpose()?;
    if let Some((code, document)) = kept.as_ref().and_then(KeptRow::result) {
        return Ok(RowResult { constants, code, document, is_reused: true });
    }
    let (code, document) = match &kept {
        None => check_without_directory(setup, &constants)?,
        Some(KeptRow { folder, .. }) if has_search(folder) => {
            run(resume_command(folder, &setup.config.limits)?, None, setup.control)?
        }
        Some(KeptRow { folder, .. }) => {
            let mut command = this_program()?;
            command.arg("check").arg("--dir").arg(folder);
            run_check(command, setup, &constants)?
        }
    };
    let result = RowResult { constants, code, document, is_reused: false };
    match &kept {
        Some(kept) if [failure::VERIFIED, failure::VIOLATED].contains(&code) => {
            kept.keep(Some((code, &result.document)))?;
        }
        _ => {}
    }
    Ok(result)
}

/// Checks a row whose search is removed, even if it was stopped, since it is never resumed.
fn check_without_directory(
    setup: &SweepSetup<'_>,
    constants: &RowConstants,
) -> Result<(u8, Value), CommandFailure> {
    let scratch = tempfile::Builder::new().prefix("spillway-sweep-").tempdir();
    let scratch = scratch.map_err(|error| Error::Temporary(std::env::temp_dir(), error))?;
    let mut command = this_program()?;
    command.arg("check").env("TMPDIR", scratch.path());
    run_check(command, setup, constants)
}

/// Runs `check` of a row, which reads its configuration from standard input.
fn run_check(
    mut command: Command,
    setup: &SweepSetup<'_>,
    constants: &RowConstants,
) -> Result<(u8, Value), CommandFailure> {
    let config = row_config(setup, constants);
    let text = toml::to_string(&config).map_err(|error| {
        CommandFailure::wrong(format!("the configuration cannot be written: {error}"))
    })?;
    command.args(["--config", "/dev/stdin", "--json", "--no-trace", "--"]).arg(setup.model);
    run(command, Some(&text), setup.control)
}

/// Returns the configuration of a row.
fn row_config(setup: &SweepSetup<'_>, constants: &RowConstants) -> CheckConfig {
    let mut config = setup.config.clone();
    config.model.definitions.extend(constants.iter().cloned());
    config
}

/// Returns whether a directory has a search or a check of several.
fn has_search(folder: &Path) -> bool {
    SearchDirectory::has_search(folder) || matches!(SavedCheck::load(folder), Ok(Some(_)))
}

fn this_program() -> Result<Command, CommandFailure> {
    let program = std::env::current_exe().map_err(|error| {
        CommandFailure::wrong(format!("the program of this process cannot be found: {error}"))
    })?;
    Ok(Command::new(program))
}

/// Returns the command that resumes a row with these limits.
fn resume_command(folder: &Path, limits: &RunLimits) -> Result<Command, CommandFailure> {
    let mut command = this_program()?;
    command.arg("resume").args(["--json", "--no-trace"]);
    let RunLimits { memory, threads, disk_limit, max_states, max_time, .. } = limits;
    command.args(["--memory", &format_size(*memory)]);
    let flags = [
        ("--threads", threads.map(|it| it.to_string())),
        ("--disk-limit", disk_limit.map(format_size)),
        ("--max-states", max_states.map(|it| it.to_string())),
        ("--max-time", max_time.map(format_duration)),
    ];
    for (flag, value) in flags {
        value.iter().for_each(|it| _ = command.args([flag, it.as_str()]));
    }
    command.arg("--").arg(folder);
    Ok(command)
}

/// Runs a check. Returns its exit code and its JSON object. A signal to this process is passed on once.
fn run(
    mut command: Command,
    input: Option<&str>,
    control: &SearchControl,
) -> Result<(u8, Value), CommandFailure> {
    let failed = |error| CommandFailure::wrong(format!("a row cannot be checked: {error}"));
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    // Ctrl-C on a terminal reaches only this process, which passes it on: a second signal would end the row at once.
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), input) {
        // A child that reads no input has failed, and says why.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut text = String::new();
        output.map(|mut it| it.read_to_string(&mut text)).transpose().map(|_| text)
    });
    let code = wait(&mut child, control).map_err(failed)?;
    let text = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    let document = serde_json::from_str(&text).unwrap_or_else(
        |_| json!({ "error": format!("the check of the row ended without a result ({code})") }),
    );
    Ok((code, document))
}

/// Waits for a process, and passes a signal on.
fn wait(child: &mut Child, control: &SearchControl) -> std::io::Result<u8> {
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code().map_or(failure::WRONG, |it| it as u8));
        }
        if control.should_stop() && !is_told {
            is_told = true;
            // The process may have just ended.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        thread::sleep(LOOK);
    }
}

/// A row in the directory of a sweep.
struct KeptRow {
    /// The folder of its search.
    folder: PathBuf,
    /// The file of its result.
    file: PathBuf,
    /// The digest of its model. `None` if the model has an error.
    digest: Option<String>,
}

impl KeptRow {
    /// Opens the row of these constants: a new one, or one whose model is still the same.
    fn open(
        dir: &Path,
        setup: &SweepSetup<'_>,
        constants: &RowConstants,
    ) -> Result<KeptRow, CommandFailure> {
        let name = row_folder(constants);
        let input = ModelInput::new(setup.model, &row_config(setup, constants))?;
        // The check of the row reports an error in the model.
        let model = model::open_any(&input, model::open_widest).ok();
        let digest = model.map(|(model, _)| model_digest(&*model));
        let (folder, file) = (dir.join(&name), dir.join(format!("{name}.json")));
        let kept = KeptRow { folder, file, digest };
        let is_same = kept.read().is_some_and(|it| it["model"] == json!(kept.digest));
        let is_begun = kept.result().is_some() || has_search(&kept.folder);
        match (is_same, is_begun) {
            (true, _) => {}
            (false, false) => kept.keep(None)?,
            (false, true) => {
                return Err(CommandFailure::wrong(format!(
                    "the row {} in {} is of another model: a file that the model reads has changed\n  help: use a new \
                     directory",
                    row_name(constants),
                    dir.display()
                )));
            }
        }
        Ok(kept)
    }

    fn read(&self) -> Option<Value> {
        serde_json::from_slice(&fs::read(&self.file).ok()?).ok()
    }

    /// Returns the exit code and the JSON object of a complete row.
    fn result(&self) -> Option<(u8, Value)> {
        let mut whole = self.read()?;
        let code = u8::try_from(whole["exit_code"].as_u64()?).ok()?;
        Some((code, whole["result"].take()))
    }

    /// Keeps the digest of the model, and the result of a complete row.
    fn keep(&self, result: Option<(u8, &Value)>) -> Result<(), CommandFailure> {
        let (code, document) = result.unzip();
        let whole = json!({ "model": self.digest, "exit_code": code, "result": document });
        let text = format!("{whole:#}\n");
        super::replace_file(&self.file, &text)
    }
}
