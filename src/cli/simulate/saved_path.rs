//! Saved paths: a line for each step, with its number among the steps of its state and its title.

use crate::cli::failure::CommandFailure;
use crate::cli::model_walk::ModelWalk;
use crate::cli::path_export::{self, EXPORTS, ExportEntry};
use crate::escape;
use crate::session::read_text;
use std::fmt::Write;
use std::path::Path;

/// Writes the path of a walk to a file: in the format of its extension, or for `--replay`. Returns what was written.
pub(super) fn save(walk: &ModelWalk<'_>, file: &Path) -> Result<String, CommandFailure> {
    let name = file.file_name().map_or(String::new(), |it| it.to_string_lossy().into_owned());
    let has_extension =
        |it: &&ExportEntry| name.strip_suffix(it.extension).is_some_and(|it| it.ends_with('.'));
    let steps = crate::report::count(walk.steps.len().saturating_sub(1) as u64, "step");
    let (text, says) = match EXPORTS.iter().find(has_extension) {
        Some(entry) => {
            let title = format!("after {steps}");
            (path_export::export(walk, entry.format, &title)?, format!("{steps}, {}", entry.title))
        }
        None => {
            let (model, file) = (escape::shell(walk.model.name()), escape::shell_path(file));
            let says = format!("{steps}; `spillway simulate {model} --replay {file}` replays them");
            (text(walk).into_bytes(), says)
        }
    };
    std::fs::write(file, text)
        .map_err(|error| CommandFailure::cannot_write("the path", file, error))?;
    Ok(format!("wrote {}: {says}", file.display()))
}

/// Formats the path of a walk.
fn text(walk: &ModelWalk<'_>) -> String {
    let mut text = format!("# a path in {}\n", walk.model.name().replace(char::is_whitespace, " "));
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
/// The file cannot be read, a line is no step, or the model has no such step there.
pub(super) fn replay(file: &Path, walk: &mut ModelWalk<'_>) -> Result<(), CommandFailure> {
    for (number, line) in (1..).zip(read_text(file)?.lines()) {
        let line = line.trim();
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
