//! Breakpoints of walks: lines, actions and expressions at which random steps and searches stop.

use super::expression_watch::ExpressionWatch;
use crate::model::{ProcessLocation, StepDescription, SystemDescription};
use crate::session::SourceModel;
use crate::source::{SourceMap, Span};
use std::collections::BTreeSet;
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
    /// Where a process reaches this line. A step without a process at the line stops after it.
    Line(FileLine),
    /// After a step that takes the action.
    Action,
    /// Where the expression begins to hold.
    Expression,
}

impl BreakpointKind {
    /// Returns the name of the kind.
    pub(super) fn name(&self) -> &'static str {
        match self {
            BreakpointKind::Line(_) => "line",
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

/// Returns the name of the expression of a breakpoint among the properties of the model.
pub(super) fn breakpoint_name(number: usize) -> String {
    format!("breakpoint {number}")
}

/// Breakpoints in a model that was read with their expressions.
pub(super) struct WatchedBreakpoints<'b> {
    model: &'b dyn SourceModel,
    walked: &'b dyn SystemDescription,
    /// Each breakpoint, with its expression in the model.
    all: Vec<(&'b WalkBreakpoint, Option<ExpressionWatch>)>,
}

/// What decides in a state whether a step to it, or from it, stops at a breakpoint.
#[derive(Clone, Default)]
pub(super) struct BreakpointFacts {
    /// The processes, if a breakpoint is a line.
    locations: Vec<ProcessLocation>,
    /// The numbers of the breakpoints whose expressions hold.
    holding: Vec<usize>,
}

impl<'b> WatchedBreakpoints<'b> {
    /// Finds the expressions of breakpoints among the properties of a model.
    pub(super) fn of(
        breakpoints: impl Iterator<Item = &'b WalkBreakpoint>,
        model: &'b dyn SourceModel,
        walked: &'b dyn SystemDescription,
    ) -> WatchedBreakpoints<'b> {
        let watch = |it: &WalkBreakpoint| match it.kind {
            BreakpointKind::Expression => {
                ExpressionWatch::of_condition(&breakpoint_name(it.number), model, walked)
            }
            BreakpointKind::Line(_) | BreakpointKind::Action => None,
        };
        let all = breakpoints.map(|it| (it, watch(it))).collect();
        WatchedBreakpoints { model, walked, all }
    }

    /// Returns whether there are no breakpoints.
    #[cfg_attr(not(feature = "http"), expect(dead_code))]
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the facts about a state. Before the initial state, and after a failing step, there is no state.
    pub(super) fn facts(&self, state: Option<&[u8]>) -> BreakpointFacts {
        let Some(state) = state else { return BreakpointFacts::default() };
        let is_line = |it: &WalkBreakpoint| matches!(it.kind, BreakpointKind::Line(_));
        let locations = match self.all.iter().any(|it| is_line(it.0)) {
            true => self.walked.process_locations(state),
            false => Vec::new(),
        };
        let mut holding = Vec::new();
        if self.all.iter().any(|it| it.1.is_some()) {
            let steps = self.walked.steps(state);
            let holds = |watch: &ExpressionWatch| watch.holds(self.walked, state, &steps);
            let of_expressions = self.all.iter().filter(|it| it.1.as_ref().is_some_and(holds));
            holding.extend(of_expressions.map(|it| it.0.number));
        }
        BreakpointFacts { locations, holding }
    }

    /// Returns the breakpoints at which a step between states with these facts stops.
    pub(super) fn hit(
        &self,
        step: &StepDescription,
        before: &BreakpointFacts,
        after: &BreakpointFacts,
    ) -> Vec<&'b WalkBreakpoint> {
        let stops = |it: &&WalkBreakpoint| match it.kind {
            BreakpointKind::Line(at) => {
                let sources = self.model.sources();
                let is_at = |it: &ProcessLocation| at.begins(it.span, sources);
                let was_at = |process: &str| {
                    before.locations.iter().any(|it| it.process == process && is_at(it))
                };
                let comes = after.locations.iter().any(|it| is_at(it) && !was_at(&it.process));
                let has_part = || step.spans.iter().any(|it| at.is_in(*it, sources));
                comes || has_part() && !before.locations.iter().any(is_at)
            }
            BreakpointKind::Action => {
                let mut names = vec![step.name.as_str()];
                names.extend(step.actors.iter().flatten().map(|it| it.action.as_str()));
                names.iter().any(|name| names_action(name, &it.text)) || step.title() == it.text
            }
            BreakpointKind::Expression => {
                after.holding.contains(&it.number) && !before.holding.contains(&it.number)
            }
        };
        self.all.iter().map(|it| it.0).filter(stops).collect()
    }
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
            true if StopLines::of(model, walked).contains(FileLine { file, line }) => {
                Ok(BreakpointKind::Line(FileLine { file, line }))
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileLine {
    /// The number of the file among the sources.
    pub file: u32,
    /// The line.
    pub line: usize,
}

impl FileLine {
    /// Returns the line in which a span begins.
    pub(super) fn start_of(span: Span, sources: &SourceMap) -> Option<FileLine> {
        let line = sources.place(span)?.position.line;
        Some(FileLine { file: span.file, line })
    }

    /// Returns whether a span begins in the line.
    fn begins(self, span: Span, sources: &SourceMap) -> bool {
        FileLine::start_of(span, sources) == Some(self)
    }

    /// Returns whether a span has a part in the line.
    fn is_in(self, span: Span, sources: &SourceMap) -> bool {
        LineRange::of(span, sources).is_some_and(|it| it.contains(self))
    }
}

/// Successive lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineRange {
    file: u32,
    first: usize,
    last: usize,
}

impl LineRange {
    /// Returns the lines of a span.
    pub(super) fn of(span: Span, sources: &SourceMap) -> Option<LineRange> {
        let end = Span { start: span.end.saturating_sub(1).max(span.start), ..span };
        let first = FileLine::start_of(span, sources)?;
        let last = FileLine::start_of(end, sources)?;
        Some(LineRange { file: span.file, first: first.line, last: last.line })
    }

