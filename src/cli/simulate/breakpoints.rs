//! Breakpoints of an interactive walk: lines, actions and expressions at which random steps stop.

use crate::model::{ProcessLocation, StepDescription, SystemDescription};
use crate::session::SourceModel;
use crate::source::Span;
use thiserror::Error;

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Breakpoint {
    /// Its number. Numbers are not used again.
    pub number: usize,
    /// Where it stops, as the user typed it.
    pub text: String,
    /// Where it stops.
    pub kind: BreakpointKind,
}

/// Where a breakpoint stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BreakpointKind {
    /// Where a process comes to this line. A step without a process at the line stops after it.
    Line {
        /// The number of the file among the sources.
        file: u32,
        /// The line.
        line: usize,
    },
    /// After a step that takes the action.
    Action,
    /// Where the expression begins to hold.
    Expression,
}

impl BreakpointKind {
    /// Returns the name of the kind.
    pub(super) fn name(&self) -> &'static str {
        match self {
            BreakpointKind::Line { .. } => "line",
            BreakpointKind::Action => "action",
            BreakpointKind::Expression => "expression",
        }
    }
}

/// A line that the model does not have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file} has no line {line}: it has {lines}")]
pub(super) struct NoLine {
    file: String,
    line: usize,
    lines: usize,
}

/// The breakpoints of a walk.
#[derive(Default)]
pub(super) struct BreakpointSet {
    all: Vec<Breakpoint>,
    last: usize,
}

impl BreakpointSet {
    /// Returns them in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Breakpoint> {
        self.all.iter()
    }

    /// Returns the number of the next one.
    pub(super) fn next_number(&self) -> usize {
        self.last + 1
    }

    /// Adds one. Returns its number.
    pub(super) fn add(&mut self, text: &str, kind: BreakpointKind) -> usize {
        self.last += 1;
        self.all.push(Breakpoint { number: self.last, text: text.to_owned(), kind });
        self.last
    }

    /// Deletes the one of this number, or all. Returns how many were deleted.
    pub(super) fn delete(&mut self, number: Option<usize>) -> usize {
        let before = self.all.len();
        self.all.retain(|it| number.is_some_and(|number| it.number != number));
        before - self.all.len()
    }
}

/// A step with the positions of the processes around it.
pub(super) struct StepPositions<'s> {
    /// The step.
    pub step: &'s StepDescription,
    /// The processes before it.
    pub before: Vec<ProcessLocation>,
    /// The processes after it.
    pub after: Vec<ProcessLocation>,
}

/// Returns the kind of a breakpoint: a line if the text is one, an action if one has this name, else an expression.
pub(super) fn classify(
    text: &str,
    model: &dyn SourceModel,
    walked: &dyn SystemDescription,
) -> Result<BreakpointKind, NoLine> {
    let (name, line) = match text.rsplit_once(':') {
        Some((name, line)) => (Some(name), line),
        None => (None, text),
    };
    let files = || (0..).zip(model.sources().model_files());
    let file = files().find(|(_, it)| name.is_none_or(|name| it.name.ends_with(name)));
    if let (Some((file, source)), Ok(line)) = (file, line.trim().parse::<usize>()) {
        let lines = source.text.lines().count();
        return match (1..=lines).contains(&line) {
            true => Ok(BreakpointKind::Line { file, line }),
            false => Err(NoLine { file: source.name.clone(), line, lines }),
        };
    }
    match walked.actions().iter().any(|it| names_action(&it.name, text)) {
        true => Ok(BreakpointKind::Action),
        false => Ok(BreakpointKind::Expression),
    }
}

/// Returns whether a text is the name of an action, with or without the name of its process.
fn names_action(name: &str, text: &str) -> bool {
    let behind = |rest: &str| rest.is_empty() || rest.ends_with(": ") || rest.ends_with('.');
    name.strip_suffix(text).is_some_and(behind)
}

impl Breakpoint {
    /// Returns whether random steps stop after a step. Expressions are evaluated elsewhere.
    pub(super) fn stops_after(&self, at: &StepPositions<'_>, model: &dyn SourceModel) -> bool {
        let StepPositions { step, before, after } = at;
        match self.kind {
            BreakpointKind::Line { file, line } => {
                let sources = model.sources();
                let is_there = |span: Span| {
                    span.file == file
                        && sources.place(span).is_some_and(|it| it.position.line == line)
                };
                let is_at = |it: &ProcessLocation| is_there(it.span);
                let was_at =
                    |process: &str| before.iter().any(|it| it.process == process && is_at(it));
                let comes = after.iter().any(|it| is_at(it) && !was_at(&it.process));
                comes || step.spans.iter().any(|it| is_there(*it)) && !before.iter().any(is_at)
            }
            BreakpointKind::Action => {
                let mut names = vec![step.name.as_str()];
                names.extend(step.actors.iter().flatten().map(|it| it.action.as_str()));
                names.iter().any(|it| names_action(it, &self.text))
            }
            BreakpointKind::Expression => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_used_again() {
        let mut set = BreakpointSet::default();
        assert_eq!(set.add("x", BreakpointKind::Expression), 1);
        assert_eq!(set.add("y", BreakpointKind::Action), 2);
        assert_eq!(set.delete(Some(2)), 1);
        assert_eq!(set.delete(Some(2)), 0);
        assert_eq!(set.add("z", BreakpointKind::Action), 3);
        assert_eq!(set.iter().map(|it| it.number).collect::<Vec<_>>(), [1, 3]);
        assert_eq!((set.delete(None), set.iter().count()), (2, 0));
    }

    #[test]
    fn an_action_has_its_name_with_and_without_the_process() {
        for text in ["Sender: m2s!1", "m2s!1"] {
            assert!(names_action("Sender: m2s!1", text), "{text}");
        }
        assert!(names_action("P.a -> b", "a -> b"));
        for text in ["2s!1", "Sender", "m2s"] {
            assert!(!names_action("Sender: m2s!1", text), "{text}");
        }
    }
}
