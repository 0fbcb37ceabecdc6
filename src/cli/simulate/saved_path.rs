//! Saved paths: a line for each step, with its number among the steps of its state and its title.

use crate::cli::failure::CommandFailure;
use crate::cli::model_digest::model_digest;
use crate::cli::model_walk::ModelWalk;
use crate::cli::next_commands;
use crate::cli::path_export::{self, EXPORTS, ExportEntry};
use crate::escape;
use crate::session::config::ModelConfig;
use crate::session::{CheckConfig, SearchJob, SourceModel, is_same_file, read_text};
use std::fmt::Write;
use std::path::Path;

/// The start of a saved path. The name of the model follows.
const TITLE: &str = "# a path in ";

/// The start of the line with the digest of the model.
const DIGEST: &str = "# model ";

/// Writes the path of a walk to a file: in the format of its extension, or for `--replay`. Returns a description of the
/// file.
///
/// # Errors
///
/// If the file is one of the model, or exists and is no saved path. If the walk follows a temporal property, so that it
/// cannot be replayed. If the file cannot be written.
pub(super) fn save(
    walk: &ModelWalk<'_>,
    job: &SearchJob,
    file: &Path,
) -> Result<String, CommandFailure> {
    reject_source(walk.model, file)?;
    let name = file.file_name().map_or(String::new(), |it| it.to_string_lossy().into_owned());
    let has_extension =
        |it: &&ExportEntry| name.strip_suffix(it.extension).is_some_and(|it| it.ends_with('.'));
    let steps = crate::report::count(walk.steps.len().saturating_sub(1) as u64, "step");
    let (text, says) = match EXPORTS.iter().find(has_extension) {
        Some(entry) => {
            let title = format!("after {steps}");
            (path_export::export(walk, entry.format, &title)?, format!("{steps}, {}", entry.title))
        }
        None if job.runs().is_some() => return Err(no_replay()),
        None => {
            reject_other_file(file)?;
            let command = replay_command(walk.model, job, file);
            (text(walk).into_bytes(), format!("{steps}; `{command}` replays them"))
        }
    };
    std::fs::write(file, text)
        .map_err(|error| CommandFailure::cannot_write("the path", file, error))?;
    Ok(format!("wrote {}: {says}", file.display()))
}

/// Rejects a file that the model was read from.
fn reject_source(model: &dyn SourceModel, file: &Path) -> Result<(), CommandFailure> {
    let name = file.to_string_lossy();
    let is_source =
        file.exists() && model.sources().model_files().any(|it| is_same_file(&it.name, &name));
    match is_source {
        false => Ok(()),
        true => Err(CommandFailure::wrong(format!(
            "{} is a file of the model\n  help: save the path in another file",
            file.display()
        ))),
    }
}

/// Rejects an existing file that is no saved path.
fn reject_other_file(file: &Path) -> Result<(), CommandFailure> {
    match std::fs::read(file) {
        Ok(bytes) if !bytes.is_empty() && !bytes.starts_with(TITLE.as_bytes()) => {
            Err(CommandFailure::wrong(format!(
                "{} exists and is no saved path\n  help: save the path in another file",
                file.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the failure for a walk with a temporal property: without the property, its steps have no numbers.
fn no_replay() -> CommandFailure {
    let extensions: Vec<&str> = EXPORTS.iter().map(|it| it.extension).collect();
    CommandFailure::wrong(format!(
        "the walk follows a temporal property, and --replay takes the steps of a model alone\n  help: save the path in \
         a file with an extension of these: {}",
        extensions.join(", ")
    ))
}

/// Returns the command that replays a path.
fn replay_command(model: &dyn SourceModel, job: &SearchJob, file: &Path) -> String {
    let mut words = vec!["spillway simulate".to_owned()];
    words.extend(next_commands::named(model));
    let CheckConfig { model: ModelConfig { lossy, .. }, properties, .. } = job.config();
    words.extend(lossy.then(|| "--lossy".to_owned()));
    let invariants = properties.invariants.iter().map(|it| ("--invariant", it));
    for (flag, text) in invariants.chain(properties.covers.iter().map(|it| ("--cover", it))) {
        words.extend([flag.to_owned(), escape::shell(text).into_owned()]);
    }
    words.extend(["--replay".to_owned(), escape::shell_path(file)]);
    words.join(" ")
}

/// Formats the path of a walk.
fn text(walk: &ModelWalk<'_>) -> String {
    let name = walk.model.name().replace(char::is_whitespace, " ");
    let mut text = format!("{TITLE}{name}\n{DIGEST}{}\n", model_digest(walk.model));
    for it in &walk.steps {
        let _ = writeln!(text, "{} {}", it.choice, one_line(&it.step.title()));
    }
    text
}

/// Returns a title in one line.
fn one_line(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Takes the steps of a saved path.
///
/// # Errors
///
/// The file cannot be read or is of another model, a line is no step, or the model has no such step there.
pub(super) fn replay(file: &Path, walk: &mut ModelWalk<'_>) -> Result<(), CommandFailure> {
    let digest = model_digest(walk.model);
    for (number, line) in (1..).zip(read_text(file)?.lines()) {
        let line = line.trim();
        if line.strip_prefix(DIGEST).is_some_and(|it| it != digest) {
            return Err(CommandFailure::wrong(format!(
                "{} has a path in another model than {}\n  help: use the same text and the same flags, as `save` \
                 printed them",
                file.display(),
                walk.model.name()
            )));
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = format!("{}:{number}", file.display());
        let (choice, title) = line.split_once(' ').unwrap_or((line, ""));
        let choice: usize = choice.parse().map_err(|_| {
            let help = "a line is the number of a step and its title; `save` of `simulate --interactive` writes such \
                        files";
            CommandFailure::wrong(format!("{place}: `{line}` is no step\n  help: {help}"))
        })?;
        let there = walk.find_step(|other, _| other == choice);
        let there = there.filter(|it| title.is_empty() || one_line(&it.step.title()) == title);
        let Some(step) = there else {
            let name = walk.model.name();
            return Err(CommandFailure::wrong(format!(
                "{place}: {name} has no step `{line}` there\n  help: use the model with which the path was saved, \
                 with the same --define"
            )));
        };
        walk.steps.push(step);
    }
    Ok(())
}
