//! The addresses of the explorer. The address of a state names the path to it, so a shared address repeats the path.
//!
//! A path is a list of numbers with dots between them: the number of the initial state, then the number of each step
//! among all steps of its state. `3x5` means five times the number 3. On a server with a counterexample, `cN` at the
//! beginning means its initial state and its first N steps.

use crate::cli::http::RequestTarget;
use crate::cli::path_export::{EXPORTS, ExportFormat};
use std::fmt::Write;
use thiserror::Error;

/// The maximum number of steps of a path in an address.
pub(super) const STEPS_MAX: usize = 20_000;

/// The maximum number of bytes of a path that does not refer to the counterexample. Requests have at most 16 KiB.
const TEXT_MAX: usize = 8 << 10;

/// A requested page.
#[derive(Debug)]
pub(super) enum ExplorerRoute<'t> {
    /// The first page.
    Home,
    /// The icon of the site.
    Icon,
    /// The state at the end of a path.
    State(&'t str),
    /// A search from the end of a path for a state that satisfies an expression.
    Run(&'t str),
    /// A search for a shortest path to the state at the end of a path.
    Shortest(&'t str),
    /// The path in a format of other tools.
    Export(ExportFormat, &'t str),
    /// No page.
    Nothing,
}

/// The prefixes of addresses, before the path.
pub(super) const STATE: &str = "/at/";
pub(super) const RUN: &str = "/run/";
pub(super) const SHORTEST: &str = "/shortest/";
pub(super) const EXPORT: &str = "/export/";

impl<'t> ExplorerRoute<'t> {
    /// Returns the page that a target names.
    pub(super) fn of(target: &'t RequestTarget) -> ExplorerRoute<'t> {
        let path = target.path.as_str();
        let behind = |prefix| path.strip_prefix(prefix);
        if let Some(path) = behind(STATE) {
            return ExplorerRoute::State(path);
        }
        if let Some(path) = behind(RUN) {
            return ExplorerRoute::Run(path);
        }
        if let Some(path) = behind(SHORTEST) {
            return ExplorerRoute::Shortest(path);
        }
        let export = behind(EXPORT).and_then(|it| it.split_once('/'));
        let entry = |(name, path)| Some((EXPORTS.iter().find(|it| it.name == name)?, path));
        match (path, export.and_then(entry)) {
            (_, Some((entry, path))) => ExplorerRoute::Export(entry.format, path),
            ("/", _) => ExplorerRoute::Home,
            ("/favicon.ico", _) => ExplorerRoute::Icon,
            _ => ExplorerRoute::Nothing,
        }
    }
}

/// A text that is no path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum PathError {
    /// A part is no number.
    #[error("`{0}` is no number of a step")]
    Number(String),
    /// The path refers to a counterexample that does not exist or is shorter.
    #[error("`{0}`: the counterexample has no such step")]
    Counterexample(String),
    /// The path is too long.
    #[error("the path has more than {STEPS_MAX} steps")]
    Length,
}

/// Parses a path. `counterexample` has the choices of the counterexample.
pub(super) fn parse_path(text: &str, counterexample: &[usize]) -> Result<Vec<usize>, PathError> {
    let mut choices = Vec::new();
    for (number, part) in text.split('.').filter(|_| !text.is_empty()).enumerate() {
        if let Some(steps) = part.strip_prefix('c').filter(|_| number == 0) {
            let wrong = || PathError::Counterexample(part.to_owned());
            let steps: usize = steps.parse().map_err(|_| wrong())?;
            choices.extend(counterexample.get(..=steps).ok_or_else(wrong)?);
            continue;
        }
        let (choice, times) = part.split_once('x').unwrap_or((part, "1"));
        let wrong = |_| PathError::Number(part.to_owned());
        let (choice, times): (usize, usize) =
            (choice.parse().map_err(wrong)?, times.parse().map_err(wrong)?);
        if choices.len().saturating_add(times) > STEPS_MAX {
            return Err(PathError::Length);
        }
        choices.extend(std::iter::repeat_n(choice, times));
    }
    Ok(choices)
}

/// Formats a path. A long one refers to the counterexample for the part that they have in common.
pub(super) fn format_path(choices: &[usize], counterexample: &[usize]) -> String {
    let text = format_choices(choices);
    let common = choices.iter().zip(counterexample).take_while(|(one, other)| one == other);
    match common.count().checked_sub(1) {
        Some(steps) if text.len() > TEXT_MAX => {
            let rest = format_choices(&choices[steps + 1..]);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("c{steps}{dot}{rest}")
        }
        _ => text,
    }
}

fn format_choices(choices: &[usize]) -> String {
    let mut text = String::new();
    for run in choices.chunk_by(|one, other| one == other) {
        let dot = if text.is_empty() { "" } else { "." };
        let _ = match run {
            [choice] => write!(text, "{dot}{choice}"),
            // Twice is not shorter.
            [choice, _] => write!(text, "{dot}{choice}.{choice}"),
            [choice, ..] => write!(text, "{dot}{choice}x{}", run.len()),
            [] => Ok(()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_parsed_back() {
        for path in [&[][..], &[0], &[1, 2, 2, 3, 3, 3, 12], &[7; 500]] {
            assert_eq!(parse_path(&format_path(path, &[]), &[]).unwrap(), path);
        }
        assert_eq!(format_path(&[1, 2, 2, 3, 3, 3], &[]), "1.2.2.3x3");
    }

    #[test]
    fn a_long_path_refers_to_the_counterexample() {
        let counterexample: Vec<usize> = (0..9000).map(|it| it % 2).collect();
        let path = [&counterexample[..8000], &[5, 6]].concat();
        let text = format_path(&path, &counterexample);
        assert_eq!(text, "c7999.5.6");
        assert_eq!(parse_path(&text, &counterexample).unwrap(), path);
        assert_eq!(format_path(&path[..3], &counterexample), "0.1.0");
        assert_eq!(parse_path("c2", &counterexample).unwrap(), [0, 1, 0]);
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in ["a", "1..2", "1.", ".", "-1", "1x", "x3", "1.c2", "99999999999999999999"] {
            let error = parse_path(text, &[0, 0, 0, 0]).unwrap_err();
            assert!(matches!(error, PathError::Number(_)), "{text}: {error}");
        }
        for text in ["c", "c4", "c-1", "cc"] {
            let error = parse_path(text, &[0, 0, 0, 0]).unwrap_err();
            assert!(matches!(error, PathError::Counterexample(_)), "{text}: {error}");
        }
        assert_eq!(parse_path("0x20001", &[]), Err(PathError::Length));
        assert_eq!(parse_path("0.1x18446744073709551615", &[]), Err(PathError::Length));
    }
}