    /// Returns the first line.
    #[cfg_attr(not(feature = "editors"), expect(dead_code))]
    pub(super) fn start(self) -> FileLine {
        FileLine { file: self.file, line: self.first }
    }

    /// Returns whether it contains a line.
    pub(super) fn contains(self, at: FileLine) -> bool {
        self.file == at.file && (self.first..=self.last).contains(&at.line)
    }
}

/// The lines at which a walk may stop.
pub(super) struct StopLines {
    /// The lines of steps, and those at which a process may be. `None`: any line, since the steps of a specification
    /// are not known in advance.
    known: Option<BTreeSet<LineRange>>,
}

impl StopLines {
    /// Returns the lines of a model.
    pub(super) fn of(model: &dyn SourceModel, walked: &dyn SystemDescription) -> StopLines {
        let Some(program) = model.as_program() else { return StopLines { known: None } };
        let sources = model.sources();
        let mut known: BTreeSet<LineRange> =
            walked.actions().iter().filter_map(|it| LineRange::of(it.span, sources)).collect();
        let processes = program.interp.program().processes.values();
        let locations = processes.flat_map(|it| it.locations.values());
        known.extend(
            locations
                .filter_map(|it| FileLine::start_of(it.span, sources))
                .map(|FileLine { file, line }| LineRange { file, first: line, last: line }),
        );
        // There may be very many initial states.
        let mut starts = 0..1_000;
        walked.visit_starts(&mut |step| {
            known.extend(step.spans.iter().filter_map(|it| LineRange::of(*it, sources)));
            match starts.next() {
                Some(_) => ControlFlow::Continue(()),
                None => ControlFlow::Break(()),
            }
        });
        StopLines { known: Some(known) }
    }

    /// Returns whether a step has a part in a line, or a process may come there.
    pub(super) fn contains(&self, at: FileLine) -> bool {
        self.known.as_ref().is_none_or(|it| it.iter().any(|range| range.contains(at)))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_not_reused() {
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
