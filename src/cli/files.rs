//! The files that are asked for of what was found: a page for a browser, JUnit's XML, SARIF.

use super::args::RunArgs;
use super::failure::Failure;
use super::page::{self, Shown};
use super::{output, say};
use crate::report::{self, Judgements, Page, Report, Way, junit, sarif};
use crate::session::TextModel;
use std::path::Path;

/// Writes those of a search for what is to be seen in states and steps, with the counterexample that is shown.
pub(super) fn write(
    args: &RunArgs,
    report: &Report,
    (model, dir): (&TextModel, &Path),
    shown: Option<&Shown<'_>>,
    note: Option<&str>,
) -> Result<(), Failure> {
    if let Some(path) = &args.report {
        let of = (model, dir);
        let html = page::with_page(report, of, shown, |page| Page { note, ..page }.html());
        put("the report", path, &html)?;
    }
    if args.junit.is_some() || args.sarif.is_some() {
        let shown = shown.map(|(violation, way)| {
            let ending = report::Ending::of(violation, way, &model.sources);
            (violation.check, Way::of(&ending, way, &model.sources))
        });
        let told = report::print_result(report, None, true);
        judged(args, &Judgements::of(report, shown, told))?;
    }
    Ok(())
}

/// Writes those that tell what came of each thing that was looked for.
pub(super) fn judged(args: &RunArgs, judgements: &Judgements) -> Result<(), Failure> {
    if let Some(path) = &args.junit {
        put("the JUnit file", path, &junit(judgements))?;
    }
    if let Some(path) = &args.sarif {
        put("the SARIF file", path, &sarif(judgements))?;
    }
    Ok(())
}

/// Writes a file, and says so.
pub(super) fn put(what: &str, path: &Path, text: &str) -> Result<(), Failure> {
    let written = std::fs::write(path, text);
    written.map_err(|error| Failure::writing(what, path, error))?;
    say(format!("wrote {}", path.display()));
    Ok(())
}

/// The system refuses to start a program with a longer variable, its name included: Linux allows 128 KiB.
const VARIABLE_MAX: usize = 64 << 10;

/// A text as a variable of the environment can have it: without zero bytes, and not too long.
fn for_environment(text: &str) -> String {
    let mut text = text.replace('\0', "\u{fffd}");
    if text.len() > VARIABLE_MAX {
        text.truncate(text.floor_char_boundary(VARIABLE_MAX));
        text += " ...";
    }
    text
}

/// What is run when a search has ended, and what it is told.
pub(super) struct Notice {
    command: String,
    model: Option<String>,
    dir: Option<String>,
}

impl Notice {
    /// That of a sitting; nothing if nobody asked for it.
    pub(super) fn of(args: &RunArgs, model: Option<&Path>, dir: Option<&Path>) -> Option<Notice> {
        let shown = |it: &Path| it.display().to_string();
        let command = args.notify.clone()?;
        Some(Notice { command, model: model.map(shown), dir: dir.map(shown) })
    }

    /// Runs it. What becomes of it changes nothing, but is told where it fails.
    pub(super) fn send(&self, code: u8, failed: Option<&str>) {
        let verdict = match (failed, code) {
            (Some(_), _) => "failed",
            (None, super::failure::VERIFIED) => "verified",
            (None, super::failure::VIOLATED) => "violated",
            (None, _) => "incomplete",
        };
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &self.command]).stdin(std::process::Stdio::null());
        command.env("SPILLWAY_VERDICT", verdict).env("SPILLWAY_EXIT_CODE", code.to_string());
        for (name, value) in [
            ("SPILLWAY_MODEL", self.model.as_deref()),
            ("SPILLWAY_DIR", self.dir.as_deref()),
            ("SPILLWAY_ERROR", failed),
        ] {
            command.env(name, for_environment(value.unwrap_or_default()));
        }
        let why = match command.status() {
            Ok(status) if status.success() => return,
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        output::say(format!("warning: the command of --notify failed: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_takes_any_text() {
        assert_eq!(for_environment("a\0b"), "a\u{fffd}b");
        let long = for_environment(&"\0é".repeat(200 << 10));
        assert!(long.len() < VARIABLE_MAX + 9 && long.ends_with(" ..."), "{}", long.len());
        let ran = std::process::Command::new("true").env("LONG", long).env("ZERO", "").status();
        assert!(ran.unwrap().success());
    }
}
