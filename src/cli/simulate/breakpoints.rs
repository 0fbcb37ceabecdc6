//! Breakpoints of an interactive walk: lines, actions and expressions at which random steps stop.

use crate::model::{ProcessLocation, StepDescription, SystemDescription};
use crate::session::SourceModel;
use crate::source::{SourceMap, Span};
use std::ops::ControlFlow;
use thiserror::Error;

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WalkBreakpoint {
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
pub(super) enum NoLine {
    /// No file of the model has this name.
    #[error("the model has no file `{0}`")]
    File(String),
    /// No step is there, and no process comes there.
    #[error("no step is at line {line} of {file}; `where` and `list` show lines of steps")]
    Step {
        /// The name of the file.
        file: String,
        /// The line.
        line: usize,
    },
    /// The file is shorter.
    #[error("{file} has no line {line}: it has {lines}")]
    Line {
        /// The name of the file.
        file: String,
        /// The line.
        line: usize,
        /// The number of its lines.
        lines: usize,
    },
}

/// The breakpoints of a walk.
#[derive(Default)]
pub(super) struct BreakpointSet {
    all: Vec<WalkBreakpoint>,
    last: usize,
}

impl BreakpointSet {
    /// Returns them in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &WalkBreakpoint> {
        self.all.iter()
    }

    /// Returns the number of the next one.
    pub(super) fn next_number(&self) -> usize {
        self.last + 1
    }

    /// Adds one. Returns its number.
    pub(super) fn add(&mut self, text: &str, kind: BreakpointKind) -> usize {
        self.last += 1;
        self.all.push(WalkBreakpoint { number: self.last, text: text.to_owned(), kind });
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
    let file = files().find(|(_, it)| name.is_none_or(|name| names_file(&it.name, name)));
    if let (Some((file, source)), Ok(line)) = (file, line.trim().parse::<usize>()) {
        let lines = source.text.lines().count();
        return match (1..=lines).contains(&line) {
            true if can_stop_at(FileLine { file, line }, model, walked) => {
                Ok(BreakpointKind::Line { file, line })
            }
            true => Err(NoLine::Step { file: source.name.clone(), line }),
            false => Err(NoLine::Line { file: source.name.clone(), line, lines }),
        };
    }
    if let Some(name) = name.filter(|it| is_file_name(it) && line.trim().parse::<usize>().is_ok()) {
        return Err(NoLine::File(name.to_owned()));
    }
    let action = action_of_title(text);
    match walked
        .actions()
        .iter()
        .any(|it| names_action(&it.name, text) || names_action(&it.name, &action))
    {
        true => Ok(BreakpointKind::Action),
        false => Ok(BreakpointKind::Expression),
    }
}

/// Returns whether a text looks like the name of a file, and like no expression.
fn is_file_name(text: &str) -> bool {
    let is_of_name = |it: char| it.is_alphanumeric() || "._-/".contains(it);
    text.contains('.') && text.chars().all(is_of_name)
}

/// Returns the name of the action that a list shows by this title: without the number of its process, and without
/// parameters.
fn action_of_title(title: &str) -> String {
    let title = match title.strip_suffix(')').and_then(|it| it.split_once(" (")) {
        Some((name, parameters)) if parameters.contains(": ") => name,
        _ => title,
    };
    match title.split_once("]: ").and_then(|(process, rest)| Some((process.split_once('[')?, rest)))
    {
        Some(((process, number), rest))
            if number.parse::<u32>().is_ok() && !process.contains(": ") =>
        {
            format!("{process}: {rest}")
        }
        _ => title.to_owned(),
    }
}

/// A line of a file.
#[derive(Clone, Copy)]
struct FileLine {
    /// The number of the file among the sources.
    file: u32,
    /// The line.
    line: usize,
}

impl FileLine {
    /// Returns whether a span begins in the line.
    fn begins(self, span: Span, sources: &SourceMap) -> bool {
        let place = sources.place(span).filter(|_| span.file == self.file);
        place.is_some_and(|it| it.position.line == self.line)
    }

    /// Returns whether a span has a part in the line.
    fn is_in(self, span: Span, sources: &SourceMap) -> bool {
        let last = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
        let line = |span: Span| sources.place(span).map(|it| it.position.line);
        let is_within = |(first, last): (usize, usize)| (first..=last).contains(&self.line);
        span.file == self.file && line(span).zip(line(last)).is_some_and(is_within)
    }
}

/// Returns whether a step has a part in a line, or a process may come there. The steps of a specification are not
/// known in advance.
fn can_stop_at(at: FileLine, model: &dyn SourceModel, walked: &dyn SystemDescription) -> bool {
    let Some(program) = model.as_program() else { return true };
    let sources = model.sources();
    let processes = program.interp.program().processes.values();
    let mut locations = processes.flat_map(|it| it.locations.values());
    // There may be very many initial states.
    let mut starts = 0..1_000;
    let mut is_start = false;
    walked.visit_starts(&mut |step| {
        is_start |= step.spans.iter().any(|it| at.is_in(*it, sources));
        match is_start || starts.next().is_none() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    is_start
        || walked.actions().iter().any(|it| at.is_in(it.span, sources))
        || locations.any(|it| at.begins(it.span, sources))
}

/// Returns whether a text is the name of a file, with or without its folders.
fn names_file(name: &str, text: &str) -> bool {
    name.strip_suffix(text).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns whether a text is the name of an action, with or without the name of its process.
fn names_action(name: &str, text: &str) -> bool {
    let behind = |rest: &str| rest.is_empty() || rest.ends_with(": ") || rest.ends_with('.');
    name.strip_suffix(text).is_some_and(behind)
}

impl WalkBreakpoint {
    /// Returns whether random steps stop after a step. Expressions are evaluated elsewhere.
    pub(super) fn stops_after(&self, at: &StepPositions<'_>, model: &dyn SourceModel) -> bool {
        let StepPositions { step, before, after } = at;
        match self.kind {
            BreakpointKind::Line { file, line } => {
                let sources = model.sources();
                let at = FileLine { file, line };
                let is_at = |it: &ProcessLocation| at.begins(it.span, sources);
                let was_at =
                    |process: &str| before.iter().any(|it| it.process == process && is_at(it));
                let comes = after.iter().any(|it| is_at(it) && !was_at(&it.process));
                comes
                    || step.spans.iter().any(|it| at.is_in(*it, sources))
                        && !before.iter().any(is_at)
            }
            BreakpointKind::Action => {
                let mut names = vec![step.name.as_str()];
                names.extend(step.actors.iter().flatten().map(|it| it.action.as_str()));
                names.iter().any(|it| names_action(it, &self.text)) || step.title() == self.text
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
    fn a_file_has_its_name_with_and_without_folders() {
        for text in ["pr.inc", "parts/pr.inc", "a/parts/pr.inc"] {
            assert!(names_file("a/parts/pr.inc", text), "{text}");
        }
        for text in ["r.inc", "arts/pr.inc", ""] {
            assert!(!names_file("a/parts/pr.inc", text), "{text}");
        }
    }

    #[test]
    fn a_title_has_the_name_of_its_action() {
        for (title, name) in [
            ("Adder[0]: copy++", "Adder: copy++"),
            ("ask to own (n: Node_1)", "ask to own"),
            ("Adder: copy++", "Adder: copy++"),
            ("P.a -> b", "P.a -> b"),
            ("P: x[1]: (y)", "P: x[1]: (y)"),
        ] {
            assert_eq!(action_of_title(title), name);
        }
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
